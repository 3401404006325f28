// order=k: the bits of the chain of fma in k order, from every family that promises it, on every level that has FMA.
// Families that agree with the one chain agree with each other.
#include <gtest/gtest.h>

#include "tests/conformance/campaign.h"
#include "tests/conformance/levels.h"
#include "tests/conformance/settings.h"
#include "tests/support/random_problem.h"

namespace gemmc::testing {
namespace {

constexpr DType kFloats[] = {DType::kBFloat16, DType::kFloat16, DType::kFloat32, DType::kFloat64};

Problem with_order_k(Problem problem) {
  problem.order = SummationOrder::kByK;
  return problem;
}

class OrderKTest : public ::testing::TestWithParam<std::tuple<std::string, DType>> {};

TEST_P(OrderKTest, IsTheChainOfFma) {
  const auto& [level, dtype] = GetParam();
  if (const std::string reason = reason_to_skip(level); !reason.empty()) GTEST_SKIP() << reason;
  const Target target = target_of(level);
  if (!target.has(kFma)) GTEST_SKIP() << level << " has no FMA: see OrderKFamiliesTest";
  Campaign campaign("order=k", target);
  CampaignOptions options;
  options.check = is_chain_of_fma;
  Random random(conformance_settings().seed * 1000 + 500 + static_cast<uint64_t>(dtype));
  for (int i = 0; i < 14 * conformance_settings().effort && !campaign.has_failed_enough(); ++i) {
    const bool is_static = i % 2 == 1;
    Problem problem = with_order_k(random_problem(dtype, DimKind::kAllRuntime, random));
    for (int j = 0; j < (is_static ? 1 : 40); ++j) {
      const ArrayShapes shapes = random_shapes(problem, random);
      const uint64_t seed = random.bits() >> 32;
      if (is_static) problem = static_problem(problem, shapes, seed);
      // Another tile and other blocks are the same bits, too.
      if (is_static && random.one_in(2)) options.schedule = random_schedule(problem, target, random);
      if (!campaign.run([=] { return make_instance(problem, shapes, seed); }, options)) break;
    }
    options.schedule.reset();
  }
  campaign.run_ahead_of_time();
}

TEST(OrderKFamiliesTest, IsRefusedWithoutFma) {
  Random random(2);
  const Target target = target_of("x86-64-v2");
  for (const DType dtype : kFloats) {
    const Problem problem = with_order_k(random_problem(dtype, DimKind::kAllRuntime, random));
    Session session(target);
    const Expected<Session::Result> kernel = session.kernel(problem);
    ASSERT_FALSE(kernel);
    EXPECT_EQ(kernel.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(kernel.status().message().find("order=k"), std::string::npos) << kernel.status().message();
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, OrderKTest, ::testing::ValuesIn(levels_of(kFloats)), [](const auto& info) {
  return test_name(std::get<0>(info.param), name(std::get<1>(info.param)));
});

}  // namespace
}  // namespace gemmc::testing
