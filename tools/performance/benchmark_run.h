// Everything that one run of `gemmc bench` knows: what tables, CSV files and reports are made from.
#pragma once

#include <string>
#include <vector>

#include "tools/performance/bandwidth.h"
#include "tools/performance/machine.h"
#include "tools/performance/measure.h"
#include "tools/performance/peak.h"

namespace gemmc {

struct BenchmarkRun {
  struct PeerLine {
    std::string name;
    std::string version;
  };

  std::string command;  // what repeats it
  Machine machine;
  std::string date;
  std::string versions;  // gemmc's and its compilers'
  std::string target;    // of the kernels
  RaceOptions race;
  std::vector<PeerLine> peers;             // in the order of the entrants
  std::vector<std::string> skipped_peers;  // "BLIS: not installed"
  std::vector<Peak> peaks_before, peaks_after;
  std::vector<Bandwidth> bandwidths;  // empty: not measured
  std::vector<Measurement> measurements;
  std::vector<std::string> left_out;  // of what the user asked for, with the reason
};

}  // namespace gemmc
