#include "compiler/pair_pass.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/fma_mark.h"

namespace gemmc {
namespace {

struct Outcome {
  Status status;
  std::string ir;
};

// The module after the pass. In the text, $M is the mark.
Outcome run(std::string ir) {
  const std::string mark = std::to_string(kPairMark);
  for (size_t at = ir.find("$M"); at != std::string::npos; at = ir.find("$M")) ir.replace(at, 2, mark);
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, diagnostic, context);
  if (module == nullptr) return {Status::invalid("test IR: " + diagnostic.getMessage().str()), ir};
  Outcome outcome{multiply_marked_pairs(*module), ""};
  llvm::raw_string_ostream stream(outcome.ir);
  EXPECT_FALSE(llvm::verifyModule(*module, &stream)) << outcome.ir;
  module->print(stream, nullptr);
  return outcome;
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// A sum of `lanes` lanes and a marked product, the sum's operands in either order.
std::string sum_of(const std::string& lanes, bool is_first) {
  const std::string integers = "<" + lanes + " x i32>", floats = "<" + lanes + " x float>";
  return "define " + floats + " @f(" + floats + " %t, " + integers + " %a, " + integers + " %b) {\n" + "  %p = mul " +
         integers + " %a, %b\n" + "  %x = xor " + integers + " %p, splat (i32 $M)\n" + "  %m = bitcast " + integers +
         " %x to " + floats + "\n" + "  %y = fadd " + floats + (is_first ? " %m, %t\n" : " %t, %m\n") + "  ret " +
         floats + " %y\n}\n";
}

TEST(PairPass, ASumIsOneInstruction) {
  for (const char* lanes : {"4", "8", "16"}) {
    for (const bool is_first : {false, true}) {
      const Outcome outcome = run(sum_of(lanes, is_first));
      EXPECT_TRUE(outcome.status.is_ok()) << outcome.status.message();
      EXPECT_EQ(count(outcome.ir, "@llvm.x86.avx512bf16.dpbf16ps." + std::to_string(32 * std::stoi(lanes)) + "("), 2u)
          << "its call and its declaration: " << outcome.ir;
      for (const char* gone : {" mul ", " xor ", " fadd "}) EXPECT_EQ(count(outcome.ir, gone), 0u) << outcome.ir;
    }
  }
}

// As optimisations leave them: scalars, lanes that moved, vectors of other widths.
TEST(PairPass, ProductsWhoseLanesMovedAreSumsFromZero) {
  const Outcome scalar = run(R"(
    define float @f(float %t, i32 %a, i32 %b) {
      %p = mul i32 %a, %b
      %x = xor i32 %p, $M
      %m = bitcast i32 %x to float
      %y = fadd float %t, %m
      ret float %y
    })");
  EXPECT_TRUE(scalar.status.is_ok()) << scalar.status.message();
  EXPECT_EQ(count(scalar.ir, "call <4 x float> @llvm.x86.avx512bf16.dpbf16ps.128(<4 x float> zeroinitializer"), 1u)
      << scalar.ir;
  EXPECT_EQ(count(scalar.ir, " fadd "), 1u) << scalar.ir;
  for (const auto& [lanes, calls] : {std::pair("2", 1u), std::pair("32", 8u)}) {
    const Outcome outcome = run(sum_of(lanes, false));
    EXPECT_TRUE(outcome.status.is_ok()) << outcome.status.message();
    EXPECT_EQ(count(outcome.ir, "call <4 x float> @llvm.x86.avx512bf16.dpbf16ps.128"), calls) << outcome.ir;
    for (const char* gone : {" mul ", " xor "}) EXPECT_EQ(count(outcome.ir, gone), 0u) << outcome.ir;
  }
  const Outcome moved = run(R"(
    define <16 x float> @f(<16 x float> %t, <4 x i32> %a, <4 x i32> %b) {
      %p = mul <4 x i32> %a, %b
      %x = xor <4 x i32> %p, splat (i32 $M)
      %m = bitcast <4 x i32> %x to <4 x float>
      %w = shufflevector <4 x float> %m, <4 x float> zeroinitializer,
           <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4,
                       i32 4, i32 4>
      %y = fadd <16 x float> %t, %w
      ret <16 x float> %y
    })");
  EXPECT_TRUE(moved.status.is_ok()) << moved.status.message();
  EXPECT_EQ(count(moved.ir, "call <4 x float> @llvm.x86.avx512bf16.dpbf16ps.128"), 1u) << moved.ir;
}

TEST(PairPass, AMarkWithoutItsProductIsAnError) {
  const Outcome outcome = run("define i32 @f(i32 %p) {\n  %x = xor i32 %p, $M\n  ret i32 %x\n}\n");
  EXPECT_EQ(outcome.status.code(), StatusCode::kInternal);
  EXPECT_EQ(outcome.status.message(), "a marked pair without its product in f");
}

TEST(PairPass, LeavesOtherCodeAlone) {
  const Outcome outcome = run("define float @f(float %t, float %a) {\n  %y = fadd float %t, %a\n  ret float %y\n}\n");
  EXPECT_TRUE(outcome.status.is_ok());
  EXPECT_EQ(count(outcome.ir, "fadd float %t, %a"), 1u) << outcome.ir;
}

}  // namespace
}  // namespace gemmc
