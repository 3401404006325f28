// Several contenders at one product, measured side by side.
#pragma once

#include <vector>

#include "tools/performance/contender.h"
#include "tools/performance/timing.h"

namespace gemmc {

struct RaceOptions {
  int rounds = 15;
  double sample_ns = 2e6;  // a sample is as many calls as take about this long
  Clock clock = Clock::kCpu;
};

// Nanoseconds per call: [contender][round]. In each round everyone is measured once, so that a slow moment of the
// machine meets all; the order rotates, so that nobody always follows the same neighbour; and each makes calls before
// its sample, so that its operands are in the caches. Calls of more than 50 ms get a third of the rounds.
std::vector<std::vector<double>> race(const std::vector<Contender*>& contenders, const RaceOptions& options);

}  // namespace gemmc
