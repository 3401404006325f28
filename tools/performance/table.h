// A run as text for people, at most 120 columns wide: a block for each product, a line for each contender.
#pragma once

#include <string>

#include "tools/performance/benchmark_run.h"

namespace gemmc {

std::string print_peak_table(const std::vector<Peak>& peaks, const std::vector<Bandwidth>& bandwidths);
std::string print_table(const BenchmarkRun& run);

}  // namespace gemmc
