// Static library -> shared library, by the system's C compiler as the linker driver.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/status.h"

namespace gemmc {

// The first executable of this name on PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

// Links every member of `archive`. The result needs nothing but the C library, and has a soname but no path, build id
// or time in it. `cc` is run directly, without a shell. The first line of its messages is quoted where linking fails
// (environment).
Status link_shared_library(const std::filesystem::path& cc, const std::filesystem::path& archive,
                           const std::string& soname, const std::filesystem::path& output);

}  // namespace gemmc
