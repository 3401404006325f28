// What the command line of a conformance program asks for; the defaults are what ctest runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "schedules/schedule.h"

namespace gemmc::testing {

struct ConformanceSettings {
  uint64_t seed = 1;    // --seed: of the random problems, or of the one problem's data
  int effort = 1;       // --effort: how many times as many random problems and rounds
  std::string problem;  // --problem, --shapes: only this one
  std::string shapes;
  std::string test_case;  // --case: only this case file
  std::string family;     // --family: only this one; empty: every one that accepts
  std::string schedule;   // --schedule: instead of the families' own choice
  std::string target;     // --target: only this level; empty: every one that the machine has

  bool asks_for_one() const { return !problem.empty() || !test_case.empty(); }
};

ConformanceSettings& conformance_settings();

// Removes the arguments it knows. Returns what is wrong, if anything.
std::optional<std::string> parse_settings(int& argc, char** argv);

// Every level, from the lowest. Tests skip, with the reason, those that this machine has not.
std::vector<std::string> all_levels();
// Empty where the settings and this machine allow the level; else the reason.
std::string reason_to_skip(const std::string& level);
Target target_of(const std::string& level);
// "x86_64_v3_float32", a name that GoogleTest takes.
std::string test_name(const std::string& level, std::string_view word);

}  // namespace gemmc::testing
