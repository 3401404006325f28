// A run as a table for machines, with one line for each contender at each product.
#pragma once

#include <string>

#include "tools/performance/benchmark_run.h"

namespace gemmc {

// Lines that begin with '#' say what the figures are of: `# key: value`, and the format's version. Then a header line
// and the rows; docs/command-line.md has the columns. Fields with commas or quotes stand in double quotes.
std::string print_csv(const BenchmarkRun& run);

}  // namespace gemmc
