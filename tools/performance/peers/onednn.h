// The library that both ways into oneDNN share. Its wheel has no headers: what is used of its C interface stands here
// and in the sources, as its major version 3 has it.
#pragma once

#include <string>

#include "core/status.h"
#include "tools/performance/peers/peer.h"
#include "tools/performance/peers/shared_object.h"

namespace gemmc {

struct OneDnn {
  SharedObject library;
  std::string version;  // "3.2.0"
};
Expected<OneDnn> open_onednn(const PeerPlaces& places);

}  // namespace gemmc
