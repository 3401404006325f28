#include "tools/performance/bandwidth.h"

#include <gtest/gtest.h>

namespace gemmc {
namespace {

constexpr int64_t kKib = 1 << 10, kMib = 1 << 20;

TEST(Bandwidth, EachLevelIsReadFromWhereNoNearerOneHoldsIt) {
  const std::vector<Bandwidth> levels = plan_bandwidths({{1, "d", 32 * kKib}, {2, "", 512 * kKib}, {3, "", 32 * kMib}});
  ASSERT_EQ(levels.size(), 4u);
  const char* names[] = {"L1", "L2", "L3", "memory"};
  for (size_t i = 0; i < levels.size(); ++i) {
    EXPECT_EQ(levels[i].level, names[i]);
    EXPECT_LE(levels[i].read_bytes, levels[i].holds_bytes);
    EXPECT_GT(levels[i].read_bytes, i == 0 ? 0 : levels[i - 1].holds_bytes);
  }
  EXPECT_EQ(levels[3].read_bytes, 128 * kMib);
}

TEST(Bandwidth, ACacheHardlyLargerThanTheOneBeforeIsLeftOut) {
  const std::vector<Bandwidth> levels = plan_bandwidths({{1, "d", 32 * kKib}, {2, "", 64 * kKib}, {3, "", kMib}});
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[1].level, "L3");
  EXPECT_EQ(plan_bandwidths({}).size(), 1u);
}

TEST(Bandwidth, TheNearestLevelThatHoldsThemCounts) {
  const std::vector<Bandwidth> levels = plan_bandwidths({{1, "d", 32 * kKib}, {2, "", 512 * kKib}});
  EXPECT_EQ(level_of(levels, 1000)->level, "L1");
  EXPECT_EQ(level_of(levels, 32.0 * kKib)->level, "L1");
  EXPECT_EQ(level_of(levels, 32.0 * kKib + 1)->level, "L2");
  EXPECT_EQ(level_of(levels, 1e12)->level, "memory");
  EXPECT_EQ(level_of({}, 1), nullptr);
}

TEST(Bandwidth, EveryFigureIsThere) {
  const auto levels = measure_bandwidths();
  ASSERT_TRUE(levels) << levels.status().message();
  for (const Bandwidth& level : *levels) EXPECT_GT(level.gbytes_per_s, 0) << level.level;
}

}  // namespace
}  // namespace gemmc
