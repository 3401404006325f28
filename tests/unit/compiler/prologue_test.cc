// A kernel's stack frame is made before anything else: the loop that probes a large frame overwrites r11, which behind
// the first checks of the arguments may already hold one of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "compiler/compile.h"
#include "core/problem_string.h"
#include "tests/support/compiled.h"

namespace gemmc {
namespace {

// How the loop of a stack probe begins; `addq %rsp, %r11` is an address.
constexpr const char* kProbe = "movq\t%rsp, %r11";

// The first instruction of the assembly that uses r11 before the stack probe has set it, or that leaves the straight
// line before a stack probe; "" if there is none.
std::string find_late_prologue(const std::string& assembly) {
  std::istringstream lines(assembly);
  std::string line, first_jump, first_use;
  while (std::getline(lines, line)) {
    const bool is_function = line.ends_with(":") && !line.starts_with(".");
    if (is_function) first_jump = first_use = "";
    const bool is_probe = line.find(kProbe) != std::string::npos;
    if (is_probe && !(first_use + first_jump).empty()) return first_use.empty() ? first_jump : first_use;
    if (first_use.empty() && line.find("%r11") != std::string::npos) first_use = line;
    if (first_jump.empty() && line.starts_with("\tj")) first_jump = line;
  }
  return "";
}

TEST(Prologue, ALateOneIsFound) {
  EXPECT_EQ(find_late_prologue("f:\n\tpushq\t%rbp\n\tmovq\t%rsp, %r11\n\tjne\t.LBB0_1\n"), "");
  EXPECT_EQ(find_late_prologue("f:\n\tmovq\t%rdi, %r11\n\tpushq\t%rbp\n\tmovq\t%rsp, %r11\n"), "\tmovq\t%rdi, %r11");
  EXPECT_EQ(find_late_prologue("f:\n\tje\t.LBB0_1\n\tmovq\t%rsp, %r11\n"), "\tje\t.LBB0_1");
  EXPECT_EQ(find_late_prologue("f:\n\tje\t.LBB0_1\n\tret\ng:\n\tmovq\t%rsp, %r11\n"), "");
}

TEST(Prologue, ComesFirst) {
  int probes = 0;
  for (const char* target : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    for (const std::string text : {"matmul f64 a=?dx8x?mx?k b=8x8x?kx33", "matmul i64 a=?dx8x?mx?k b=8x8x?kx16",
                                   "matmul f32 a=3x?bx11x?k b=3x2x?kx3", "matmul f32 a=3x2x?mx?k b=3x?bx?kx8",
                                   "matmul bf16 a=?bx?mx?k b=4x?kx?n", "matmul f32 a=?bx?cx?mx?k b=?dx?ex?kx?n",
                                   "gemm f32 m=?m n=?n k=?k c=*", "gemm f16 m=?m n=384 k=384 tb c=n"}) {
      const Expected<Problem> problem = parse_problem(text);
      ASSERT_TRUE(problem) << problem.status().message();
      Explanation texts;
      const auto artifact = testing::compile_problem(*problem, *parse_target(target), {}, &texts);
      ASSERT_TRUE(artifact) << artifact.status().message();
      EXPECT_EQ(find_late_prologue(texts.assembly), "") << text << " for " << target;
      probes += texts.assembly.find(kProbe) != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(probes, 0) << "no frame was large enough to be probed in a loop";
}

}  // namespace
}  // namespace gemmc
