// The measurements of a report: every one is checked for a right result first and fails as a whole if one is wrong.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/session.h"
#include "core/dtype.h"
#include "core/status.h"
#include "tools/performance/peers.h"
#include "tools/performance/race.h"
#include "tools/performance/suite.h"

namespace gemmc {

// One product and everyone's times, nanoseconds per call and round.
struct Measurement {
  std::string category;
  DType dtype = DType::kFloat32;
  Product product;
  std::string schedule;  // of the kernel with static sizes
  double compile_ns = 0;
  std::vector<double> static_ns;              // gemmc, compiled for this product's sizes
  std::vector<double> runtime_ns;             // gemmc, sizes are arguments of the call
  std::vector<std::vector<double>> peers_ns;  // in the order of the peers; empty where a peer has nothing for it
};

// Called before each product, for a line of progress.
using Progress = std::function<void(const std::string& product)>;

Expected<std::vector<Measurement>> measure_suite(Session& session, const std::vector<SuiteEntry>& suite,
                                                 const PeerSearch& peers, const RaceOptions& options,
                                                 const Progress& progress);

// Every type but float32 on a few products, without peers.
Expected<std::vector<Measurement>> measure_types(Session& session, const RaceOptions& options,
                                                 const Progress& progress);

}  // namespace gemmc
