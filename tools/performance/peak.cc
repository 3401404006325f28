#include "tools/performance/peak.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>

#include "core/target.h"
#include "tools/performance/timing.h"

namespace gemmc {
namespace {

// CMake compiles this file with -ffp-contract=fast, so that `sums * factor + term` is one FMA where there is one.
//
// Independent sums. Two multiply-add units with a latency of 4 or 5 cycles need 10; 12 and the two constants still fit
// in 16 vector registers.
constexpr int kChains = 12;

namespace sse42 {
#pragma GCC push_options
#pragma GCC target("sse4.2")
#include "tools/performance/peak_chains.inc"
#pragma GCC pop_options
}  // namespace sse42
namespace avx2 {
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#include "tools/performance/peak_chains.inc"
#pragma GCC pop_options
}  // namespace avx2
namespace avx512 {
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq")
#include "tools/performance/peak_chains.inc"
#pragma GCC pop_options
}  // namespace avx512
namespace avx512bf16 {
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bf16")
// As the others, with the instruction that adds two products of bfloat16 to each sum.
void pair_chains(int64_t steps) {
  __m512 sums[kChains] = {};
  __m512bh factor = reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3f00)), other = factor;
  asm volatile("" : "+x"(factor), "+x"(other));
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) asm volatile("" : "+x"(sums[i]));
  for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], factor, other);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kChains; ++i) asm volatile("" : "+x"(sums[i]));
}
#pragma GCC pop_options
}  // namespace avx512bf16

// Best of many short runs: a peak is what the core can do, so interruptions must not lower it.
Peak measure(DType dtype, const char* extension, int vector_bytes, void (*chains)(int64_t steps)) {
  constexpr int kRuns = 20;
  constexpr double kRunNs = 1e6;
  const int lanes = vector_bytes / static_cast<int>(size_bytes(dtype));
  const int64_t steps = calls_for(kRunNs, chains);
  double best_ns = elapsed_ns([&] { chains(steps); });
  for (int run = 1; run < kRuns; ++run) best_ns = std::min(best_ns, elapsed_ns([&] { chains(steps); }));
  return {dtype, extension, lanes, 2.0 * kChains * lanes * static_cast<double>(steps) / best_ns};
}

}  // namespace

std::vector<Peak> measure_peaks(uint32_t features) {
  std::vector<Peak> peaks;
  const auto has = [features](uint32_t wanted) { return (features & wanted) == wanted; };
  if (has(kSse42)) {
    peaks.push_back(measure(DType::kFloat32, "sse4.2", 16, sse42::multiply_add_chains<float, 16>));
    peaks.push_back(measure(DType::kFloat64, "sse4.2", 16, sse42::multiply_add_chains<double, 16>));
    peaks.push_back(measure(DType::kInt32, "sse4.2", 16, sse42::multiply_add_chains<uint32_t, 16>));
    peaks.push_back(measure(DType::kInt64, "sse4.2", 16, sse42::multiply_add_chains<uint64_t, 16>));
  }
  if (has(kAvx2 | kFma)) {
    peaks.push_back(measure(DType::kFloat32, "avx2,fma", 32, avx2::multiply_add_chains<float, 32>));
    peaks.push_back(measure(DType::kFloat64, "avx2,fma", 32, avx2::multiply_add_chains<double, 32>));
    peaks.push_back(measure(DType::kInt32, "avx2,fma", 32, avx2::multiply_add_chains<uint32_t, 32>));
    peaks.push_back(measure(DType::kInt64, "avx2,fma", 32, avx2::multiply_add_chains<uint64_t, 32>));
  }
  if (has(kAvx512)) {
    peaks.push_back(measure(DType::kFloat32, "avx512f", 64, avx512::multiply_add_chains<float, 64>));
    peaks.push_back(measure(DType::kFloat64, "avx512f", 64, avx512::multiply_add_chains<double, 64>));
    peaks.push_back(measure(DType::kInt32, "avx512f", 64, avx512::multiply_add_chains<uint32_t, 64>));
    peaks.push_back(measure(DType::kInt64, "avx512dq", 64, avx512::multiply_add_chains<uint64_t, 64>));
  }
  if (has(kAvx512Bf16)) peaks.push_back(measure(DType::kBFloat16, "avx512bf16", 64, avx512bf16::pair_chains));
  return peaks;
}

std::optional<double> peak_gops(const std::vector<Peak>& peaks, DType dtype) {
  const auto is_measured = [&](DType type) {
    return std::any_of(peaks.begin(), peaks.end(), [&](const Peak& peak) { return peak.dtype == type; });
  };
  DType measured = is_measured(dtype) ? dtype : accumulator(dtype);
  if (measured == DType::kUInt32) measured = DType::kInt32;
  if (measured == DType::kUInt64) measured = DType::kInt64;
  std::optional<double> best;
  for (const Peak& peak : peaks)
    if (peak.dtype == measured) best = std::max(best.value_or(0), peak.gops);
  return best;
}

}  // namespace gemmc
