// What a report says about the machine it was measured on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gemmc {

struct DataCache {
  int level = 0;
  std::string kind;  // "d" of one for data only, else empty
  int64_t bytes = 0;
};
// Of the first core, the nearest first. From sysfs, because sysconf() can be wrong in virtual machines.
std::vector<DataCache> data_caches();

struct Machine {
  std::string cpu;     // the processor's own name
  int cores = 0;       // that this process may use
  std::string caches;  // "L1d 32K, L2 512K, L3 32768K"
  std::string system;  // "Debian GNU/Linux 12 (bookworm), Linux 6.1"
  double load = 0;     // average number of runnable threads over the last minute
};

Machine describe_machine();
// "2026-01-31", in UTC.
std::string today();

}  // namespace gemmc
