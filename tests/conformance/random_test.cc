// Random problems of every type against the oracle.
//
// Compiling takes far longer than running, so most kernels leave their sizes to the call and serve many shapes; a
// smaller number are static, which is what the tiled family takes.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/problem_string.h"
#include "tests/conformance/campaign.h"
#include "tests/conformance/settings.h"
#include "tests/support/random_problem.h"

namespace gemmc::testing {
namespace {

struct Share {
  DimKind kind;
  bool is_static;
  int problems;
  int shapes_per_problem;
};
constexpr Share kShares[] = {
    {DimKind::kAllRuntime, false, 16, 120},
    {DimKind::kSomeRuntime, false, 8, 20},
    {DimKind::kAllRuntime, true, 10, 1},
};

class RandomTest : public ::testing::TestWithParam<std::tuple<std::string, DType>> {};

TEST_P(RandomTest, IsWithinTheDocumentedBounds) {
  const auto& [level, dtype] = GetParam();
  if (const std::string reason = reason_to_skip(level); !reason.empty()) GTEST_SKIP() << reason;
  Campaign campaign("random", target_of(level));
  // Other problems on every level, so that the run as a whole sees more of them.
  Random random(conformance_settings().seed * 1000 + static_cast<uint64_t>(dtype) * 10 + (level.back() - '0'));
  for (const Share& share : kShares) {
    for (int i = 0; i < share.problems * conformance_settings().effort && !campaign.has_failed_enough(); ++i) {
      Problem problem = random_problem(dtype, share.kind, random);
      CampaignOptions options;
      for (int j = 0; j < share.shapes_per_problem; ++j) {
        const ArrayShapes shapes = random_shapes(problem, random);
        const uint64_t seed = random.bits() >> 32;
        if (share.is_static) problem = static_problem(problem, shapes, seed);
        // Half of the problems with a schedule that no heuristic would choose.
        if (j == 0 && i % 2 == 1) options.schedule = random_schedule(problem, campaign.session().target(), random);
        // Other shapes of a problem that failed would only say the same.
        if (!campaign.run([=] { return make_instance(problem, shapes, seed); }, options)) break;
      }
    }
  }
  EXPECT_EQ(campaign.refused_count(), 0u);
  campaign.run_ahead_of_time();
}

INSTANTIATE_TEST_SUITE_P(Levels, RandomTest,
                         ::testing::Combine(::testing::ValuesIn(all_levels()), ::testing::ValuesIn(kAllDTypes)),
                         [](const auto& info) {
                           std::string text =
                               std::get<0>(info.param) + "_" + std::string(name(std::get<1>(info.param)));
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

// --problem=... --shapes=... --seed=...: what a failure printed, again.
TEST(RepeatTest, TheGivenProblem) {
  const ConformanceSettings& settings = conformance_settings();
  if (settings.problem.empty()) GTEST_SKIP() << "no --problem was given";
  const Expected<Problem> problem = parse_problem(settings.problem);
  ASSERT_TRUE(problem) << problem.status().message();
  const std::optional<ArrayShapes> shapes = parse_shapes(settings.shapes);
  ASSERT_TRUE(shapes) << settings.shapes;
  for (const std::string& level : all_levels()) {
    if (!reason_to_skip(level).empty()) continue;
    Campaign campaign("repeated", target_of(level));
    CampaignOptions options;
    if (!settings.schedule.empty()) {
      const Expected<Schedule> schedule = parse_schedule(settings.schedule);
      ASSERT_TRUE(schedule) << schedule.status().message();
      options.schedule = *schedule;
    }
    campaign.run([&] { return make_instance(*problem, *shapes, settings.seed); }, options);
    campaign.run_ahead_of_time();
  }
}

}  // namespace
}  // namespace gemmc::testing
