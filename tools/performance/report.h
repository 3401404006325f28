// Measurements -> the text of BENCHMARKS.md. It says where gemmc is behind as plainly as where it is ahead.
#pragma once

#include <string>
#include <vector>

#include "tools/performance/machine.h"
#include "tools/performance/measure.h"
#include "tools/performance/peak.h"

namespace gemmc {

struct Report {
  std::string command;  // what repeats it
  Machine machine;
  std::string date;
  std::string versions;  // gemmc's and its compilers'
  std::string target;    // of the kernels
  RaceOptions race;
  std::vector<std::string> peer_names;  // in the order of Measurement::peers_ns
  std::vector<std::string> peer_versions;
  std::vector<std::string> skipped_peers;  // with the reason
  std::vector<Peak> peaks_before, peaks_after;
  std::vector<Measurement> suite;  // float32
  std::vector<Measurement> types;  // the others
};

std::string print_markdown(const Report& report);

}  // namespace gemmc
