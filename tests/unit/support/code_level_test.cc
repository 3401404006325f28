#include "tests/support/code_level.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace gemmc::testing {
namespace {

// Of an object that holds one instruction among others of level 2.
std::string level_with(const std::string& instruction) {
  const TemporaryFolder folder;
  const std::filesystem::path source = folder.path() / "code.s", object = folder.path() / "code.o";
  std::ofstream(source) << "mulps %xmm0, %xmm1\nmovq %rdi, %rax\n" << instruction << "\nretq\n";
  const ProcessResult assembled = run_process({"cc", "-c", "-o", object.string(), source.string()});
  EXPECT_EQ(assembled.status, 0) << assembled.err;
  return level_of_code(object);
}

TEST(CodeLevel, IsTheLowestThatHasEveryInstruction) {
  for (const char* instruction : {"nop", "popcntq %rax, %rdx", "pmulld %xmm1, %xmm2", "movups %xmm15, 8(%rax,%rbx,4)",
                                  "rep bsfq %rax, %rdx", "lock incl (%rax)", "movabsq $0x6262c4c5c4c56262, %rax"}) {
    EXPECT_EQ(level_with(instruction), "x86-64-v2") << instruction;
  }
  for (const char* instruction :
       {"vmulps %xmm0, %xmm1, %xmm2", "vmovups (%rdi), %ymm15", "vzeroupper", "vfmadd231ps %ymm1, %ymm2, %ymm3",
        "andnq %rax, %rbx, %rcx", "blsrq %rax, %rbx", "bzhiq %rax, %rbx, %rcx", "mulxq %rax, %rbx, %rcx",
        "pdepq %rax, %rbx, %rcx", "rorxq $3, %rax, %rbx", "sarxq %rax, %rbx, %rcx", "lzcntq %rax, %rbx",
        "movbeq (%rax), %rbx"}) {
    EXPECT_EQ(level_with(instruction), "x86-64-v3") << instruction;
  }
  for (const char* instruction : {"vmovups (%rdi), %zmm0", "vmovups (%rdi), %ymm0{%k1}{z}",
                                  "vmulps %xmm16, %xmm1, %xmm2", "vaddps %ymm31, %ymm1, %ymm2", "kmovw %eax, %k0",
                                  "vpternlogd $255, %ymm0, %ymm1, %ymm2", "vaddps (%eax){1to4}, %xmm1, %xmm2"}) {
    EXPECT_EQ(level_with(instruction), "x86-64-v4") << instruction;
  }
  for (const char* instruction : {"vdpbf16ps %ymm0, %ymm1, %ymm2", "vcvtneps2bf16 %zmm0, %ymm1"}) {
    EXPECT_EQ(level_with(instruction), "x86-64-v4+bf16") << instruction;
  }
}

TEST(CodeLevel, NeedsAFileWithCode) { EXPECT_THROW(level_of_code("/no/such/library.so"), std::runtime_error); }

}  // namespace
}  // namespace gemmc::testing
