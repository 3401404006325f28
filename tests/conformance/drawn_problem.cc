#include "tests/conformance/drawn_problem.h"

#include <algorithm>
#include <vector>

#include "core/problem.h"
#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "tests/support/random_problem.h"

namespace gemmc::testing {

Campaign::MakeInstance DrawnProblem::make() const {
  return [drawn = *this] { return make_instance(drawn.problem, drawn.shapes, drawn.seed); };
}

Expected<AskedProblem> asked_problem(const ConformanceSettings& settings) {
  Expected<Problem> problem = parse_problem(settings.problem);
  if (!problem) return problem.status();
  const std::optional<ArrayShapes> shapes = parse_shapes(settings.shapes);
  if (!shapes) return Status::invalid("--shapes: " + settings.shapes);
  AskedProblem asked{{*std::move(problem), *shapes, settings.seed}, std::nullopt};
  if (settings.schedule.empty()) return asked;
  const Expected<Schedule> schedule = parse_schedule(settings.schedule);
  if (!schedule) return schedule.status();
  asked.schedule = *schedule;
  return asked;
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
