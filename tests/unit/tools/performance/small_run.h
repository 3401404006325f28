// A run of two small products with invented times, for the tests of everything that is made from a run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/performance/benchmark_run.h"

namespace gemmc::testing {

inline Entrant entrant(Role role, std::string name, std::vector<double> ns, bool has_packed_b = false) {
  Entrant result;
  result.role = role;
  result.has_packed_b = has_packed_b;
  result.name = std::move(name);
  result.ns = std::move(ns);
  if (role != Role::kPeer) {
    result.schedule = "tiled mr=6 nr=16 lanes=8 mc=6";
    result.compile_ns = 4e7;
  }
  if (result.ns.empty()) result.left_out = kNotTaken;
  return result;
}

// gemmc with and without known sizes, in the same times, and two peers; an empty list: it does not take the product.
inline Measurement measurement(const Product& product, const std::vector<double>& gemmc_ns,
                               const std::vector<double>& fast_ns, const std::vector<double>& small_ns) {
  Measurement m;
  m.category = "square";
  m.product = product;
  m.problem = "gemm f32 m=" + std::to_string(product.m);
  m.entrants = {entrant(Role::kGemmc, "gemmc", gemmc_ns), entrant(Role::kRuntime, "gemmc run-time", gemmc_ns),
                entrant(Role::kPeer, "Fast", fast_ns), entrant(Role::kPeer, "Small", small_ns)};
  return m;
}

inline BenchmarkRun small_run() {
  BenchmarkRun run;
  run.command = "gemmc bench suite.txt";
  run.date = "2026-01-31";
  run.peers = {{"Fast", "1.0"}, {"Small", "2.0"}};
  run.skipped_peers = {"Absent: not installed"};
  run.peaks_before = {{DType::kFloat32, "avx2,fma", 8, 90}};
  run.peaks_after = {{DType::kFloat32, "avx2,fma", 8, 100}};
  // 2000 operations: 20 ns are 100 GFLOP/s. Behind Fast in the first, ahead in the second; Small takes only the first.
  run.measurements = {measurement({10, 10, 10}, {40, 40, 40}, {20, 20, 20}, {80, 80, 80}),
                      measurement({10, 10, 20}, {50, 50, 50}, {100, 100, 100}, {})};
  return run;
}

inline bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace gemmc::testing
