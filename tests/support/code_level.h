// Which CPU level's instructions a library or an object has, read from its machine code rather than from what its maker
// says.
#pragma once

#include <filesystem>
#include <string>

namespace gemmc::testing {

// "x86-64-v2", "x86-64-v3", "x86-64-v4" or "x86-64-v4+bf16": the lowest level that has every instruction. Throws
// std::runtime_error where objdump fails.
std::string level_of_code(const std::filesystem::path& file);

}  // namespace gemmc::testing
