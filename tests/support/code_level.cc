#include "tests/support/code_level.h"

#include <sstream>
#include <stdexcept>

#include "tests/support/process.h"

namespace gemmc::testing {

std::string level_of_code(const std::filesystem::path& library) {
  const ProcessResult result = run_process({"objdump", "--disassemble", "--no-show-raw-insn", library.string()});
  if (result.status != 0) throw std::runtime_error("objdump: " + result.err);
  return level_of_disassembly(result.out);
}

std::string level_of_disassembly(const std::string& text) {
  // AVX-512 is known by its registers and masks, AVX by mnemonics that begin with v.
  bool has_avx = false;
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // "  1234:<tab>vaddps %ymm0,%ymm1,%ymm2"
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    const std::string instruction = line.substr(tab + 1);
    for (const char* sign : {"%zmm", "%k0", "%k1", "%k2", "%k3", "%k4", "%k5", "%k6", "%k7"}) {
      if (instruction.find(sign) != std::string::npos) return "x86-64-v4";
    }
    has_avx = has_avx || instruction.starts_with('v');
  }
  return has_avx ? "x86-64-v3" : "x86-64-v2";
}

}  // namespace gemmc::testing
