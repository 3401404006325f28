// The sources of `gemmc bench` -> what it measures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/status.h"
#include "tools/command/options.h"
#include "tools/performance/suite.h"

namespace gemmc {

struct BenchSources {
  std::vector<SuiteEntry> entries;    // in the order of the sources; equal ones of one model once
  std::vector<std::string> left_out;  // of files, with the reason
};

struct BenchSelection {
  std::vector<DType> dtypes;              // of suites and tables; empty: float32, and what a table says
  std::optional<double> most_operations;  // of the products of files
};

// A problem string or description that cannot be timed is a failure; a node of a model, or a row of a table, is left
// out by name, and a failure only where nothing of its source remains.
Expected<BenchSources> read_bench_sources(const KernelOptions& options, const BenchSelection& selection);

}  // namespace gemmc
