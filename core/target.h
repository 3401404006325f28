// The CPU that a kernel is compiled for: a named level, as data.
//
// Who uses it: schedules (register count, vector width, caches), compiler (LLVM features), runtime (may this kernel run
// here?), the key. A value; detection reads CPUID and XGETBV once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace gemmc {

// The instruction-set extensions that code generation tells apart, as bits of Target::features.
enum CpuFeature : uint32_t {
  kSse42 = 1u << 0,  // with everything of x86-64-v2
  kAvx = 1u << 1,
  kAvx2 = 1u << 2,  // with BMI, BMI2, LZCNT, MOVBE
  kFma = 1u << 3,
  kF16c = 1u << 4,
  kAvx512 = 1u << 5,  // F, BW, CD, DQ, VL
  kAvx512Bf16 = 1u << 6,
};

struct Target {
  std::string level;      // "x86-64-v2", "x86-64-v3", "x86-64-v4"
  std::string tune_cpu;   // LLVM's scheduling model, "generic" or e.g. "znver3"; never adds instructions
  uint32_t features = 0;  // CpuFeature bits

  bool has(CpuFeature feature) const { return (features & feature) != 0; }
  int vector_bytes() const { return has(kAvx512) ? 64 : has(kAvx2) ? 32 : 16; }
  int vector_registers() const { return has(kAvx512) ? 32 : 16; }
  // The word of parse_target() for the features, whatever the scheduling model: "x86-64-v3", "x86-64-v4+bf16".
  std::string level_word() const { return level + (has(kAvx512Bf16) ? "+bf16" : ""); }
  // Canonical text, part of the key: "x86-64-v3 tune=generic".
  std::string to_string() const;
  bool operator==(const Target&) const = default;
};

// The extensions this process may use: CPUID and the operating system's XCR0 agree.
uint32_t detect_cpu_features();
// The best level this machine runs, or unsupported below x86-64-v2.
Expected<Target> host_target();
// "host", a level or a CPU name ("x86-64-v3", "x86-64-v4+bf16", "haswell", "znver4"). Other words are refused with the
// list of those allowed; "aarch64" and other architectures as not built yet.
Expected<Target> parse_target(std::string_view word);
// The words parse_target() takes, for messages and help.
std::vector<std::string> target_names();
// Whether a kernel for `target` may run on this machine, else unsupported with the missing extensions' names.
Status check_runs_here(const Target& target);

}  // namespace gemmc
