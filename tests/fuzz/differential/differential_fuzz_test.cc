// The differential fuzzer: random problems, each compiled with a random legal schedule for a CPU level of this machine,
// against the oracle.
//
//     differential_fuzz_test [--effort=N] [--seed=S] [--family=F] [--target=LEVEL]
//
// N times twenty kernels of each type, over the levels and families in turn. What the heuristics would never choose is
// met here: tiles of one row, blocks of one step, vectors of half a register. Half of the floating-point problems ask
// for order=k, so that their bits are compared.
#include <gtest/gtest.h>

#include <algorithm>

#include "schedules/family_table.h"
#include "tests/conformance/campaign.h"
#include "tests/conformance/drawn_problem.h"
#include "tests/conformance/families.h"
#include "tests/conformance/levels.h"
#include "tests/conformance/settings.h"
#include "tests/support/random_problem.h"

namespace gemmc::testing {
namespace {

constexpr int kKernelsPerEffort = 20;  // of each type
// So many are linked into one library, and then forgotten.
constexpr int kKernelsPerCampaign = 100;
constexpr int kShapesOfRuntimeProblem = 6;

std::vector<Target> targets_here() {
  std::vector<Target> targets;
  for (const std::string& level : all_levels()) {
    if (reason_to_skip(level).empty()) targets.push_back(target_of(level));
  }
  return targets;
}

// `wanted`, or none where the problem cannot have it.
std::optional<Family> possible(Family wanted, const Problem& problem, const Target& target) {
  for (const FamilyVerdict& verdict : judge_families(canonical(problem).problem, target)) {
    if (!verdict.refusal && verdict.family == wanted) return wanted;
  }
  return std::nullopt;
}

// One kernel; several runs where sizes are the call's.
void run_one(Campaign& campaign, DType dtype, Family family, Random& random) {
  const Target& target = campaign.session().target();
  DrawnProblem drawn;
  bool is_static = !random.one_in(8);
  if (is_static) {
    drawn = draw_static(dtype, target, family, random);
    const std::optional<Problem> with_rows = random.one_in(2) ? runtime_rows_problem(drawn.problem) : std::nullopt;
    if (with_rows) drawn.problem = *with_rows;
    is_static = !with_rows;
  } else {
    drawn.problem = random_problem(dtype, DimKind::kSomeRuntime, random);
  }
  CampaignOptions options;
  if (!is_integer(dtype) && target.has(kFma) && random.one_in(2)) {
    drawn.problem.order = SummationOrder::kByK;
    options.check = is_chain_of_fma;
  }
  options.schedule = random_schedule(drawn.problem, target, random, possible(family, drawn.problem, target));
  for (int i = 0; i < (is_static ? 1 : kShapesOfRuntimeProblem); ++i) {
    if (!is_static) {
      drawn.shapes = random_shapes(drawn.problem, random);
      drawn.seed = random.bits() >> 32;
    }
    if (!campaign.run(drawn.make(), options)) return;
  }
}

TEST(DifferentialFuzz, RandomProblemsWithRandomSchedules) {
  const ConformanceSettings& settings = conformance_settings();
  const std::vector<Target> targets = targets_here();
  ASSERT_FALSE(targets.empty());
  const int per_type = kKernelsPerEffort * settings.effort;
  Random random(settings.seed);
  size_t turn = 0;
  for (int done = 0; done < per_type;) {
    const int per_level = std::max(1, per_type / static_cast<int>(targets.size()));
    const int count = std::min({kKernelsPerCampaign, per_type - done, per_level});
    const Target& target = targets[turn++ % targets.size()];
    for (const DType dtype : kAllDTypes) {
      Campaign campaign("fuzz", target);
      const std::vector<Family> families = families_for(dtype, target);
      if (families.empty() || !has_own_code(target.level_word(), dtype)) continue;
      // All in turn; where a problem cannot have the family, run_one() takes any.
      for (int i = 0; i < count && !campaign.has_failed_enough(); ++i) {
        run_one(campaign, dtype, families[static_cast<size_t>(i) % families.size()], random);
      }
      campaign.run_ahead_of_time();
      if (HasFailure()) return;
    }
    done += count;
  }
}

}  // namespace
}  // namespace gemmc::testing
