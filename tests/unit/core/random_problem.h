// Random valid problems that use every field, for property tests.
#pragma once

#include <random>

#include "core/problem.h"

namespace gemmc::testing {

Problem random_problem(std::mt19937& random);

}  // namespace gemmc::testing
