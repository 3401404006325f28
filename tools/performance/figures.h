// What the times of a run mean: speeds, shares of what the machine can do, ratios to peers. Every output takes its
// figures from here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/performance/benchmark_run.h"
#include "tools/performance/timing.h"

namespace gemmc {

// 1e9 operations a second; a call takes so many nanoseconds.
inline double gops(const Product& product, double ns) { return product.operations() / ns; }
double median_gops(const Measurement& measurement, const Entrant& entrant);

// The higher of the peaks before and after the measurements; nothing where none was measured for the type.
std::optional<double> run_peak(const BenchmarkRun& run, DType dtype);

// A, B and Y, each once.
double operand_bytes(const Measurement& measurement);

// Whether arithmetic or reading limits a product: reading where its operands' bytes take longer, at the bandwidth of
// the nearest level that holds them all, than its operations at the peak. That level, or null where arithmetic limits.
const Bandwidth* limiting_level(const BenchmarkRun& run, const Measurement& measurement);
// The share of that level's bandwidth, reading every operand once a call.
double bandwidth_share(const Measurement& measurement, const Entrant& entrant, const Bandwidth& level);

// The peer with the shortest median, among those with a packed B or the others; null where no peer took the product.
const Entrant* best_peer(const Measurement& measurement, bool has_packed_b);

// How many times as fast as `other` `entrant` was: round by round, since both were measured in each.
Spread speed_ratio(const Entrant& entrant, const Entrant& other);

// The classes for which the project has goals.
enum class GoalClass {
  kPeerNearPeak,  // the best peer reaches 90 % of the peak or more
  kComputeBound,  // it does not, and reading from beyond the L2 cache is not what limits the product
  kMemoryBound,   // operands beyond the L2 cache, whose reading limits
};
constexpr GoalClass kAllGoalClasses[] = {GoalClass::kPeerNearPeak, GoalClass::kComputeBound, GoalClass::kMemoryBound};
std::string title(GoalClass goal);
// Nothing without a peer or a measured peak.
std::optional<GoalClass> goal_class(const BenchmarkRun& run, const Measurement& measurement);

// Ratios of speed over some products.
struct RatioSummary {
  int count = 0;  // products at which both were timed
  double geometric_mean = 1;
  const Measurement* worst = nullptr;
  double worst_ratio = 0;
};
// gemmc against the best peer.
RatioSummary summarise(const std::vector<const Measurement*>& measurements, bool has_packed_b);
// gemmc in several threads against gemmc in one.
RatioSummary summarise_threads(const std::vector<const Measurement*>& measurements);

}  // namespace gemmc
