// The CPU levels that a conformance program goes through.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/dtype.h"
#include "core/target.h"

namespace gemmc::testing {

// Every level, from the lowest. Tests skip, with the reason, those that this machine has not.
std::vector<std::string> all_levels();
// Whether the type's kernels differ from those of the level before.
bool has_own_code(const std::string& level, DType dtype);
// Every level with each of the types that it has own code for.
std::vector<std::tuple<std::string, DType>> levels_of(std::span<const DType> dtypes);
// Empty where the settings and this machine allow the level; else the reason.
std::string reason_to_skip(const std::string& level);
// Throws std::runtime_error where there is no such level.
Target target_of(const std::string& level);
// "x86_64_v3_float32", a name that GoogleTest takes.
std::string test_name(const std::string& level, std::string_view word);

}  // namespace gemmc::testing
