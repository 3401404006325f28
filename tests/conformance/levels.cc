#include "tests/conformance/levels.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/conformance/settings.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {

std::vector<std::string> all_levels() { return {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+bf16"}; }

bool has_own_code(const std::string& level, DType dtype) {
  return !level.ends_with("+bf16") || dtype == DType::kBFloat16;
}

std::vector<std::tuple<std::string, DType>> levels_of(std::span<const DType> dtypes) {
  std::vector<std::tuple<std::string, DType>> result;
  for (const std::string& level : all_levels()) {
    for (const DType dtype : dtypes) {
      if (has_own_code(level, dtype)) result.emplace_back(level, dtype);
    }
  }
  return result;
}

Target target_of(const std::string& level) { return value_or_throw(parse_target(level)); }

std::string test_name(const std::string& level, std::string_view word) {
  std::string text = fmt::format("{}_{}", level, word);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '-' || c == '+'; }, '_');
  return text;
}

std::string reason_to_skip(const std::string& level) {
  const std::string& only = conformance_settings().target;
  if (!only.empty() && only != level) return fmt::format("{}: --target={} was given", level, only);
  const Status status = check_runs_here(target_of(level));
  return status.is_ok() ? "" : status.message();
}

}  // namespace gemmc::testing
