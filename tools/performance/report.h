// A run -> the text of BENCHMARKS.md. It says where gemmc is behind as plainly as where it is ahead.
#pragma once

#include <string>

#include "tools/performance/benchmark_run.h"

namespace gemmc {

std::string print_markdown(const BenchmarkRun& run);

}  // namespace gemmc
