#include "tools/performance/figures.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/performance/small_run.h"

namespace gemmc::testing {
namespace {

// Levels of 1 KiB, 1 MiB and the rest.
BenchmarkRun run_with_bandwidths() {
  BenchmarkRun run = small_run();
  run.bandwidths = {{"L1", 1 << 10, 512, 200}, {"L2", 1 << 20, 1 << 19, 100}};
  run.bandwidths.emplace_back();
  run.bandwidths.back().level = "memory";
  run.bandwidths.back().gbytes_per_s = 20;
  return run;
}

TEST(Figures, ReadingLimitsWhereItTakesLongerThanArithmetic) {
  const BenchmarkRun run = run_with_bandwidths();
  // 1000 x 1000 floats and two vectors from memory at 20 GB/s: 200 us, against 20 us of arithmetic.
  const Measurement vector = measurement({1, 1000, 1000}, {400e3, 400e3}, {200e3, 200e3}, {});
  const Bandwidth* level = limiting_level(run, vector);
  ASSERT_NE(level, nullptr);
  EXPECT_EQ(level->level, "memory");
  EXPECT_DOUBLE_EQ(operand_bytes(vector), 4.0 * (1000 + 1000000 + 1000));
  EXPECT_NEAR(bandwidth_share(vector, vector.entrants[0], *level), 0.5, 0.01);
  EXPECT_EQ(goal_class(run, vector), GoalClass::kMemoryBound);

  const Measurement square = measurement({1000, 1000, 1000}, {4e7}, {2.1e7}, {});
  EXPECT_EQ(limiting_level(run, square), nullptr);
  EXPECT_EQ(goal_class(run, square), GoalClass::kPeerNearPeak);
}

TEST(Figures, ReadingFromANearCacheIsNoClassOfItsOwn) {
  const BenchmarkRun run = run_with_bandwidths();
  const Measurement vector = measurement({1, 10, 10}, {40}, {20}, {});
  ASSERT_NE(limiting_level(run, vector), nullptr);
  EXPECT_EQ(limiting_level(run, vector)->level, "L1");
  EXPECT_EQ(goal_class(run, vector), GoalClass::kComputeBound);
}

TEST(Figures, WithoutPeersOrPeaksThereIsNoClass) {
  BenchmarkRun run = run_with_bandwidths();
  EXPECT_EQ(goal_class(run, measurement({10, 10, 10}, {40}, {}, {})), std::nullopt);
  run.peaks_before.clear();
  run.peaks_after.clear();
  EXPECT_EQ(goal_class(run, measurement({10, 10, 10}, {40}, {20}, {})), std::nullopt);
  EXPECT_EQ(limiting_level(run, measurement({1, 10, 10}, {40}, {20}, {})), nullptr);
}

TEST(Figures, PackedAndPlainAreComparedApart) {
  Measurement m = measurement({10, 10, 10}, {40}, {20}, {80});
  EXPECT_EQ(best_peer(m, false)->name, "Fast");
  EXPECT_EQ(best_peer(m, true), nullptr);
  m.entrants.push_back(entrant(Role::kPeer, "Small packed", {10}, true));
  EXPECT_EQ(best_peer(m, false)->name, "Fast");
  EXPECT_EQ(best_peer(m, true)->name, "Small packed");
  EXPECT_EQ(summarise({&m}, true).count, 0) << "gemmc did not pack";
}

TEST(Figures, SummaryNamesTheWorst) {
  const BenchmarkRun run = small_run();
  const RatioSummary summary = summarise({&run.measurements[0], &run.measurements[1]}, false);
  EXPECT_EQ(summary.count, 2);
  EXPECT_DOUBLE_EQ(summary.geometric_mean, 1);
  EXPECT_EQ(summary.worst, &run.measurements[0]);
  EXPECT_DOUBLE_EQ(summary.worst_ratio, 0.5);
}

}  // namespace
}  // namespace gemmc::testing
