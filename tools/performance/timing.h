// Time of repeated calls, and its spread over rounds.
//
// Usually the clock is the process's CPU time, not the wall clock: on a busy machine it leaves out the time in which
// somebody else had the core, and a peer that starts more threads than it was told to pays for all of them. Where
// threads are the question, it is the wall clock. Nanoseconds.
#pragma once

#include <cstdint>
#include <vector>

namespace gemmc {

enum class Clock { kCpu, kWall };

double time_ns(Clock clock);
inline double cpu_time_ns() { return time_ns(Clock::kCpu); }

template <typename Work>
double elapsed_ns(const Work& work, Clock clock = Clock::kCpu) {
  const double start = time_ns(clock);
  work();
  return time_ns(clock) - start;
}

// How many calls take about `target_ns`; at least one. `run(calls)` makes that many calls.
template <typename Run>
int64_t calls_for(double target_ns, const Run& run, Clock clock = Clock::kCpu) {
  int64_t calls = 1;
  for (;;) {
    const double ns = elapsed_ns([&] { run(calls); }, clock);
    if (ns >= target_ns) return calls;
    // Short measurements are noisy, so approach the target in steps of at most 10.
    const double factor = ns > 0 ? target_ns / ns * 1.1 : 10;
    calls = static_cast<int64_t>(static_cast<double>(calls) * (factor < 10 ? factor : 10)) + 1;
  }
}

struct Spread {
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
};
// Of at least one sample.
Spread spread(std::vector<double> samples);

// Of positive values; 1 of none.
double geometric_mean(const std::vector<double>& values);

}  // namespace gemmc
