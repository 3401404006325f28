// The reading loop of every measurement of bandwidth: plain vector loads that nothing uses. For code that is compiled
// without AVX2 in general; who calls it asks can_read_streams() first.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace gemmc {

inline bool can_read_streams() { return __builtin_cpu_supports("avx2"); }

// Loads `bytes` bytes, less a remainder below kStreams * 128, once: as kStreams parts side by side, one step of each in
// turn, because prefetchers follow several streams at once.
template <int kStreams>
[[gnu::target("avx2")]] void read_streams(const char* data, int64_t bytes) {
  constexpr int64_t kStepBytes = 128;
  const int64_t bytes_of_each = bytes / kStreams / kStepBytes * kStepBytes;
  for (int64_t at = 0; at < bytes_of_each; at += kStepBytes) {
#pragma GCC unroll 16
    for (int stream = 0; stream < kStreams; ++stream) {
#pragma GCC unroll 16
      for (int64_t offset = 0; offset < kStepBytes; offset += 32) {
        const __m256i loaded =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + stream * bytes_of_each + at + offset));
        asm volatile("" ::"x"(loaded));  // loaded, and not used
      }
    }
  }
}

}  // namespace gemmc
