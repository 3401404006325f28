#include "tools/performance/figures.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace gemmc {

double median_gops(const Measurement& measurement, const Entrant& entrant) {
  return gops(measurement.product, spread(entrant.ns).median);
}

std::optional<double> run_peak(const BenchmarkRun& run, DType dtype) {
  const std::optional<double> before = peak_gops(run.peaks_before, dtype);
  const std::optional<double> after = peak_gops(run.peaks_after, dtype);
  return before && after ? std::max(before, after) : before ? before : after;
}

double operand_bytes(const Measurement& measurement) {
  const Product& p = measurement.product;
  return static_cast<double>(p.a_count() + p.b_count() + p.y_count()) *
         static_cast<double>(size_bytes(measurement.dtype));
}

const Bandwidth* limiting_level(const BenchmarkRun& run, const Measurement& measurement) {
  const Bandwidth* level = level_of(run.bandwidths, operand_bytes(measurement));
  const std::optional<double> peak = run_peak(run, measurement.dtype);
  if (level == nullptr || !peak) return nullptr;
  const double reading_ns = operand_bytes(measurement) / level->gbytes_per_s;
  const double arithmetic_ns = measurement.product.operations() / *peak;
  return reading_ns > arithmetic_ns ? level : nullptr;
}

double bandwidth_share(const Measurement& measurement, const Entrant& entrant, const Bandwidth& level) {
  return operand_bytes(measurement) / spread(entrant.ns).median / level.gbytes_per_s;
}

const Entrant* best_peer(const Measurement& measurement, bool has_packed_b) {
  const Entrant* best = nullptr;
  double best_ns = 0;
  for (const Entrant& entrant : measurement.entrants) {
    if (entrant.role != Role::kPeer || entrant.has_packed_b != has_packed_b || entrant.ns.empty()) continue;
    const double ns = spread(entrant.ns).median;
    if (best != nullptr && ns >= best_ns) continue;
    best = &entrant;
    best_ns = ns;
  }
  return best;
}

Spread speed_ratio(const Entrant& entrant, const Entrant& other) {
  std::vector<double> ratios;
  for (size_t round = 0; round < entrant.ns.size(); ++round) ratios.push_back(other.ns[round] / entrant.ns[round]);
  return spread(std::move(ratios));
}

std::string title(GoalClass goal) {
  switch (goal) {
    case GoalClass::kPeerNearPeak:
      return "best peer at 90 % of peak or more";
    case GoalClass::kComputeBound:
      return "compute-bound, best peer below 90 %";
    case GoalClass::kMemoryBound:
      return "memory-bound, beyond the L2 cache";
  }
  return "";
}

std::optional<GoalClass> goal_class(const BenchmarkRun& run, const Measurement& measurement) {
  const Entrant* best = best_peer(measurement, false);
  const std::optional<double> peak = run_peak(run, measurement.dtype);
  if (best == nullptr || !peak) return std::nullopt;
  if (median_gops(measurement, *best) >= 0.9 * *peak) return GoalClass::kPeerNearPeak;
  const Bandwidth* level = limiting_level(run, measurement);
  const bool is_near = level == nullptr || level->level == "L1" || level->level == "L2";
  return is_near ? GoalClass::kComputeBound : GoalClass::kMemoryBound;
}

namespace {

// Who is compared with whom at a product; one of them null: it does not count.
using Pair = std::pair<const Entrant*, const Entrant*>;

RatioSummary summarise_pairs(const std::vector<const Measurement*>& measurements,
                             const std::function<Pair(const Measurement&)>& pair_of) {
  RatioSummary summary;
  std::vector<double> ratios;
  for (const Measurement* measurement : measurements) {
    const auto [entrant, other] = pair_of(*measurement);
    if (entrant == nullptr || other == nullptr) continue;
    ratios.push_back(speed_ratio(*entrant, *other).median);
    if (summary.worst != nullptr && ratios.back() >= summary.worst_ratio) continue;
    summary.worst = measurement;
    summary.worst_ratio = ratios.back();
  }
  summary.count = static_cast<int>(ratios.size());
  summary.geometric_mean = geometric_mean(ratios);
  return summary;
}

}  // namespace

RatioSummary summarise(const std::vector<const Measurement*>& measurements, bool has_packed_b) {
  return summarise_pairs(measurements, [&](const Measurement& m) {
    return Pair(m.find(Role::kGemmc, has_packed_b), best_peer(m, has_packed_b));
  });
}

RatioSummary summarise_threads(const std::vector<const Measurement*>& measurements) {
  return summarise_pairs(measurements, [](const Measurement& m) {
    return Pair(m.find(Role::kThreads, false), m.find(Role::kGemmc, false));
  });
}

}  // namespace gemmc
