#include "compiler/unroll_mark.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <string>

namespace gemmc {
namespace {

// The module after marking, as text.
std::string marked(const std::string& ir) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, diagnostic, context);
  if (module == nullptr) return "test IR: " + diagnostic.getMessage().str();
  mark_sum_loops_for_unrolling(*module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  EXPECT_FALSE(llvm::verifyModule(*module, &stream)) << text;
  module->print(stream, nullptr);
  return text;
}

// A loop that carries a sum of this type; `more` stands in its body.
std::string sum_loop(const std::string& type, const std::string& zero, const std::string& add,
                     const std::string& more = "") {
  return "define " + type + " @f(" + type + " %x, i64 %n) {\nentry:\n  br label %loop\nloop:\n" +
         "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n  %t = phi " + type + " [ " + zero +
         ", %entry ], [ %sum, %loop ]\n" + more + "  %sum = " + add + " " + type +
         " %t, %x\n  %next = add i64 %i, 1\n  %goes_on = icmp ult i64 %next, %n\n" +
         "  br i1 %goes_on, label %loop, label %end\nend:\n  ret " + type + " %sum\n}\n";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(UnrollMark, LoopsThatCarrySumsAreUnrolledByFour) {
  const std::string count = "!{!\"llvm.loop.unroll.count\", i32 4}";
  EXPECT_TRUE(has(marked(sum_loop("<8 x float>", "zeroinitializer", "fadd")), count));
  EXPECT_TRUE(has(marked(sum_loop("<4 x i64>", "zeroinitializer", "add")), count));
  EXPECT_TRUE(has(marked(sum_loop("double", "0.0", "fadd")), count));
}

TEST(UnrollMark, LargeBodiesAreUnrolledLess) {
  std::string more;
  for (int i = 0; i < 200; ++i) more += "  %m" + std::to_string(i) + " = add i64 %i, " + std::to_string(i) + "\n";
  EXPECT_TRUE(has(marked(sum_loop("float", "0.0", "fadd", more)), "!{!\"llvm.loop.unroll.count\", i32 2}"));
}

TEST(UnrollMark, LoopsThatOnlyCountAreLeftAlone) {
  EXPECT_FALSE(has(marked(sum_loop("i64", "0", "add")), "llvm.loop.unroll"));
}

TEST(UnrollMark, OuterLoopsAreLeftAlone) {
  const std::string text = marked(R"(
    define float @f(float %x, i64 %n) {
    entry:
      br label %outer
    outer:
      %i = phi i64 [ 0, %entry ], [ %i_next, %outer_end ]
      %s = phi float [ 0.0, %entry ], [ %t, %outer_end ]
      br label %inner
    inner:
      %j = phi i64 [ 0, %outer ], [ %j_next, %inner ]
      %j_next = add i64 %j, 1
      %more = icmp ult i64 %j_next, %n
      br i1 %more, label %inner, label %outer_end
    outer_end:
      %t = fadd float %s, %x
      %i_next = add i64 %i, 1
      %goes_on = icmp ult i64 %i_next, %n
      br i1 %goes_on, label %outer, label %end
    end:
      ret float %t
    })");
  EXPECT_TRUE(has(text, "define float @f")) << text;
  EXPECT_FALSE(has(text, "llvm.loop.unroll")) << text;
}

}  // namespace
}  // namespace gemmc
