// The measured read bandwidth of one core from each cache and from memory: what limits products that do little more
// than read their operands.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/status.h"
#include "tools/performance/machine.h"

namespace gemmc {

struct Bandwidth {
  std::string level;  // "L1", "L2", "L3", "memory"
  // What fits in: a cache's size, without end for memory.
  int64_t holds_bytes = std::numeric_limits<int64_t>::max();
  int64_t read_bytes = 0;  // the size of the buffer that was read again and again
  double gbytes_per_s = 0;
};

// What to read to meet each level and none nearer: half of a cache that is larger than twice the one before it, and for
// memory four times the last cache, up to 1 GiB. The figures are 0.
std::vector<Bandwidth> plan_bandwidths(const std::vector<DataCache>& caches);

// The best of several readings, in one, four and eight streams, of each level, the nearest first. Empty on a CPU
// without AVX2. Takes about a second. Environment: no memory for the buffer.
Expected<std::vector<Bandwidth>> measure_bandwidths();

// The first level that holds so many bytes; null where nothing was measured.
const Bandwidth* level_of(const std::vector<Bandwidth>& bandwidths, double bytes);

}  // namespace gemmc
