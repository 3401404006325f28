// The kernel families as conformance programs go through them.
#pragma once

#include <vector>

#include "core/dtype.h"
#include "core/target.h"
#include "schedules/schedule.h"

namespace gemmc::testing {

// Those that take products of the type on the target at all, which are those that take a plain, static one, B as it is
// or transposed; of these only the one of --family, where that was given.
std::vector<Family> families_for(DType dtype, const Target& target);

}  // namespace gemmc::testing
