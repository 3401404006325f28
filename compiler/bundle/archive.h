// Artifacts -> the bytes of a static library, with a symbol table. The same objects give the same bytes.
#pragma once

#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/status.h"

namespace gemmc {

Expected<std::string> archive_bytes(const std::vector<Artifact>& artifacts);

}  // namespace gemmc
