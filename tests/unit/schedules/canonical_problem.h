// A problem string as the schedules see it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/problem.h"
#include "core/problem_string.h"
#include "core/target.h"

namespace gemmc::testing {

inline Target target(std::string_view word) { return *parse_target(word); }

inline CanonicalProblem canonical_of(const std::string& text) {
  Expected<Problem> parsed = parse_problem(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.status().message();
  return parsed ? canonical(*parsed) : CanonicalProblem{};
}

inline Problem problem(const std::string& text) { return canonical_of(text).problem; }

}  // namespace gemmc::testing
