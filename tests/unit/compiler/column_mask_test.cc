#include "compiler/column_mask.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

namespace gemmc {
namespace {

struct Outcome {
  Status status;
  std::string ir;
};

// A function over the buffers %a, %b and %y, whose host pointers are loaded as Halide's code does; masked to 3 of 4.
Outcome run(const std::string& body) {
  const std::string ir =
      "define void @f(ptr %a, ptr %b, ptr %y) {\n"
      "  %local = alloca <4 x float>\n"
      "  %a.field = getelementptr i8, ptr %a, i64 16\n"
      "  %a.host = load ptr, ptr %a.field\n"
      "  %b.field = getelementptr i8, ptr %b, i64 16\n"
      "  %b.host = load ptr, ptr %b.field\n"
      "  %y.field = getelementptr i8, ptr %y, i64 16\n"
      "  %y.host = load ptr, ptr %y.field\n" +
      body + "  ret void\n}\n";
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, diagnostic, context);
  if (module == nullptr) return {Status::invalid("test IR: " + diagnostic.getMessage().str()), ir};
  Outcome outcome{mask_columns(*module->getFunction("f"), 4, 3), ""};
  llvm::raw_string_ostream stream(outcome.ir);
  EXPECT_FALSE(llvm::verifyModule(*module, &stream)) << outcome.ir;
  module->print(stream, nullptr);
  return outcome;
}

bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

TEST(ColumnMask, MasksVectorsOfRows) {
  const Outcome outcome = run(R"(
    %at = getelementptr float, ptr %b.host, i64 7
    %v = load <4 x float>, ptr %at, align 4
    %to = getelementptr float, ptr %y.host, i64 9
    store <4 x float> %v, ptr %to, align 4
  )");
  EXPECT_TRUE(outcome.status.is_ok()) << outcome.status.message();
  EXPECT_TRUE(has(outcome.ir,
                  "call <4 x float> @llvm.masked.load.v4f32.p0(ptr align 1 %at, <4 x i1> <i1 true, i1 true, "
                  "i1 true, i1 false>, <4 x float> zeroinitializer)"))
      << outcome.ir;
  EXPECT_TRUE(has(outcome.ir, "ptr align 1 %to, <4 x i1> <i1 true, i1 true, i1 true, i1 false>)")) << outcome.ir;
  EXPECT_FALSE(has(outcome.ir, "load <4 x float>, ptr")) << outcome.ir;
  EXPECT_FALSE(has(outcome.ir, "store <4 x float>")) << outcome.ir;
}

TEST(ColumnMask, LeavesAAndScalarsAndItsOwnMemory) {
  const std::string kBody = R"(
    %v = load <4 x float>, ptr %a.host, align 4
    store <4 x float> %v, ptr %local, align 16
    %w = load <4 x float>, ptr %local, align 16
    %s = load float, ptr %b.host, align 4
    store float %s, ptr %y.host, align 4
  )";
  const Outcome outcome = run(kBody);
  EXPECT_TRUE(outcome.status.is_ok()) << outcome.status.message();
  EXPECT_FALSE(has(outcome.ir, "masked")) << outcome.ir;
}

TEST(ColumnMask, RefusesOtherVectors) {
  const Outcome outcome = run("  %v = load <2 x float>, ptr %b.host, align 4\n");
  EXPECT_EQ(outcome.status.code(), StatusCode::kInternal);
  EXPECT_EQ(outcome.status.message(), "a vector of 2 lanes, not 4, in f");
}

}  // namespace
}  // namespace gemmc
