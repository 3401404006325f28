// A kernel with variants: which body a call runs, and that every body is right.
#include "compiler/dispatch.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>

#include <map>

#include "api/session.h"
#include "compiler/compile.h"
#include "core/problem_string.h"
#include "tests/support/compiled.h"
#include "tests/support/kernel_call.h"
#include "tests/unit/compiler/object_symbols.h"

namespace gemmc {
namespace {

using Dims = std::vector<int64_t>;

Problem problem(const std::string& text) {
  Expected<Problem> parsed = parse_problem(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.status().message();
  return parsed ? *parsed : Problem{};
}

// The typed entry as IR, followed by hand.
class Entry {
 public:
  explicit Entry(const std::string& text) {
    CompileOptions options;
    options.symbol = "kernel";
    const Expected<Artifact> compiled =
        testing::compile_problem(problem(text), *parse_target("x86-64-v3"), options, &texts_);
    EXPECT_TRUE(compiled) << text << ": " << compiled.status().message();
    if (!compiled) return;
    artifact_ = *compiled;
    llvm::SMDiagnostic diagnostic;
    module_ = llvm::parseAssemblyString(texts_.llvm_ir, diagnostic, context_);
    EXPECT_NE(module_, nullptr) << diagnostic.getMessage().str();
  }

  const Artifact& artifact() const { return artifact_; }
  const std::string& assembly() const { return texts_.assembly; }
  const llvm::Module& module() const { return *module_; }

  // The name of the function that a call with these dims runs; `given` is filled with the dims that it gets.
  std::string body(const Dims& dims, Dims& given) const {
    const llvm::Function* body = module_->getFunction("kernel.body");  // where it takes more than the typed entry
    const llvm::Function* entry = body != nullptr ? body : module_->getFunction("kernel");
    std::map<const llvm::Value*, int64_t> known;
    std::vector<const llvm::Argument*> numbers;
    for (const llvm::Argument& argument : entry->args()) {
      if (argument.getType()->isIntegerTy()) numbers.push_back(&argument);
    }
    for (size_t i = 0; i < numbers.size(); ++i) known[numbers[i]] = i < dims.size() ? dims[i] : 1;
    const size_t more_than_dims = numbers.size() - dims.size();
    const auto value = [&](const llvm::Value* of) {
      if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(of)) return constant->getSExtValue();
      return known.at(of);
    };
    const llvm::BasicBlock* block = &entry->getEntryBlock();
    for (auto at = block->begin();;) {
      const llvm::Instruction& instruction = *at++;
      EXPECT_FALSE(instruction.mayReadFromMemory() && !llvm::isa<llvm::CallInst>(instruction)) << "a load";
      if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) {
        EXPECT_EQ(compare->getPredicate(), llvm::ICmpInst::ICMP_EQ);
        known[compare] = value(compare->getOperand(0)) == value(compare->getOperand(1));
      } else if (const auto* logic = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
        EXPECT_EQ(logic->getOpcode(), llvm::Instruction::And);
        known[logic] = value(logic->getOperand(0)) & value(logic->getOperand(1));
      } else if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
        known[select] = value(value(select->getCondition()) != 0 ? select->getTrueValue() : select->getFalseValue());
      } else if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction)) {
        block = branch->getSuccessor(branch->isConditional() && value(branch->getCondition()) == 0 ? 1 : 0);
        at = block->begin();
      } else if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&instruction)) {
        block = choice->getDefaultDest();
        for (const auto& one : choice->cases()) {
          if (one.getCaseValue()->getSExtValue() == value(choice->getCondition())) block = one.getCaseSuccessor();
        }
        at = block->begin();
      } else if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
        for (const llvm::Use& argument : call->args()) {
          if (argument->getType()->isIntegerTy()) given.push_back(value(argument));
        }
        given.resize(given.size() - more_than_dims);
        return call->getCalledFunction()->getName().str();
      } else {
        ADD_FAILURE() << "unexpected " << instruction.getOpcodeName();
        return "";
      }
    }
  }

 private:
  Artifact artifact_;
  Explanation texts_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

void expect_body(const Entry& entry, const Dims& dims, const std::string& body, const Dims& given) {
  Dims found;
  EXPECT_EQ(entry.body(dims, found), body);
  EXPECT_EQ(found, given) << body;
}

TEST(Dispatch, ALikelySizeRunsItsVariant) {
  const Entry entry("matmul f32 a=?bx2x?s:~24~16x8 b=?bx2x8x?s");
  expect_body(entry, {3, 16}, "kernel.d1_16", {3});
  expect_body(entry, {0, 24}, "kernel.d1_24", {0});
  for (int64_t other : {0, 1, 15, 17, 32, -1}) expect_body(entry, {3, other}, "kernel.general", {3, other});
}

TEST(Dispatch, ACombinationMustBeWhole) {
  const Entry entry("gemm f32 m=?m n=?~16~32 k=?~8~9");
  for (int64_t k : {8, 9}) {
    for (int64_t n : {16, 32}) {
      expect_body(entry, {5, k, n}, "kernel.d1_" + std::to_string(k) + ".d2_" + std::to_string(n), {5});
    }
  }
  expect_body(entry, {5, 8, 17}, "kernel.general", {5, 8, 17});
  expect_body(entry, {5, 16, 16}, "kernel.general", {5, 16, 16});
}

TEST(Dispatch, EightValuesMakeNoTable) {
  const Entry entry("gemm f32 m=?m n=?~1~2~3~4~5~6~7~8 k=4");
  expect_body(entry, {5, 8}, "kernel.d1_8", {5});
  expect_body(entry, {5, 9}, "kernel.general", {5, 9});
  EXPECT_EQ(entry.assembly().find(".LJTI"), std::string::npos);
}

TEST(Dispatch, BodiesAreLocalAndLeftOutWhereThereIsOne) {
  const Entry entry("gemm f32 m=?m n=?~16 k=8 c=n");
  EXPECT_EQ(testing::object_symbols(entry.artifact().object).defined, (std::set<std::string>{"kernel", "kernel_call"}));
  for (const char* local : {"kernel.general", "kernel.d1_16"}) {
    const llvm::Function* body = entry.module().getFunction(local);
    ASSERT_NE(body, nullptr) << local;
    EXPECT_TRUE(body->hasInternalLinkage()) << local;
  }
  EXPECT_EQ(Entry("gemm f32 m=?~16 n=16 k=8").module().getFunction("kernel.general"), nullptr);
}

TEST(Dispatch, TheArtifactNamesTheVariants) {
  const Entry entry("matmul f32 a=?bx2x?s:~24~16x8 b=?bx2x8x?s");
  ASSERT_EQ(entry.artifact().variants.size(), 2u);
  EXPECT_EQ(entry.artifact().variants[0].when.dims, (std::vector<BoundDim>{{"d1", 16}}));
  EXPECT_EQ(entry.artifact().variants[1].schedule.find("tiled "), 0u);
  EXPECT_EQ(entry.artifact().schedule.find("general "), 0u);
}

TEST(Dispatch, AForcedScheduleIsTheGeneralBodys) {
  CompileOptions options;
  options.schedule = *parse_schedule("general mr=4 nr=16 lanes=8 mc=12 nc=32 kc=5");
  const Expected<KernelPlan> planned = plan(problem("gemm f32 m=?m n=?~16 k=8"), *parse_target("x86-64-v3"), options);
  ASSERT_TRUE(planned) << planned.status().message();
  EXPECT_EQ(planned->schedule, *options.schedule);
  ASSERT_EQ(planned->variants.size(), 1u);
  EXPECT_EQ(planned->variants[0].schedule.family, Family::kTiled);
}

// Only what changes the code is in the key.
TEST(Dispatch, EqualCodeHasOneKey) {
  const auto key = [](const std::string& text) { return plan(problem(text), *parse_target("x86-64-v3"))->key_text; };
  const std::string plain = key("gemm f32 m=?m n=16 k=8");
  EXPECT_EQ(key("gemm f32 m=?m:1..99~7 n=16 k=8"), plain);
  const std::string likely = key("gemm f32 m=?m n=?~16~32 k=8");
  EXPECT_EQ(key("gemm f32 m=?rows:~9 n=?cols:..512~32~16~32~0 k=8"), likely);
  EXPECT_NE(key("gemm f32 m=?m n=?~16 k=8"), likely);
  EXPECT_NE(key("gemm f32 m=?m n=? k=8"), likely);
  EXPECT_EQ(key("gemm bf16 m=?m n=?~16 k=8"), key("gemm bf16 m=?m n=? k=8"));
}

TEST(Dispatch, EverySizeIsRight) {
  Session session(*host_target());
  const Expected<Session::Result> result = session.kernel(problem("matmul i32 a=?bx?s:~3~17x?k:~5 b=?bx?kx?s"));
  ASSERT_TRUE(result) << result.status().message();
  EXPECT_EQ(result->kernel->artifact().variants.size(), 2u);
  for (const Dims& dims : {Dims{2, 3, 5}, {2, 17, 5}, {1, 17, 6}, {3, 16, 5}, {2, 3, 0}, {2, 0, 5}, {0, 3, 5}}) {
    const int64_t batch = dims[0], s = dims[1], k = dims[2];
    std::vector<int32_t> a(static_cast<size_t>(batch * s * k)), b(a.size());
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int32_t>(i % 13), b[i] = static_cast<int32_t>(i % 7) - 3;
    std::vector<int32_t> y(static_cast<size_t>(batch * s * s), -1), expected(y.size(), 0);
    for (int64_t i = 0; i < batch; ++i) {
      for (int64_t row = 0; row < s; ++row) {
        for (int64_t column = 0; column < s; ++column) {
          int32_t& sum = expected[static_cast<size_t>((i * s + row) * s + column)];
          for (int64_t p = 0; p < k; ++p) {
            sum += a[static_cast<size_t>((i * s + row) * k + p)] * b[static_cast<size_t>((i * k + p) * s + column)];
          }
        }
      }
    }
    gemmc_call call = testing::make_call(a.data(), b.data(), nullptr, y.data());
    call.dims = dims.data();
    EXPECT_EQ(result->kernel->entry()(&call), GEMMC_OK);
    EXPECT_EQ(y, expected) << batch << " " << s << " " << k;
  }
  const Dims negative = {-1, 17, 5};
  gemmc_call call = testing::make_call(nullptr, nullptr, nullptr, nullptr);
  call.dims = negative.data();
  EXPECT_EQ(result->kernel->entry()(&call), GEMMC_INVALID_ARGUMENT) << "a variant checks what is left";
}

}  // namespace
}  // namespace gemmc
