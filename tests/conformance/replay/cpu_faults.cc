#include "tests/conformance/replay/cpu_faults.h"

#include <cstring>

#include "tests/support/guarded_buffer.h"

namespace gemmc::testing {
namespace {

bool rounds_halves_away() {
  const float value = 2049;  // between 2048, which is even (0x6800), and 2050
  uint32_t result = 0;
  asm("vmovss %1, %%xmm0\n\tvcvtps2ph $0, %%xmm0, %%xmm0\n\tvmovd %%xmm0, %0" : "=r"(result) : "m"(value) : "xmm0");
  return (result & 0xffff) == 0x6801;
}

bool reads_past_movddup() {
  GuardedBuffer buffer;
  const uint8_t* const last = buffer.place(8, GuardedBuffer::Side::kEnd, 0);
  // Register 16 and above need the EVEX form; nothing else here uses them.
  return run_trapping_faults([&] { asm volatile("vmovddup (%0), %%xmm16" : : "r"(last) : "memory"); }).has_value();
}

}  // namespace

std::string CpuFaults::text() const {
  std::string text;
  if (rounds_halves_away) text += "VCVTPS2PH rounds halves away from 0; ";
  if (reads_past_movddup) text += "VMOVDDUP reads 16 bytes; ";
  return text.empty() ? "none" : text.substr(0, text.size() - 2);
}

CpuFaults find_cpu_faults(const Target& target) {
  CpuFaults faults;
  if (target.has(kF16c)) faults.rounds_halves_away = rounds_halves_away();
  if (target.has(kAvx512)) faults.reads_past_movddup = reads_past_movddup();
  return faults;
}

bool differ_by_halves_away(const std::vector<uint8_t>& found, const std::vector<uint8_t>& right) {
  if (found.size() != right.size() || found.size() % 2 != 0) return false;
  for (size_t i = 0; i < found.size(); i += 2) {
    uint16_t f, r;
    std::memcpy(&f, &found[i], sizeof f);
    std::memcpy(&r, &right[i], sizeof r);
    // The next number away from 0 has the next bit pattern. What is half-way goes to an even one.
    if (f != r && !(f == r + 1 && r % 2 == 0)) return false;
  }
  return true;
}

bool is_movddup_of_8_bytes(const uint8_t* instruction) {
  // EVEX.128.F2.0F.W1 12 /r.
  return instruction[0] == 0x62 && (instruction[1] & 0x07) == 0x01 && (instruction[2] & 0x87) == 0x87 &&
         (instruction[3] & 0x60) == 0x00 && instruction[4] == 0x12;
}

}  // namespace gemmc::testing
