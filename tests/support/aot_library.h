// Many kernels built ahead of time as users build them: one bundle with one shared library.
#pragma once

#include <filesystem>
#include <vector>

#include "core/artifact.h"
#include "core/status.h"

namespace gemmc::testing {

// Writes the bundle into `folder`. Returns the shared library's path. Needs `cc`.
Expected<std::filesystem::path> build_aot_library(std::vector<Artifact> artifacts, const std::filesystem::path& folder);

}  // namespace gemmc::testing
