// lib/gemmc_read_bytes.so: how fast one core reads memory at all. Loaded by tools/real_model/reading.py, which puts it
// beside kernels that do little but read their weights.
#include <cstdint>

#include "tools/performance/read_streams.h"

extern "C" {

// 1 where this CPU has what the reading needs.
[[gnu::visibility("default")]] int32_t gemmc_can_read_bytes() { return gemmc::can_read_streams() ? 1 : 0; }

// Loads `bytes` bytes (less a remainder below 1024) once: from one end to the other, or as 4 or 8 parts side by
// side (`streams`).
[[gnu::visibility("default")]] void gemmc_read_bytes(const char* data, int64_t bytes, int32_t streams) {
  if (streams == 8) return gemmc::read_streams<8>(data, bytes);
  if (streams == 4) return gemmc::read_streams<4>(data, bytes);
  gemmc::read_streams<1>(data, bytes);
}

}  // extern "C"
