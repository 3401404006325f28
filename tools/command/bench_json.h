// What `gemmc bench --json` prints; docs/command-line.md has the fields.
#pragma once

#include "tools/command/text.h"
#include "tools/performance/benchmark_run.h"

namespace gemmc {

Json peaks_json(const Machine& machine, const std::vector<Peak>& peaks, const std::vector<Bandwidth>& bandwidths);
Json run_json(const BenchmarkRun& run);

}  // namespace gemmc
