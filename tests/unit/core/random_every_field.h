// Random valid problems that use every field, for property tests.
#pragma once

#include <random>

#include "core/problem.h"

namespace gemmc::testing {

Problem random_every_field(std::mt19937& random);

}  // namespace gemmc::testing
