// What the conformance run did: how many runs of which kind, type, family, CPU level and route were right.
#pragma once

#include <string>
#include <tuple>

#include "core/dtype.h"
#include "schedules/schedule.h"

namespace gemmc::testing {

enum class ConformanceRoute { kJit, kAheadOfTime };

struct CountKey {
  std::string kind;  // "worked", "random", "order=k", ...
  DType dtype = DType::kFloat32;
  Family family = Family::kGeneral;
  std::string level;  // "x86-64-v3"
  ConformanceRoute route = ConformanceRoute::kJit;

  auto tie() const { return std::tie(kind, level, dtype, family, route); }
  bool operator<(const CountKey& other) const { return tie() < other.tie(); }
};

// Any thread.
void count_run(const CountKey& key, bool is_right);
// One problem that a family's kernel computed: `repeat`, which names problem, shapes and values, says which, so that
// the same one again is not counted. The key's route plays no part.
void count_problem(const CountKey& key, const std::string& repeat);
size_t right_runs();
size_t right_runs(const CountKey& key);

// One line per kind, level, family and route; one column per type; runs that were right, and "(-n)" for n wrong ones.
// In further lines, with "problems" for the route: how many different problems these runs are of.
std::string counts_table();

}  // namespace gemmc::testing
