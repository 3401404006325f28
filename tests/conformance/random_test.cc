// Random problems of every type against the oracle.
//
// Compiling takes far longer than running, so most kernels leave their sizes to the call and serve many shapes; a
// smaller number are static, or have nothing but M at run time, which is what the tiled family takes.
#include <gtest/gtest.h>

#include "core/problem_string.h"
#include "tests/conformance/campaign.h"
#include "tests/conformance/counts.h"
#include "tests/conformance/drawn_problem.h"
#include "tests/conformance/families.h"
#include "tests/conformance/levels.h"
#include "tests/conformance/settings.h"
#include "tests/support/random_problem.h"

namespace gemmc::testing {
namespace {

// How the problems of one type on one level are divided; see the first comment.
struct Share {
  DimKind kind;
  int problems;
  int shapes_per_problem;
};
constexpr Share kRuntimeShares[] = {{DimKind::kAllRuntime, 14, 130}, {DimKind::kSomeRuntime, 6, 25}};
constexpr int kStaticProblems = 16;
constexpr int kShapesOfStaticProblem = 100;  // where M is left to the call

class RandomTest : public ::testing::TestWithParam<std::tuple<std::string, DType>> {};

TEST_P(RandomTest, IsWithinTheDocumentedBounds) {
  const auto& [level, dtype] = GetParam();
  if (const std::string reason = reason_to_skip(level); !reason.empty()) GTEST_SKIP() << reason;
  Campaign campaign("random", target_of(level));
  // Other problems on every level, so that the run as a whole sees more of them.
  Random random(conformance_settings().seed * 1000 + static_cast<uint64_t>(dtype) * 10 + (level.back() - '0'));
  const Target& target = campaign.session().target();
  const std::vector<Family> families = families_for(dtype, target);
  if (families.empty()) GTEST_SKIP() << "no kernel: --family was given";
  const int effort = conformance_settings().effort;
  for (const Share& share : kRuntimeShares) {
    for (int i = 0; i < share.problems * effort && !campaign.has_failed_enough(); ++i) {
      const Problem problem = random_problem(dtype, share.kind, random);
      CampaignOptions options;
      // Half of the problems have a schedule that no heuristic would choose.
      if (i % 2 == 1) options.schedule = random_schedule(problem, target, random);
      for (int j = 0; j < share.shapes_per_problem; ++j) {
        const DrawnProblem drawn{problem, random_shapes(problem, random), random.bits() >> 32};
        // Other shapes of a problem that failed would only say the same.
        if (!campaign.run(drawn.make(), options)) break;
      }
    }
  }
  for (int i = 0; i < kStaticProblems * effort && !campaign.has_failed_enough(); ++i) {
    DrawnProblem drawn = draw_static(dtype, target, families[static_cast<size_t>(i) % families.size()], random);
    const std::optional<Problem> with_rows = i % 3 == 0 ? std::nullopt : runtime_rows_problem(drawn.problem);
    if (with_rows) drawn.problem = *with_rows;
    CampaignOptions options;
    if (i % 4 >= 2) options.schedule = random_schedule(drawn.problem, target, random);
    for (int j = 0; j < (with_rows ? kShapesOfStaticProblem : 1); ++j) {
      if (with_rows) drawn.shapes = random_shapes(drawn.problem, random);
      if (!campaign.run(drawn.make(), options)) break;
    }
  }
  campaign.run_ahead_of_time();
  for (const Family family : families) {
    for (const ConformanceRoute route : {ConformanceRoute::kJit, ConformanceRoute::kAheadOfTime}) {
      EXPECT_GT(right_runs({"random", dtype, family, level, route}), 0u) << "no kernel of family " << name(family);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, RandomTest, ::testing::ValuesIn(levels_of(kAllDTypes)), [](const auto& info) {
  return test_name(std::get<0>(info.param), name(std::get<1>(info.param)));
});

// --problem=... --shapes=... --seed=...: what a failure printed, again.
TEST(RepeatTest, TheGivenProblem) {
  if (conformance_settings().problem.empty()) GTEST_SKIP() << "no --problem was given";
  const Expected<AskedProblem> asked = asked_problem();
  ASSERT_TRUE(asked) << asked.status().message();
  for (const std::string& level : all_levels()) {
    if (!reason_to_skip(level).empty()) continue;
    Campaign campaign("repeated", target_of(level));
    CampaignOptions options;
    options.schedule = asked->schedule;
    if (asked->drawn.problem.order == SummationOrder::kByK) options.check = is_chain_of_fma;
    campaign.run(asked->drawn.make(), options);
    campaign.run_ahead_of_time();
  }
}

}  // namespace
}  // namespace gemmc::testing
