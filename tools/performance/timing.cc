#include "tools/performance/timing.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <ctime>

namespace gemmc {

double time_ns(Clock clock) {
  timespec time{};
  clock_gettime(clock == Clock::kCpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

Spread spread(std::vector<double> samples) {
  assert(!samples.empty());
  std::sort(samples.begin(), samples.end());
  // Linear interpolation between the neighbouring samples.
  const auto quantile = [&](double share) {
    const double position = share * static_cast<double>(samples.size() - 1);
    const size_t below = static_cast<size_t>(position);
    const size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (position - static_cast<double>(below)) * (samples[above] - samples[below]);
  };
  return {quantile(0.25), quantile(0.5), quantile(0.75)};
}

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return 1;
  double log_sum = 0;
  for (double value : values) log_sum += std::log(value);
  return std::exp(log_sum / static_cast<double>(values.size()));
}

}  // namespace gemmc
