// Faults of an emulated CPU, which are not to be blamed on kernels. Each is tried on the CPU at hand, never assumed,
// and allowances are as narrow as the fault; they are counted apart. Bochs 2.7 has both, real CPUs and QEMU neither.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/target.h"
#include "tests/support/fault_trap.h"

namespace gemmc::testing {

struct CpuFaults {
  // VCVTPS2PH takes a value half-way between two float16 numbers to the one farther from 0 instead of to the even one.
  bool rounds_halves_away = false;
  // VMOVDDUP in its EVEX form reads 16 bytes of memory instead of 8.
  bool reads_past_movddup = false;

  std::string text() const;  // "none"
};

// `target`: a level that the CPU has.
CpuFaults find_cpu_faults(const Target& target);

// Whether float16 results differ from the right ones only as rounds_halves_away explains.
bool differ_by_halves_away(const std::vector<uint8_t>& found, const std::vector<uint8_t>& right);
// Whether the instruction is one of those that reads_past_movddup is about.
bool is_movddup_of_8_bytes(const uint8_t* instruction);

}  // namespace gemmc::testing
