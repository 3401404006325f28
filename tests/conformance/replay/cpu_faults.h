// Faults of an emulated CPU, which are not to be blamed on kernels. Each is tried on the CPU at hand, never assumed,
// and allowances are as narrow as the fault; they are counted apart. Real CPUs have none; Bochs 2.7 has all but the one
// that QEMU 7.2 has.
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
  // CVTDQ2PD of two integers reads 16 bytes of memory instead of 8. QEMU's.
  bool reads_past_cvtdq2pd = false;
  // VCVTTPD2UQQ and its like give 2^64-1 for every number from 2^63 on.
  bool saturates_at_half = false;
  // VPEXTRW to memory in its EVEX form takes an 8-bit displacement for bytes, where it counts elements of 2 bytes.
  bool misplaces_pextrw = false;

  std::string text() const;  // "none"
};

// `target`: a level that the CPU has.
CpuFaults find_cpu_faults(const Target& target);

// Whether float16 results differ from the right ones only as rounds_halves_away explains.
bool differ_by_halves_away(const std::vector<uint8_t>& found, const std::vector<uint8_t>& right);
// Whether uint64 results differ from the right ones only as saturates_at_half explains.
bool differ_by_saturation(const std::vector<uint8_t>& found, const std::vector<uint8_t>& right);
// Whether the instruction is one of those that reads_past_movddup or reads_past_cvtdq2pd is about.
bool is_movddup_of_8_bytes(const uint8_t* instruction);
bool is_cvtdq2pd_of_8_bytes(const uint8_t* instruction);
// Whether the code, or data that looks like it, has an instruction that misplaces_pextrw is about.
bool has_misplaced_pextrw(const std::vector<uint8_t>& code);

}  // namespace gemmc::testing
