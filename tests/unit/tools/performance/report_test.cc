#include "tools/performance/report.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/performance/small_run.h"

namespace gemmc::testing {
namespace {

TEST(Report, ListsWhereGemmcIsBehind) {
  const std::string text = print_markdown(small_run());
  EXPECT_TRUE(has_line(text, "1 of 2 products, worst first.")) << text;
  EXPECT_TRUE(has_line(text, "| 10x10x10 | 0.50 (0.50-0.50) | 50.0 | Fast | 100.0 | tiled mr=6 nr=16 lanes=8 mc=6 |"))
      << text;
}

TEST(Report, ComparesWithTheHigherPeakAndMarksWhatAPeerDoesNotTake) {
  const std::string text = print_markdown(small_run());
  EXPECT_TRUE(has_line(text, "| 10x10x10 | 50.0 (50.0-50.0) | 50 % | - | 50.0 | 100.0 | 25.0 | 0.50 |")) << text;
  EXPECT_TRUE(has_line(text, "| 10x10x20 | 80.0 (80.0-80.0) | 80 % | - | 80.0 | 40.0 | - | 2.00 |")) << text;
}

TEST(Report, SummaryTakesGeometricMeans) {
  const std::string text = print_markdown(small_run());
  // Against Fast 0.5 and 2, against Small 2 in one of two, against the best of each 0.5 and 2.
  EXPECT_TRUE(has_line(text, "| all | 2 | 63 % | 1.00 | 2.00 of 1 | 1.00 | 1 |")) << text;
}

TEST(Report, ClassesAreThoseOfTheGoals) {
  const std::string text = print_markdown(small_run());
  EXPECT_TRUE(has_line(text, "| best peer at 90 % of peak or more | 1 | 0.50 | 0.50 | 10x10x10 |")) << text;
  EXPECT_TRUE(has_line(text, "| compute-bound, best peer below 90 % | 1 | 2.00 | 2.00 | 10x10x20 |")) << text;
  EXPECT_TRUE(has_line(text, "| memory-bound, beyond the L2 cache | 0 | - | - | - |")) << text;
}

TEST(Report, NamesWhoWasNotMeasuredAndWhatWasLeftOut) {
  BenchmarkRun run = small_run();
  run.left_out = {"a.csv: 3 rows of type 'u8xi8': not built yet"};
  const std::string text = print_markdown(run);
  EXPECT_TRUE(has_line(text, "| not measured | Absent: not installed |"));
  EXPECT_TRUE(has_line(text, "| left out | a.csv: 3 rows of type 'u8xi8': not built yet |"));
}

TEST(Report, ATypeWithoutPeersHasItsOwnTable) {
  BenchmarkRun run = small_run();
  run.peers.clear();
  for (Measurement& m : run.measurements) m.entrants.resize(2);
  const std::string text = print_markdown(run);
  EXPECT_TRUE(has_line(text, "| float32 | 10x10x10 | 50.0 (50.0-50.0) | 50 % | 50.0 | tiled mr=6 nr=16 lanes=8 mc=6 |"))
      << text;
  EXPECT_EQ(text.find("## Summary"), std::string::npos);
}

TEST(Report, ListsWhereRunTimeSizesAreFaster) {
  BenchmarkRun run = small_run();
  run.measurements[1].entrants[1].ns = {25, 25, 25};
  const std::string text = print_markdown(run);
  EXPECT_NE(text.find("In 1 of 2 products"), std::string::npos) << text;
  EXPECT_TRUE(
      has_line(text, "| float32 | 10x10x20 | 0.50 (0.50-0.50) | 80.0 | 160.0 | tiled mr=6 nr=16 lanes=8 mc=6 |"))
      << text;
}

TEST(Report, RatiosAreTakenRoundByRound) {
  BenchmarkRun run = small_run();
  // Twice as slow a machine in the second round: the ratio stays.
  run.measurements = {measurement({10, 10, 10}, {40, 80, 40}, {20, 40, 20}, {})};
  EXPECT_NE(print_markdown(run).find("| 10x10x10 | 0.50 (0.50-0.50) |"), std::string::npos);
}

TEST(Report, PackedIsComparedWithPacked) {
  BenchmarkRun run = small_run();
  EXPECT_EQ(print_markdown(run).find("packed beforehand"), std::string::npos);
  run.measurements[0].entrants.push_back(entrant(Role::kGemmc, "gemmc packed", {25, 25, 25}, true));
  run.measurements[0].entrants.push_back(entrant(Role::kPeer, "Fast packed", {50, 50, 50}, true));
  const std::string text = print_markdown(run);
  EXPECT_TRUE(has_line(text,
                       "| 10x10x10 | 50.0 | 80.0 (80.0-80.0) | Fast packed | 40.0 | 2.00 | tiled mr=6 nr=16 "
                       "lanes=8 mc=6 |"))
      << text;
  EXPECT_TRUE(has_line(text, "| all, packed B against packed B | 1 | 2.00 | 2.00 | 10x10x10 |")) << text;
  // The plain figures stay.
  EXPECT_TRUE(has_line(text, "| all | 2 | 63 % | 1.00 | 2.00 of 1 | 1.00 | 1 |")) << text;
}

TEST(Report, GivenSchedulesStandBesideTheChosenOne) {
  BenchmarkRun run = small_run();
  run.measurements[0].entrants.push_back(entrant(Role::kSchedule, "gemmc tiled mr=4", {20, 20, 20}));
  EXPECT_TRUE(has_line(print_markdown(run),
                       "| float32 | 10x10x10 | gemmc tiled mr=4 | 100.0 (100.0-100.0) | 50.0 (50.0-50.0) | 2.00 |"));
}

}  // namespace
}  // namespace gemmc::testing
