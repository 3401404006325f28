#include "tests/conformance/drawn_problem.h"

#include <algorithm>
#include <vector>

#include "core/problem.h"
#include "schedules/family_table.h"
#include "tests/support/random_problem.h"

namespace gemmc::testing {

Campaign::MakeInstance DrawnProblem::make() const {
  return [drawn = *this] { return make_instance(drawn.problem, drawn.shapes, drawn.seed); };
}

DrawnProblem draw_static(DType dtype, const Target& target, Family family, Random& random) {
  DrawnProblem drawn;
  for (int attempt = 0; attempt < 60; ++attempt) {
    const Problem runtime = random_problem(dtype, DimKind::kAllRuntime, random);
    drawn.shapes = random_shapes(runtime, random);
    drawn.seed = random.bits() >> 32;
    drawn.problem = static_problem(runtime, drawn.shapes, drawn.seed);
    const std::vector<FamilyVerdict> verdicts = judge_families(canonical(drawn.problem).problem, target);
    const auto is_taken = [&](const FamilyVerdict& verdict) { return verdict.family == family && !verdict.refusal; };
    if (std::any_of(verdicts.begin(), verdicts.end(), is_taken)) break;
  }
  return drawn;
}

}  // namespace gemmc::testing
