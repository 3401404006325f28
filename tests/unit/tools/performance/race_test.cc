#include "tools/performance/race.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/performance/timing.h"

namespace gemmc {
namespace {

// Spends a known CPU time per call, at least, and writes down who ran how often.
class Spinner : public Contender {
 public:
  struct Run {
    const Spinner* who;
    int64_t calls;
  };
  Spinner(double ns, std::vector<Run>& runs) : ns_(ns), runs_(runs) {}
  void run(int64_t calls) override {
    const double end = cpu_time_ns() + ns_ * static_cast<double>(calls);
    runs_.push_back({this, calls});
    while (cpu_time_ns() < end) {
    }
  }

 private:
  double ns_;
  std::vector<Run>& runs_;
};

TEST(Race, MeasuresEveryoneInEveryRound) {
  std::vector<Spinner::Run> runs;
  Spinner fast(2e4, runs), slow(6e4, runs);
  const auto times = race({&fast, &slow}, {.rounds = 4, .sample_ns = 3e5});
  ASSERT_EQ(times.size(), 2u);
  for (const double ns : times[0]) EXPECT_GE(ns, 2e4);
  for (const double ns : times[1]) EXPECT_GE(ns, 6e4);
  EXPECT_EQ(times[0].size(), 4u);
  EXPECT_EQ(times[1].size(), 4u);

  // The rounds are the last 4 x 2 x 2 runs: a tenth of the calls to warm up, then the sample; who begins changes.
  ASSERT_GE(runs.size(), 16u);
  const Spinner* const order[] = {&fast, &slow, &slow, &fast, &fast, &slow, &slow, &fast};
  const size_t first = runs.size() - 16;
  for (size_t turn = 0; turn < 8; ++turn) {
    const Spinner::Run &warm_up = runs[first + 2 * turn], &sample = runs[first + 2 * turn + 1];
    EXPECT_EQ(warm_up.who, order[turn]) << turn;
    EXPECT_EQ(sample.who, order[turn]) << turn;
    EXPECT_EQ(warm_up.calls, std::max<int64_t>(1, sample.calls / 10)) << turn;
    EXPECT_EQ(sample.calls, runs[first + (order[turn] == &fast ? 1 : 3)].calls) << "samples are equally long";
  }
}

TEST(Race, SlowCallsGetFewerRounds) {
  std::vector<Spinner::Run> runs;
  Spinner slow(6e7, runs);
  EXPECT_EQ(race({&slow}, {.rounds = 9, .sample_ns = 1e5})[0].size(), 3u);
}

}  // namespace
}  // namespace gemmc
