#include "tools/performance/race.h"

#include <algorithm>

namespace gemmc {

std::vector<std::vector<double>> race(const std::vector<Contender*>& contenders, const RaceOptions& options) {
  constexpr double kSlowCallNs = 5e7;
  std::vector<int64_t> calls;
  bool is_slow = false;
  for (Contender* contender : contenders) {
    calls.push_back(calls_for(
        options.sample_ns, [&](int64_t count) { contender->run(count); }, options.clock));
    is_slow = is_slow || elapsed_ns([&] { contender->run(1); }, options.clock) > kSlowCallNs;
  }
  const int rounds = is_slow ? std::max(3, options.rounds / 3) : options.rounds;

  std::vector<std::vector<double>> samples(contenders.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t turn = 0; turn < contenders.size(); ++turn) {
      const size_t i = (turn + static_cast<size_t>(round)) % contenders.size();
      contenders[i]->run(std::max<int64_t>(1, calls[i] / 10));
      const double ns = elapsed_ns([&] { contenders[i]->run(calls[i]); }, options.clock);
      samples[i].push_back(ns / static_cast<double>(calls[i]));
    }
  }
  return samples;
}

}  // namespace gemmc
