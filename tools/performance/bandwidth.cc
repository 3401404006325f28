#include "tools/performance/bandwidth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tools/performance/aligned_memory.h"
#include "tools/performance/read_streams.h"
#include "tools/performance/timing.h"

namespace gemmc {
namespace {

// Best of several readings, as a bandwidth is what the core can do.
template <int kStreams>
double best_gbytes_per_s(const char* data, int64_t bytes) {
  constexpr int kRuns = 5;
  constexpr double kRunNs = 5e6;
  const auto read = [&](int64_t calls) {
    for (int64_t call = 0; call < calls; ++call) read_streams<kStreams>(data, bytes);
  };
  const int64_t calls = calls_for(kRunNs, read);
  double best_ns = elapsed_ns([&] { read(calls); });
  for (int run = 1; run < kRuns; ++run) best_ns = std::min(best_ns, elapsed_ns([&] { read(calls); }));
  // Less than a step of each stream is left out at the end.
  return static_cast<double>(bytes) * static_cast<double>(calls) / best_ns;
}

}  // namespace

std::vector<Bandwidth> plan_bandwidths(const std::vector<DataCache>& caches) {
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  constexpr int64_t kWithoutCaches = int64_t{1} << 28;
  std::vector<Bandwidth> levels;
  int64_t nearer_bytes = 0;
  for (const DataCache& cache : caches) {
    if (cache.bytes <= 2 * nearer_bytes) continue;
    levels.push_back({fmt::format("L{}", cache.level), cache.bytes, cache.bytes / 2, 0});
    nearer_bytes = cache.bytes;
  }
  Bandwidth memory;
  memory.level = "memory";
  memory.read_bytes = nearer_bytes == 0 ? kWithoutCaches : std::min(4 * nearer_bytes, kMostBytes);
  levels.push_back(memory);
  return levels;
}

Expected<std::vector<Bandwidth>> measure_bandwidths() {
  if (!can_read_streams()) return std::vector<Bandwidth>();
  std::vector<Bandwidth> levels = plan_bandwidths(data_caches());
  const int64_t most_bytes = levels.back().read_bytes;
  const Expected<AlignedMemory> memory = allocate_aligned(static_cast<size_t>(most_bytes));
  if (!memory) return memory.status();
  // Written once: pages that nobody wrote are all the same one, in the nearest cache.
  std::memset(memory->get(), 1, static_cast<size_t>(most_bytes));
  const char* data = static_cast<const char*>(memory->get());
  for (Bandwidth& level : levels) {
    level.gbytes_per_s =
        std::max({best_gbytes_per_s<1>(data, level.read_bytes), best_gbytes_per_s<4>(data, level.read_bytes),
                  best_gbytes_per_s<8>(data, level.read_bytes)});
  }
  return levels;
}

const Bandwidth* level_of(const std::vector<Bandwidth>& bandwidths, double bytes) {
  const auto found = std::find_if(bandwidths.begin(), bandwidths.end(), [&](const Bandwidth& level) {
    return bytes <= static_cast<double>(level.holds_bytes);
  });
  return found == bandwidths.end() ? nullptr : &*found;
}

}  // namespace gemmc
