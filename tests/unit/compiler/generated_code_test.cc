// What every kernel's code must be, whatever its family, type and CPU.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/SourceMgr.h>

#include <filesystem>
#include <fstream>

#include "compiler/compile.h"
#include "compiler/fma_mark.h"
#include "core/key.h"
#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "schedules/heuristic_schedule.h"
#include "tests/support/code_level.h"
#include "tests/support/compiled.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/compiler/object_symbols.h"

namespace gemmc {
namespace {

struct Kernel {
  Problem problem;
  Target target;
  Artifact artifact;
  Explanation texts;
};

// Whether the CPU's own products of bfloat16 are in it.
bool has_pairs(const Kernel& kernel) { return parse_schedule(kernel.artifact.schedule)->pairs_products; }

// Nothing where the family refuses the problem.
std::optional<Kernel> compile_kernel(const std::string& text, Family family, const std::string& target_word) {
  Expected<Problem> problem = parse_problem(text);
  if (!problem) {
    ADD_FAILURE() << problem.status().message();
    return std::nullopt;
  }
  Kernel kernel{*problem, *parse_target(target_word), {}, {}};
  const Problem canonical_problem = canonical(kernel.problem).problem;
  for (const FamilyVerdict& verdict : judge_families(canonical_problem, kernel.target)) {
    if (verdict.family == family && verdict.refusal) return std::nullopt;
  }
  CompileOptions options;
  options.schedule = heuristic_schedule(family, canonical_problem, kernel.target);
  Expected<Artifact> artifact = testing::compile_problem(kernel.problem, kernel.target, options, &kernel.texts);
  if (!artifact) {
    ADD_FAILURE() << artifact.status().message();
    return std::nullopt;
  }
  kernel.artifact = *std::move(artifact);
  return kernel;
}

// Needs nothing of its surroundings but what LLVM calls of itself: no heap, no libm, no Halide runtime.
void check_symbols(const Kernel& kernel) {
  const testing::ObjectSymbols symbols = testing::object_symbols(kernel.artifact.object);
  EXPECT_EQ(symbols.defined, (std::set<std::string>{kernel.artifact.symbol, kernel.artifact.symbol + "_call"}));
  for (const std::string& name : symbols.undefined) {
    EXPECT_TRUE(name == "memcpy" || name == "memmove" || name == "memset") << name << " is undefined";
  }
}

// IEEE arithmetic as written, calls of nothing but intrinsics, and the multiply-adds of the K loop fused where the CPU
// can.
void check_ir(const Kernel& kernel) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(kernel.texts.llvm_ir, diagnostic, context);
  ASSERT_NE(module, nullptr) << diagnostic.getMessage().str();
  bool has_fma = false;
  for (const llvm::Function& function : *module) {
    if (function.isDeclaration()) {
      EXPECT_TRUE(function.isIntrinsic()) << function.getName().str() << " is called";
      has_fma = has_fma || function.getName().starts_with("llvm.fma.");
      EXPECT_FALSE(function.getName().starts_with("llvm.fmuladd")) << function.getName().str();
      continue;
    }
    EXPECT_EQ(function.getFnAttribute("target-cpu").getValueAsString().str(), kernel.target.level);
    for (const char* attribute :
         {"unsafe-fp-math", "no-nans-fp-math", "no-infs-fp-math", "denormal-fp-math", "denormal-fp-math-f32"}) {
      EXPECT_FALSE(function.hasFnAttribute(attribute)) << attribute;
    }
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (const auto* arithmetic = llvm::dyn_cast<llvm::FPMathOperator>(&instruction)) {
        EXPECT_FALSE(arithmetic->getFastMathFlags().any()) << std::string(instruction.getOpcodeName());
      }
      if (const auto* stack = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        EXPECT_TRUE(stack->isStaticAlloca()) << "the stack grows while the kernel runs";
      }
    }
  }
  if (!has_pairs(kernel)) {
    EXPECT_EQ(has_fma, !is_integer(kernel.problem.dtype) && kernel.target.has(kFma));
  }
  EXPECT_EQ(kernel.texts.llvm_ir.find(std::to_string(kFmaMark32)), std::string::npos);
  EXPECT_EQ(kernel.texts.llvm_ir.find(std::to_string(static_cast<int64_t>(kFmaMark64))), std::string::npos);
}

// The instructions of the CPU level and none beyond it, vectors as wide as they can be.
void check_assembly(const Kernel& kernel) {
  const std::string& assembly = kernel.texts.assembly;
  const auto has = [&assembly](const char* text) { return assembly.find(text) != std::string::npos; };
  EXPECT_TRUE(has((kernel.artifact.symbol + "_call:").c_str()));
  EXPECT_EQ(has("%zmm"), kernel.target.has(kAvx512));
  if (!kernel.target.has(kAvx512)) {
    EXPECT_EQ(has("%ymm"), kernel.target.has(kAvx2));
  }
  EXPECT_FALSE(has("ldmxcsr")) << "the floating-point state is the caller's";
  EXPECT_EQ(has("vdpbf16ps"), has_pairs(kernel));
  // It flushes subnormals: bfloat16 is converted by integer instructions, exactly.
  EXPECT_FALSE(has("vcvtne"));

  const testing::TemporaryFolder folder;
  const std::filesystem::path object = folder.path() / "kernel.o";
  std::ofstream(object, std::ios::binary)
      .write(reinterpret_cast<const char*>(kernel.artifact.object.data()),
             static_cast<std::streamsize>(kernel.artifact.object.size()));
  const Target& target = kernel.target;
  EXPECT_EQ(testing::level_of_code(object), has_pairs(kernel) ? target.level_word() : target.level);
}

class GeneratedCode : public ::testing::TestWithParam<std::tuple<std::string, DType>> {};

TEST_P(GeneratedCode, OfEveryFamilyAndForm) {
  const auto& [target, dtype] = GetParam();
  const std::string type(short_name(dtype));
  const std::pair<Family, std::string> kProblems[] = {
      {Family::kTiled, "gemm " + type + " m=19 n=37 k=9 c=mn alpha=2 beta=3"},
      {Family::kTiled, "gemm " + type + " m=40 n=40 k=1 alpha=0"},
      {Family::kGeneral, "gemm " + type + " m=?m n=?n k=?k c=* alpha=2 beta=3"},
      {Family::kGeneral, "matmul " + type + " a=?bx?mx?k b=?cx?kx?n sa=?x?x? sb=?x?x? sy=?x?x?"},
  };
  int compiled = 0;
  for (const auto& [family, text] : kProblems) {
    SCOPED_TRACE(fmt::format("{} {} '{}'", target, name(family), text));
    const std::optional<Kernel> kernel = compile_kernel(text, family, target);
    if (!kernel) continue;
    ++compiled;
    check_symbols(*kernel);
    check_ir(*kernel);
    check_assembly(*kernel);
  }
  EXPECT_EQ(compiled, size_bytes(dtype) == 2 ? 2 : 4);
}

INSTANTIATE_TEST_SUITE_P(, GeneratedCode,
                         ::testing::Combine(::testing::Values("x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4"),
                                            ::testing::ValuesIn(kAllDTypes)),
                         [](const auto& info) {
                           std::string text =
                               std::get<0>(info.param) + "_" + std::string(name(std::get<1>(info.param)));
                           for (char& c : text) c = c == '-' ? '_' : c;
                           return text;
                         });

// Scalars that LLVM has special rules for. session_test checks the numbers.
TEST(GeneratedEpilogue, AlphaAndBetaOfEveryKind) {
  for (const char* scalars : {"alpha=-1 beta=-1", "alpha=0.5 beta=-2", "alpha=-3e38 beta=3e38", "alpha=0 beta=0.1"}) {
    for (const char* type : {"i32", "u64", "bf16", "f16", "f64"}) {
      const std::string text = fmt::format("gemm {} m=?m n=9 k=3 c=n {}", type, scalars);
      SCOPED_TRACE(text);
      ASSERT_TRUE(compile_kernel(text, Family::kGeneral, "x86-64-v2"));
    }
  }
}

// One rounding at alpha and one at the sum with C, unless beta makes them one fma.
TEST(GeneratedEpilogue, ContractsNothingByItself) {
  CompileOptions one_vector;
  one_vector.schedule = *parse_schedule("tiled mr=1 nr=8 lanes=8 mc=1");
  const auto ir = [&](const std::string& scalars) {
    Explanation texts;
    const Problem problem = *parse_problem("gemm f32 m=1 n=8 k=1 c=mn " + scalars);
    const Expected<Artifact> artifact =
        testing::compile_problem(problem, *parse_target("x86-64-v3"), one_vector, &texts);
    EXPECT_TRUE(artifact) << artifact.status().message();
    return texts.llvm_ir;
  };
  const auto count = [](const std::string& text, const std::string& what) {
    int found = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  const std::string scaled = ir("alpha=3");
  EXPECT_EQ(count(scaled, "call <8 x float> @llvm.fma"), 1) << scaled;
  EXPECT_EQ(count(scaled, " fmul <8 x float>"), 1) << scaled;
  EXPECT_EQ(count(scaled, " fadd <8 x float>"), 1) << scaled;
  const std::string fused = ir("alpha=3 beta=5");
  EXPECT_EQ(count(fused, "call <8 x float> @llvm.fma"), 2) << fused;
  EXPECT_EQ(count(fused, " fadd <8 x float>"), 0) << fused;
}

}  // namespace
}  // namespace gemmc
