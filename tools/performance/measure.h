// One product, everyone's times. Every result is checked before its time counts.
#pragma once

#include <string>
#include <vector>

#include "api/session.h"
#include "core/dtype.h"
#include "core/status.h"
#include "gemmc/gemmc.h"
#include "schedules/schedule.h"
#include "tools/performance/peers.h"
#include "tools/performance/race.h"
#include "tools/performance/suite.h"

namespace gemmc {

// Who a contender is.
enum class Role {
  kGemmc,     // compiled for the product's sizes, with the schedule that gemmc chooses
  kRuntime,   // gemmc, sizes are arguments of the call
  kThreads,   // gemmc, compiled for the sizes, in several threads
  kSchedule,  // gemmc, compiled for the sizes, with a schedule that the user gave
  kPeer,
};

// Entrant::left_out of a peer that has nothing for the product.
inline constexpr char kNotTaken[] = "does not take this product";

// One contender at one product.
struct Entrant {
  Role role = Role::kPeer;
  bool has_packed_b = false;  // B was laid out before the calls as the contender likes it
  std::string name;           // "gemmc", "gemmc run-time", "gemmc tiled mr=6 ...", "OpenBLAS", "gemmc packed", ...
  std::string schedule;       // of gemmc's kernels, else empty
  double compile_ns = 0;      // likewise
  std::vector<double> ns;     // per call, by round; empty where `left_out` says why
  std::string left_out;
};

struct Measurement {
  std::string category;
  DType dtype = DType::kFloat32;
  Product product;
  std::string problem;  // the line that repeats it
  std::vector<Entrant> entrants;

  // Who took part in that role, or null. Of kSchedule and kPeer the first.
  const Entrant* find(Role role, bool has_packed_b) const;
};

struct MeasureOptions {
  RaceOptions race;
  bool with_runtime_sizes = false;
  bool with_packed_b = false;                // gemmc and the peers that can, beside everyone with a plain B
  const gemmc_parallel* parallel = nullptr;  // gemmc in these threads, beside everyone with one
  std::vector<Schedule> schedules;
};

// Internal: a kernel of gemmc computes a wrong result, which ends a benchmark. A wrong peer and a schedule that does
// not suit the product are left out by name.
Expected<Measurement> measure(Session& session, const SuiteEntry& entry, const PeerSearch& peers,
                              const MeasureOptions& options);

}  // namespace gemmc
