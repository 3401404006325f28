#include "tests/support/code_level.h"

#include <gtest/gtest.h>

namespace gemmc::testing {
namespace {

TEST(CodeLevel, IsTheHighestThatAnInstructionNeeds) {
  const std::string sse = "0000 <f>:\n  10:\tmulps  %xmm0,%xmm1\n  13:\tretq\n";
  EXPECT_EQ(level_of_disassembly(sse), "x86-64-v2");
  EXPECT_EQ(level_of_disassembly(sse + "  14:\tvmovups (%rdi),%xmm0\n"), "x86-64-v3");
  EXPECT_EQ(level_of_disassembly(sse + "  14:\tvmovups (%rdi),%zmm0\n  1a:\tretq\n"), "x86-64-v4");
  EXPECT_EQ(level_of_disassembly(sse + "  14:\tvmovups (%rdi),%ymm0{%k1}{z}\n"), "x86-64-v4");
}

TEST(CodeLevel, ReadsALibrary) {
  EXPECT_NE(level_of_code("/proc/self/exe"), "");
  EXPECT_THROW(level_of_code("/no/such/library.so"), std::runtime_error);
}

}  // namespace
}  // namespace gemmc::testing
