// lib/gemmc_read_bytes.so: how fast one core reads memory at all. Loaded by tools/real_model/reading.py, which puts it
// beside kernels that do little but read their weights.
#include <immintrin.h>

#include <cstdint>

namespace {

constexpr int64_t kStepBytes = 128;

// One step of every stream in turn: prefetchers follow several at once.
template <int kStreams>
[[gnu::target("avx2")]] void read(const char* data, int64_t bytes) {
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

}  // namespace

extern "C" {

// 1 where this CPU has what the reading needs.
[[gnu::visibility("default")]] int32_t gemmc_can_read_bytes() { return __builtin_cpu_supports("avx2") ? 1 : 0; }

// Loads `bytes` bytes (less a remainder below 1024) once: from one end to the other, or as 4 or 8 parts side by
// side (`streams`).
[[gnu::visibility("default")]] void gemmc_read_bytes(const char* data, int64_t bytes, int32_t streams) {
  if (streams == 8) return read<8>(data, bytes);
  if (streams == 4) return read<4>(data, bytes);
  read<1>(data, bytes);
}

}  // extern "C"
