#include "tools/performance/race.h"

#include <gtest/gtest.h>

#include "tools/performance/timing.h"

namespace gemmc {
namespace {

// Needs a known CPU time per call.
class Spinner : public Contender {
 public:
  explicit Spinner(double ns) : ns_(ns) {}
  void run(int64_t calls) override {
    const double end = cpu_time_ns() + ns_ * static_cast<double>(calls);
    while (cpu_time_ns() < end) {
    }
  }

 private:
  double ns_;
};

TEST(Race, MeasuresEveryoneInEveryRound) {
  Spinner fast(2e4), slow(6e4);
  const auto times = race({&fast, &slow}, {.rounds = 6, .sample_ns = 3e5});
  ASSERT_EQ(times.size(), 2u);
  ASSERT_EQ(times[0].size(), 6u);
  ASSERT_EQ(times[1].size(), 6u);
  EXPECT_NEAR(spread(times[0]).median, 2e4, 4e3);
  EXPECT_NEAR(spread(times[1]).median, 6e4, 12e3);
}

TEST(Race, SlowCallsGetFewerRounds) {
  Spinner slow(6e7);
  EXPECT_EQ(race({&slow}, {.rounds = 9, .sample_ns = 1e5})[0].size(), 3u);
}

}  // namespace
}  // namespace gemmc
