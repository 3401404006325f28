#include "tools/performance/timing.h"

#include <gtest/gtest.h>

namespace gemmc {
namespace {

TEST(Timing, QuartilesInterpolateAndIgnoreTheOrder) {
  const Spread s = spread({40, 10, 30, 20, 50});
  EXPECT_DOUBLE_EQ(s.lower_quartile, 20);
  EXPECT_DOUBLE_EQ(s.median, 30);
  EXPECT_DOUBLE_EQ(s.upper_quartile, 40);
  EXPECT_DOUBLE_EQ(spread({1, 2}).median, 1.5);
  EXPECT_DOUBLE_EQ(spread({7}).upper_quartile, 7);
}

TEST(Timing, OneOutlierDoesNotMoveTheMedian) { EXPECT_DOUBLE_EQ(spread({1, 1, 1, 1, 1e9}).median, 1); }

TEST(Timing, GeometricMean) {
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean({}), 1);
}

// Keeps the core busy for about the given time of this process.
void spin(double ns) {
  const double start = cpu_time_ns();
  while (cpu_time_ns() - start < ns) {
  }
}

TEST(Timing, CallsForReachesItsTarget) {
  std::vector<int64_t> counts;
  double last_ns = 0;
  const int64_t calls = calls_for(2e6, [&](int64_t count) {
    counts.push_back(count);
    last_ns = elapsed_ns([&] { spin(1e4 * static_cast<double>(count)); });
  });
  EXPECT_EQ(calls, counts.back());
  EXPECT_GE(last_ns, 1e6);
  // A call takes no less than it spins, so no step aims further than the target and a tenth.
  EXPECT_LE(calls, 221);
  for (size_t i = 1; i < counts.size(); ++i) {
    EXPECT_GT(counts[i], counts[i - 1]);
    EXPECT_LE(counts[i], 10 * counts[i - 1] + 1);
  }
  EXPECT_EQ(calls_for(1e3, [](int64_t) { spin(1e5); }), 1);
}

}  // namespace
}  // namespace gemmc
