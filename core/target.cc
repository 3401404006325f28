#include "core/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gemmc {
namespace {

constexpr uint32_t kLevel2 = kSse42;
constexpr uint32_t kLevel3 = kLevel2 | kAvx | kAvx2 | kFma | kF16c;
constexpr uint32_t kLevel4 = kLevel3 | kAvx512;

struct TargetRow {
  std::string_view word;
  std::string_view level;
  std::string_view tune_cpu;
  uint32_t features;
};

// Best last within each group. CPU names are the levels' common members, for their LLVM scheduling models.
constexpr TargetRow kTargets[] = {
    {"x86-64-v2", "x86-64-v2", "generic", kLevel2},
    {"x86-64-v3", "x86-64-v3", "generic", kLevel3},
    {"x86-64-v4", "x86-64-v4", "generic", kLevel4},
    {"x86-64-v4+bf16", "x86-64-v4", "generic", kLevel4 | kAvx512Bf16},
    {"haswell", "x86-64-v3", "haswell", kLevel3},
    {"znver2", "x86-64-v3", "znver2", kLevel3},
    {"znver3", "x86-64-v3", "znver3", kLevel3},
    {"skylake-avx512", "x86-64-v4", "skylake-avx512", kLevel4},
    {"znver4", "x86-64-v4", "znver4", kLevel4 | kAvx512Bf16},
    {"znver5", "x86-64-v4", "znver5", kLevel4 | kAvx512Bf16},
    {"sapphirerapids", "x86-64-v4", "sapphirerapids", kLevel4 | kAvx512Bf16},
};

// Architectures without a back end yet: refused as not built, not as misspelt.
constexpr std::string_view kLaterTargets[] = {"aarch64", "arm64", "riscv64"};

struct FeatureRow {
  CpuFeature feature;
  std::string_view name;
};
constexpr FeatureRow kFeatureNames[] = {
    {kSse42, "SSE4.2"},
    {kAvx, "AVX"},
    {kAvx2, "AVX2"},
    {kFma, "FMA"},
    {kF16c, "F16C"},
    {kAvx512, "AVX-512 (F, BW, CD, DQ, VL)"},
    {kAvx512Bf16, "AVX512-BF16"},
};

Target to_target(const TargetRow& row) { return {std::string(row.level), std::string(row.tune_cpu), row.features}; }

#if defined(__x86_64__)
bool bit(uint32_t word, int index) { return (word >> index) & 1u; }

uint64_t read_xcr0() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

// Bits as in Intel's Software Developer's Manual, volume 2, CPUID; XCR0 in volume 1, chapter 13.
uint32_t read_cpu_features() {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return 0;
  const uint32_t ecx1 = ecx;
  uint32_t features = 0;
  const bool ssse3 = bit(ecx1, 9), cx16 = bit(ecx1, 13), sse41 = bit(ecx1, 19), sse42 = bit(ecx1, 20);
  const bool popcnt = bit(ecx1, 23), sse3 = bit(ecx1, 0);
  if (sse3 && ssse3 && cx16 && sse41 && sse42 && popcnt) features |= kSse42;

  const bool osxsave = bit(ecx1, 27);
  const uint64_t xcr0 = osxsave ? read_xcr0() : 0;
  const bool ymm_saved = (xcr0 & 0x6) == 0x6;
  const bool zmm_saved = (xcr0 & 0xe6) == 0xe6;
  if (!(features & kSse42) || !ymm_saved || !bit(ecx1, 28)) return features;
  features |= kAvx;
  if (bit(ecx1, 12)) features |= kFma;
  if (bit(ecx1, 29)) features |= kF16c;
  const bool movbe = bit(ecx1, 22);

  bool lzcnt = false;
  if (__get_cpuid(0x80000001u, &eax, &ebx, &ecx, &edx)) lzcnt = bit(ecx, 5);
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return features;
  const uint32_t ebx7 = ebx;
  const bool bmi1 = bit(ebx7, 3), avx2 = bit(ebx7, 5), bmi2 = bit(ebx7, 8);
  if (avx2 && bmi1 && bmi2 && lzcnt && movbe) features |= kAvx2;
  const bool avx512 = bit(ebx7, 16) && bit(ebx7, 17) && bit(ebx7, 28) && bit(ebx7, 30) && bit(ebx7, 31);
  if (avx512 && zmm_saved && (features & kAvx2)) features |= kAvx512;
  if ((features & kAvx512) && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && bit(eax, 5)) features |= kAvx512Bf16;
  return features;
}

// The scheduling model that fits this CPU, by AMD's family and model numbers (Processor Programming References);
// "generic" for the rest. Only speed depends on it.
std::string_view host_tune_cpu(uint32_t features) {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx)) return "generic";
  const bool is_amd = ebx == signature_AMD_ebx;
  const bool is_intel = ebx == signature_INTEL_ebx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return "generic";
  const uint32_t family = ((eax >> 8) & 0xf) + ((eax >> 20) & 0xff);
  if (is_amd && family == 0x1a) return "znver5";
  if (is_amd && family == 0x19) return (features & kAvx512) ? "znver4" : "znver3";
  if (is_amd && family == 0x17) return "znver2";
  if (is_intel && (features & kAvx512Bf16)) return "sapphirerapids";
  if (is_intel && (features & kAvx512)) return "skylake-avx512";
  if (is_intel && (features & kAvx2)) return "haswell";
  return "generic";
}
#else
uint32_t read_cpu_features() { return 0; }
std::string_view host_tune_cpu(uint32_t) { return "generic"; }
#endif

}  // namespace

std::string Target::to_string() const {
  std::string text = level + " tune=" + tune_cpu;
  if (has(kAvx512Bf16)) text += " +avx512bf16";
  return text;
}

uint32_t detect_cpu_features() {
  static const uint32_t features = read_cpu_features();
  return features;
}

Expected<Target> host_target() {
  const uint32_t features = detect_cpu_features();
  const TargetRow* best = nullptr;
  for (const TargetRow& row : kTargets) {
    if (row.word == row.level && (features & row.features) == row.features) best = &row;
  }
  if (best == nullptr) return Status::unsupported("this CPU is below x86-64-v2; allowed: x86-64-v2 and better");
  Target target = to_target(*best);
  target.features |= target.has(kAvx512) ? features & kAvx512Bf16 : 0;
  target.tune_cpu = host_tune_cpu(features);
  return target;
}

std::vector<std::string> target_names() {
  std::vector<std::string> names = {"host"};
  for (const TargetRow& row : kTargets) names.emplace_back(row.word);
  return names;
}

Expected<Target> parse_target(std::string_view word) {
  if (word == "host") return host_target();
  for (const TargetRow& row : kTargets) {
    if (row.word == word) return to_target(row);
  }
  if (std::find(std::begin(kLaterTargets), std::end(kLaterTargets), word) != std::end(kLaterTargets)) {
    return Status::unsupported(
        fmt::format("target '{}': not built yet; allowed: {}", word, fmt::join(target_names(), ", ")));
  }
  return Status::invalid(fmt::format("target '{}' is not known; allowed: {}", word, fmt::join(target_names(), ", ")));
}

Status check_runs_here(const Target& target) {
  const uint32_t missing = target.features & ~detect_cpu_features();
  if (missing == 0) return Status::ok();
  std::vector<std::string_view> names;
  for (const FeatureRow& row : kFeatureNames) {
    if (missing & row.feature) names.push_back(row.name);
  }
  return Status::unsupported(fmt::format("a kernel for {} cannot run on this CPU, which lacks {}", target.to_string(),
                                         fmt::join(names, ", ")));
}

}  // namespace gemmc
