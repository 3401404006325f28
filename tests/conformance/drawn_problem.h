// A random problem together with the shapes and the seed of one run.
#pragma once

#include <cstdint>

#include "core/problem.h"
#include "core/target.h"
#include "schedules/schedule.h"
#include "tests/conformance/campaign.h"
#include "tests/support/instance.h"
#include "tests/support/random.h"

namespace gemmc::testing {

struct DrawnProblem {
  Problem problem;
  ArrayShapes shapes;
  uint64_t seed = 0;

  Campaign::MakeInstance make() const;
};

// A static problem that the family takes; any, where none turns up soon.
DrawnProblem draw_static(DType dtype, const Target& target, Family family, Random& random);

}  // namespace gemmc::testing
