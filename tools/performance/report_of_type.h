// The sections of a report about the products of one element type. Called by report.cc, which writes the others.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tools/performance/benchmark_run.h"
#include "tools/performance/figures.h"

namespace gemmc {

using ReportText = std::back_insert_iterator<std::string>;
// Of one type, in the order of the run.
using Measured = std::vector<const Measurement*>;

// "107.2 (105.1-108.0)": GFLOP/s, median and quartiles.
std::string print_gops(const Measurement& measurement, const Entrant& entrant);
// "93 %", or "-" where there is no peak.
std::string print_share(double gops, std::optional<double> peak);

// Whether any peer was timed.
bool has_peers(const Measured& measured);

// Summary, goals, weak points and all products of a type that has peers.
void print_type_with_peers(const BenchmarkRun& run, DType dtype, const Measured& measured, ReportText out);

}  // namespace gemmc
