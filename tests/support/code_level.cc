#include "tests/support/code_level.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "tests/support/process.h"

namespace gemmc::testing {
namespace {

bool is_legacy_prefix(const std::string& byte) {
  static const std::vector<std::string> kPrefixes = {"26", "2e", "36", "3e", "64", "65", "66", "67", "f0", "f2", "f3"};
  return std::find(kPrefixes.begin(), kPrefixes.end(), byte) != kPrefixes.end();
}

constexpr const char* kLevels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+bf16"};

// The place in kLevels. In 64-bit code the byte 62 begins EVEX encodings and nothing else, C4 and C5 begin VEX
// encodings, which AVX and most of BMI have. Instructions on mask registers have VEX too. TZCNT is no sign: older CPUs
// take it for BSF, and compilers write it for that.
int level_of_instruction(const std::string& encoding, const std::string& text) {
  std::stringstream bytes(encoding);
  std::string first;
  while (bytes >> first && is_legacy_prefix(first)) {
  }
  if (text.starts_with("vdpbf16ps") || text.starts_with("vcvtne")) return 3;
  if (first == "62" || text.find("%k") != std::string::npos) return 2;
  const bool is_scalar_of_level_3 = text.starts_with("lzcnt") || text.starts_with("movbe");
  return first == "c4" || first == "c5" || is_scalar_of_level_3 ? 1 : 0;
}

}  // namespace

std::string level_of_code(const std::filesystem::path& file) {
  const ProcessResult result = run_process({"objdump", "--disassemble", "--insn-width=15", file.string()});
  if (result.status != 0) throw std::runtime_error("objdump: " + result.err);
  int level = 0;
  std::stringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    // "  1234:<tab>c5 fc 58 c1 <tab>vaddps %ymm1,%ymm0,%ymm0"
    const size_t encoding = line.find('\t');
    const size_t text = encoding == std::string::npos ? encoding : line.find('\t', encoding + 1);
    if (text == std::string::npos) continue;
    level =
        std::max(level, level_of_instruction(line.substr(encoding + 1, text - encoding - 1), line.substr(text + 1)));
  }
  return kLevels[level];
}

}  // namespace gemmc::testing
