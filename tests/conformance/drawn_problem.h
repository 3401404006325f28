// A random problem together with the shapes and the seed of one run.
#pragma once

#include <cstdint>
#include <optional>

#include "core/problem.h"
#include "core/status.h"
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

// What --problem, --shapes, --seed and --schedule ask for. Invalid argument: one of them is not understood.
struct AskedProblem {
  DrawnProblem drawn;
  std::optional<Schedule> schedule;
};
Expected<AskedProblem> asked_problem();
// What --schedule asks for; nothing where it was not given. Throws std::runtime_error where it is not understood.
std::optional<Schedule> asked_schedule();

// A static problem that the family takes. Throws std::runtime_error where none turns up.
DrawnProblem draw_static(DType dtype, const Target& target, Family family, Random& random);

}  // namespace gemmc::testing
