// The libraries that gemmc is measured against: which there are, and which of them are found on this machine.
//
// All run one thread: find_peers() sets the environment that they read before it opens them, and drops variables that
// would make one choose other code than it would for its users.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "tools/performance/peers/peer.h"

namespace gemmc {

struct PeerSearch {
  std::vector<std::unique_ptr<Peer>> found;
  std::vector<std::string> skipped;  // "BLIS: <why>"
};

// The words for find_peers(): "openblas", "onednn", ...
std::vector<std::string> peer_words();

// "all", "none", or peer_words(). Invalid argument: another word, with those allowed.
Expected<PeerSearch> find_peers(const std::vector<std::string>& words, const PeerPlaces& places);

}  // namespace gemmc
