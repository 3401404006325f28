#include "tests/conformance/drawn_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "core/problem.h"
#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "tests/conformance/settings.h"
#include "tests/support/random_problem.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {

Campaign::MakeInstance DrawnProblem::make() const {
  return [drawn = *this] { return make_instance(drawn.problem, drawn.shapes, drawn.seed); };
}

std::optional<Schedule> asked_schedule() {
  const std::string& line = conformance_settings().schedule;
  return line.empty() ? std::nullopt : std::optional(value_or_throw(parse_schedule(line)));
}

Expected<AskedProblem> asked_problem() {
  const ConformanceSettings& settings = conformance_settings();
  Expected<Problem> problem = parse_problem(settings.problem);
  if (!problem) return problem.status();
  const std::optional<ArrayShapes> shapes = parse_shapes(settings.shapes);
  if (!shapes) return Status::invalid("--shapes: " + settings.shapes);
  return AskedProblem{{*std::move(problem), *shapes, settings.seed}, asked_schedule()};
}

DrawnProblem draw_static(DType dtype, const Target& target, Family family, Random& random) {
  constexpr int kAttempts = 1000;  // most need a few
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    DrawnProblem drawn;
    const Problem runtime = random_problem(dtype, DimKind::kAllRuntime, random);
    drawn.shapes = random_shapes(runtime, random);
    drawn.seed = random.bits() >> 32;
    drawn.problem = static_problem(runtime, drawn.shapes, drawn.seed);
    const std::vector<FamilyVerdict> verdicts = judge_families(canonical(drawn.problem).problem, target);
    const auto is_taken = [&](const FamilyVerdict& verdict) { return verdict.family == family && !verdict.refusal; };
    if (std::any_of(verdicts.begin(), verdicts.end(), is_taken)) return drawn;
  }
  throw std::runtime_error(fmt::format("of {} problems of type {}, family {} takes none", kAttempts, gemmc::name(dtype),
                                       gemmc::name(family)));
}

}  // namespace gemmc::testing
