#include "tests/conformance/levels.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/conformance/settings.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {

std::vector<std::string> all_levels() { return {"x86-64-v2", "x86-64-v3", "x86-64-v4"}; }

Target target_of(const std::string& level) { return value_or_throw(parse_target(level)); }

std::string test_name(const std::string& level, std::string_view word) {
  std::string text = fmt::format("{}_{}", level, word);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string reason_to_skip(const std::string& level) {
  const std::string& only = conformance_settings().target;
  if (!only.empty() && only != level) return fmt::format("{}: --target={} was given", level, only);
  const Status status = check_runs_here(target_of(level));
  return status.is_ok() ? "" : status.message();
}

}  // namespace gemmc::testing
