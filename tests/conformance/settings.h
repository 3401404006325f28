// What the command line of a conformance program asks for; the defaults are what ctest runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gemmc::testing {

struct ConformanceSettings {
  uint64_t seed = 1;    // --seed: of the random problems, or of the one problem's data
  int effort = 1;       // --effort: how many times as many random problems and rounds
  std::string problem;  // --problem, --shapes: only this one
  std::string shapes;
  std::string test_case;  // --case: only this case file
  std::string family;     // --family: only this one; empty: every one that accepts
  std::string schedule;   // --schedule, of the problem or the case: instead of the families' own choice
  std::string target;     // --target: only this level; empty: every one that the machine has

  bool asks_for_one() const { return !problem.empty() || !test_case.empty(); }
};

ConformanceSettings& conformance_settings();

// Removes the arguments it knows. Returns what is wrong, if anything.
std::optional<std::string> parse_settings(int& argc, char** argv);

}  // namespace gemmc::testing
