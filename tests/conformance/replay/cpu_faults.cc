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

// Whether `instruction`, which reads the 8 bytes that it is given, reads more.
template <typename Instruction>
bool reads_past_8_bytes(Instruction instruction) {
  GuardedBuffer buffer;
  const uint8_t* const last = buffer.place(8, GuardedBuffer::Side::kEnd, 0);
  return run_trapping_faults([&] { instruction(last); }).has_value();
}

bool reads_past_movddup() {
  // Register 16 and above need the EVEX form; nothing else here uses them.
  return reads_past_8_bytes([](const uint8_t* at) { asm volatile("vmovddup (%0), %%xmm16" : : "r"(at) : "memory"); });
}

bool reads_past_cvtdq2pd() {
  return reads_past_8_bytes([](const uint8_t* at) {
    asm volatile("cvtdq2pd (%0), %%xmm1" : : "r"(at) : "xmm1", "memory");
  });
}

bool saturates_at_half() {
  const double value = 0x1.8p63;
  uint64_t result = 0;
  asm("vcvttsd2usi %1, %0" : "=r"(result) : "m"(value));
  return result == ~uint64_t{0};
}

bool misplaces_pextrw() {
  uint16_t places[4] = {};
  // One element on: the assembler writes a displacement of 1 for these 2 bytes.
  asm volatile("vpternlogd $0xff, %%xmm16, %%xmm16, %%xmm16\n\tvpextrw $0, %%xmm16, 2(%0)" : : "r"(places) : "memory");
  return places[0] != 0 || places[1] != 0xffff;
}

// Whether is_explained(found, right) holds for each pair of elements that differ.
template <typename Element, typename IsExplained>
bool differ_only_where(const std::vector<uint8_t>& found, const std::vector<uint8_t>& right, IsExplained is_explained) {
  if (found.size() != right.size() || found.size() % sizeof(Element) != 0) return false;
  for (size_t i = 0; i < found.size(); i += sizeof(Element)) {
    Element f, r;
    std::memcpy(&f, &found[i], sizeof f);
    std::memcpy(&r, &right[i], sizeof r);
    if (f != r && !is_explained(f, r)) return false;
  }
  return true;
}

}  // namespace

std::string CpuFaults::text() const {
  std::string text;
  if (rounds_halves_away) text += "VCVTPS2PH rounds halves away from 0; ";
  if (reads_past_movddup) text += "VMOVDDUP reads 16 bytes; ";
  if (reads_past_cvtdq2pd) text += "CVTDQ2PD reads 16 bytes; ";
  if (saturates_at_half) text += "VCVTTPD2UQQ saturates at 2^63; ";
  if (misplaces_pextrw) text += "VPEXTRW misplaces what it stores; ";
  return text.empty() ? "none" : text.substr(0, text.size() - 2);
}

CpuFaults find_cpu_faults(const Target& target) {
  CpuFaults faults;
  faults.reads_past_cvtdq2pd = reads_past_cvtdq2pd();
  if (target.has(kF16c)) faults.rounds_halves_away = rounds_halves_away();
  if (!target.has(kAvx512)) return faults;
  faults.reads_past_movddup = reads_past_movddup();
  faults.saturates_at_half = saturates_at_half();
  faults.misplaces_pextrw = misplaces_pextrw();
  return faults;
}

bool differ_by_halves_away(const std::vector<uint8_t>& found, const std::vector<uint8_t>& right) {
  // The next number away from 0 has the next bit pattern. What is half-way goes to an even one.
  return differ_only_where<uint16_t>(found, right, [](uint16_t f, uint16_t r) { return f == r + 1 && r % 2 == 0; });
}

bool differ_by_saturation(const std::vector<uint8_t>& found, const std::vector<uint8_t>& right) {
  return differ_only_where<uint64_t>(found, right,
                                     [](uint64_t f, uint64_t r) { return f == ~uint64_t{0} && r >> 63 == 1; });
}

bool has_misplaced_pextrw(const std::vector<uint8_t>& code) {
  // EVEX.128.66.0F3A.WIG 15 /r ib with a displacement of 8 bits.
  for (size_t i = 0; i + 5 < code.size(); ++i) {
    const bool is_pextrw = code[i] == 0x62 && (code[i + 1] & 0x07) == 0x03 && (code[i + 2] & 0x07) == 0x05 &&
                           (code[i + 3] & 0x60) == 0x00 && code[i + 4] == 0x15;
    if (is_pextrw && code[i + 5] >> 6 == 1) return true;
  }
  return false;
}

bool is_cvtdq2pd_of_8_bytes(const uint8_t* instruction) {
  // VEX.128.F3.0F E6 /r, whose prefix has two or three bytes; or F3 0F E6 /r, with or without a REX prefix.
  const uint8_t* const i = instruction;
  if (i[0] == 0xc5) return (i[1] & 0x07) == 0x02 && i[2] == 0xe6;
  if (i[0] == 0xc4) return (i[1] & 0x1f) == 0x01 && (i[2] & 0x07) == 0x02 && i[3] == 0xe6;
  const uint8_t* const opcode = i + ((i[1] & 0xf0) == 0x40 ? 2 : 1);
  return i[0] == 0xf3 && opcode[0] == 0x0f && opcode[1] == 0xe6;
}

bool is_movddup_of_8_bytes(const uint8_t* instruction) {
  // EVEX.128.F2.0F.W1 12 /r.
  return instruction[0] == 0x62 && (instruction[1] & 0x07) == 0x01 && (instruction[2] & 0x87) == 0x87 &&
         (instruction[3] & 0x60) == 0x00 && instruction[4] == 0x12;
}

}  // namespace gemmc::testing
