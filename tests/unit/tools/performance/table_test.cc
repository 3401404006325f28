#include "tools/performance/table.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/tools/performance/small_run.h"

namespace gemmc::testing {
namespace {

TEST(Table, HasABlockForEachProduct) {
  const std::string text = print_table(small_run());
  EXPECT_TRUE(has_line(text, "f32 10x10x10 (square): 1200 bytes of operands")) << text;
  EXPECT_TRUE(has_line(text,
                       "  gemmc                                                40.0 ns     50.0       (50.0-50.0)    "
                       "50 %        -       0.50"))
      << text;
  EXPECT_TRUE(has_line(text, "  left out: Small: does not take this product")) << text;
  EXPECT_TRUE(has_line(text, "  all                                             2      1.00    0.50  10x10x10"))
      << text;
}

TEST(Table, SumsUpWhatThreadsGain) {
  BenchmarkRun run = small_run();
  EXPECT_EQ(print_table(run).find("in several threads"), std::string::npos);
  run.race.clock = Clock::kWall;
  // Twice and 1.25 times as fast as the 40 and 50 ns of one thread.
  run.measurements[0].entrants.push_back(entrant(Role::kThreads, "gemmc, 2 threads", {20, 20, 20}));
  run.measurements[1].entrants.push_back(entrant(Role::kThreads, "gemmc, 2 threads", {40, 40, 40}));
  const std::string text = print_table(run);
  EXPECT_TRUE(has_line(text, "  in several threads / in one                     2      1.58    1.25  10x10x20"))
      << text;
  EXPECT_NE(text.find("one thread if no line says more, wall clock"), std::string::npos) << text;
}

TEST(Table, FitsTheScreen) {
  BenchmarkRun run = small_run();
  Entrant scheduled = entrant(Role::kSchedule, "gemmc " + std::string(200, 'x'), {123456789, 123456789, 123456789});
  run.measurements[0].category = std::string(200, 'y');
  run.measurements[0].entrants.push_back(scheduled);
  scheduled.ns.clear();
  scheduled.left_out = std::string(300, 'z');
  run.measurements[0].entrants.push_back(scheduled);
  run.peers[0].version = std::string(200, 'v');
  std::istringstream lines(print_table(run));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
}

TEST(Table, ManagesWithoutPeers) {
  BenchmarkRun run = small_run();
  for (Measurement& m : run.measurements) m.entrants.resize(1);
  const std::string text = print_table(run);
  EXPECT_EQ(text.find("best peer at"), std::string::npos) << text;
}

}  // namespace
}  // namespace gemmc::testing
