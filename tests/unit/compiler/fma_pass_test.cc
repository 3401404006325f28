#include "compiler/fma_pass.h"

#include <fmt/format.h>
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

// The module after the pass. In the text, $M32 and $M64 are the marks.
Outcome run(std::string ir, bool has_fma = true) {
  const auto replace_all = [&ir](const std::string& what, const std::string& by) {
    for (size_t at = ir.find(what); at != std::string::npos; at = ir.find(what, at + by.size()))
      ir.replace(at, what.size(), by);
  };
  replace_all("$M32", std::to_string(kFmaMark32));
  replace_all("$M64", std::to_string(kFmaMark64));
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, diagnostic, context);
  if (module == nullptr) return {Status::invalid("test IR: " + diagnostic.getMessage().str()), ir};
  Outcome outcome{fuse_marked_products(*module, has_fma), ""};
  llvm::raw_string_ostream stream(outcome.ir);
  EXPECT_FALSE(llvm::verifyModule(*module, &stream)) << outcome.ir;
  module->print(stream, nullptr);
  return outcome;
}

// Every mark is gone, and the function has these lines in this order.
void expect_lines(const Outcome& outcome, std::initializer_list<std::string> lines) {
  EXPECT_TRUE(outcome.status.is_ok()) << outcome.status.message();
  EXPECT_EQ(outcome.ir.find(" xor "), std::string::npos) << outcome.ir;
  size_t at = 0;
  for (const std::string& line : lines) {
    at = outcome.ir.find(line, at);
    ASSERT_NE(at, std::string::npos) << "lacks or misplaces: " << line << "\n" << outcome.ir;
    at += line.size();
  }
}

TEST(FmaPass, FusesScalars) {
  const Outcome outcome = run(R"(
    define float @f(float %t, float %a, float %b) {
      %p = fmul float %a, %b
      %i = bitcast float %p to i32
      %x = xor i32 %i, $M32
      %m = bitcast i32 %x to float
      %y = fadd float %t, %m
      ret float %y
    }
    define double @d(double %t, double %a, double %b) {
      %p = fmul double %a, %b
      %i = bitcast double %p to i64
      %x = xor i64 %i, $M64
      %m = bitcast i64 %x to double
      %y = fadd double %t, %m
      ret double %y
    })");
  expect_lines(outcome, {"call float @llvm.fma.f32(float %a, float %b, float %t)",
                         "call double @llvm.fma.f64(double %a, double %b, double %t)"});
  EXPECT_EQ(outcome.ir.find("fmul"), std::string::npos) << outcome.ir;
  EXPECT_EQ(outcome.ir.find("fadd"), std::string::npos) << outcome.ir;
}

constexpr char kVectorProduct[] = R"(
    define <8 x float> @f(<8 x float> %t, <8 x float> %a, <8 x float> %b) {
      %p = fmul <8 x float> %a, %b
      %i = bitcast <8 x float> %p to <8 x i32>
      %x = xor <8 x i32> %i, splat (i32 $M32)
      %m = bitcast <8 x i32> %x to <8 x float>
      %y = fadd <8 x float> %t, %m
      ret <8 x float> %y
    })";

TEST(FmaPass, FusesVectors) {
  expect_lines(run(kVectorProduct),
               {"call <8 x float> @llvm.fma.v8f32(<8 x float> %a, <8 x float> %b, <8 x float> %t)"});
}

TEST(FmaPass, MultipliesAndAddsWithoutFma) {
  const Outcome outcome = run(kVectorProduct, /*has_fma=*/false);
  expect_lines(outcome, {"%1 = fmul <8 x float> %a, %b", "fadd <8 x float> %t, %1"});
  EXPECT_EQ(outcome.ir.find("fma"), std::string::npos) << outcome.ir;
}

TEST(FmaPass, FindsTheMarkOnEitherSide) {
  expect_lines(run(R"(
    define float @f(float %t, float %a, float %b) {
      %p = fmul float %a, %b
      %i = bitcast float %p to i32
      %x = xor i32 $M32, %i
      %m = bitcast i32 %x to float
      %y = fadd float %m, %t
      ret float %y
    })"),
               {"call float @llvm.fma.f32(float %a, float %b, float %t)"});
}

// y = fsub OPERANDS, one of which is the marked product %m.
Outcome run_difference(const std::string& operands, bool has_fma = true) {
  return run(R"(
    define float @f(float %t, float %a, float %b) {
      %p = fmul float %a, %b
      %i = bitcast float %p to i32
      %x = xor i32 %i, $M32
      %m = bitcast i32 %x to float
      %y = fsub float )" +
                 operands + R"(
      ret float %y
    })",
             has_fma);
}

// What LLVM makes of (-t) + product.
TEST(FmaPass, FusesADifferenceThatStartsWithTheProduct) {
  expect_lines(run_difference("%m, %t"),
               {"%1 = fneg float %t", "call float @llvm.fma.f32(float %a, float %b, float %1)"});
  expect_lines(run_difference("%m, %t", /*has_fma=*/false),
               {"%1 = fneg float %t", "%2 = fmul float %a, %b", "fadd float %1, %2"});
}

// What LLVM makes of -((-t) + product).
TEST(FmaPass, FusesADifferenceThatEndsWithTheProduct) {
  expect_lines(run_difference("%t, %m"),
               {"%1 = fneg float %a", "call float @llvm.fma.f32(float %1, float %b, float %t)"});
  expect_lines(run_difference("%t, %m", /*has_fma=*/false),
               {"%1 = fneg float %a", "%2 = fmul float %1, %b", "fadd float %t, %2"});
}

TEST(FmaPass, FindsProductsInOtherBlocksAndUsedTwice) {
  expect_lines(run(R"(
    define float @f(float %t, float %a, float %b, i1 %again) {
      %p = fmul float %a, %b
      %i = bitcast float %p to i32
      %x = xor i32 %i, $M32
      %m = bitcast i32 %x to float
      br label %loop
    loop:
      %acc = phi float [ %t, %0 ], [ %next, %loop ]
      %next = fadd float %acc, %m
      br i1 %again, label %loop, label %end
    end:
      %last = fadd float %next, %m
      ret float %last
    })"),
               {"%1 = call float @llvm.fma.f32(float %a, float %b, float %acc)",
                "call float @llvm.fma.f32(float %a, float %b, float %1)"});
}

// A scalar product outside of a loop, broadcast inside: after or before the mark.
TEST(FmaPass, BroadcastsTheFactorsOfABroadcastProduct) {
  const std::initializer_list<std::string> kExpected = {"insertelement <8 x float> poison, float %a", "shufflevector",
                                                        "insertelement <8 x float> poison, float %b", "shufflevector",
                                                        "call <8 x float> @llvm.fma.v8f32(<8 x float> %"};
  expect_lines(run(R"(
    define <8 x float> @f(<8 x float> %t, float %a, float %b) {
      %p = fmul float %a, %b
      %i = bitcast float %p to i32
      %x = xor i32 %i, $M32
      %m = bitcast i32 %x to float
      %one = insertelement <8 x float> poison, float %m, i64 0
      %all = shufflevector <8 x float> %one, <8 x float> poison, <8 x i32> zeroinitializer
      %y = fadd <8 x float> %t, %all
      ret <8 x float> %y
    })"),
               kExpected);
  expect_lines(run(R"(
    define <8 x float> @f(<8 x float> %t, float %a, float %b) {
      %p = fmul float %a, %b
      %i = bitcast float %p to i32
      %one = insertelement <8 x i32> poison, i32 %i, i64 0
      %all = shufflevector <8 x i32> %one, <8 x i32> poison, <8 x i32> zeroinitializer
      %x = xor <8 x i32> %all, splat (i32 $M32)
      %m = bitcast <8 x i32> %x to <8 x float>
      %y = fadd <8 x float> %m, %t
      ret <8 x float> %y
    })"),
               kExpected);
}

TEST(FmaPass, ABroadcastLaneIsLaneZeroOfTheFactors) {
  const std::initializer_list<std::string> kExpected = {
      "%1 = extractelement <4 x float> %a, i64 0", "float %1",      "shufflevector",
      "extractelement <4 x float> %b, i64 0",      "shufflevector", "call <8 x float> @llvm.fma.v8f32(<8 x float> %"};
  expect_lines(run(R"(
    define <8 x float> @f(<8 x float> %t, <4 x float> %a, <4 x float> %b) {
      %p = fmul <4 x float> %a, %b
      %i = bitcast <4 x float> %p to <4 x i32>
      %x = xor <4 x i32> %i, splat (i32 $M32)
      %m = bitcast <4 x i32> %x to <4 x float>
      %all = shufflevector <4 x float> %m, <4 x float> poison, <8 x i32> zeroinitializer
      %y = fadd <8 x float> %t, %all
      ret <8 x float> %y
    })"),
               kExpected);
}

// Scalars that LLVM has put side by side: two sums, the mark and the casts as vectors, the products as they were.
TEST(FmaPass, GathersTheFactorsOfScalarProducts) {
  expect_lines(run(R"(
    define <2 x double> @f(<2 x double> %t, double %a, double %b, double %c, double %d) {
      %p = fmul double %a, %b
      %q = fmul double %c, %d
      %one = insertelement <2 x double> poison, double %p, i64 0
      %two = insertelement <2 x double> %one, double %q, i64 1
      %i = bitcast <2 x double> %two to <2 x i64>
      %x = xor <2 x i64> %i, splat (i64 $M64)
      %m = bitcast <2 x i64> %x to <2 x double>
      %y = fadd <2 x double> %t, %m
      ret <2 x double> %y
    })"),
               {"double %a, i64 0", "double %c, i64 1", "double %b, i64 0", "double %d, i64 1",
                "call <2 x double> @llvm.fma.v2f64(<2 x double> %2, <2 x double> %4, <2 x double> %t)"});
}

// A narrow vector of products widened; what its other lanes are does not matter.
TEST(FmaPass, FollowsLanesThroughShuffles) {
  expect_lines(run(R"(
    define <4 x float> @f(<4 x float> %t, <2 x float> %a, <2 x float> %b) {
      %p = fmul <2 x float> %a, %b
      %i = bitcast <2 x float> %p to <2 x i32>
      %x = xor <2 x i32> %i, splat (i32 $M32)
      %wide = shufflevector <2 x i32> %x, <2 x i32> poison, <4 x i32> <i32 1, i32 0, i32 poison, i32 poison>
      %m = bitcast <4 x i32> %wide to <4 x float>
      %y = fadd <4 x float> %t, %m
      ret <4 x float> %y
    })"),
               {"extractelement <2 x float> %a, i64 1", "extractelement <2 x float> %a, i64 0",
                "extractelement <2 x float> %b, i64 1", "extractelement <2 x float> %b, i64 0",
                "call <4 x float> @llvm.fma.v4f32("});
}

// Vectors of which scalars are taken.
TEST(FmaPass, FindsAScalarInAVectorOfProducts) {
  expect_lines(run(R"(
    define float @f(float %t, <2 x float> %a, <2 x float> %b) {
      %p = fmul <2 x float> %a, %b
      %i = bitcast <2 x float> %p to <2 x i32>
      %x = xor <2 x i32> %i, splat (i32 $M32)
      %m = bitcast <2 x i32> %x to <2 x float>
      %one = extractelement <2 x float> %m, i64 1
      %y = fadd float %t, %one
      ret float %y
    })"),
               {"%1 = extractelement <2 x float> %a, i64 1", "%2 = extractelement <2 x float> %b, i64 1",
                "call float @llvm.fma.f32(float %1, float %2, float %t)"});
}

// Lane 0 is a marked product, lane 1 is something else and stays a sum.
TEST(FmaPass, SplitsASumOfDifferentLanes) {
  const Outcome outcome = run(R"(
    define <2 x float> @f(<2 x float> %t, float %a, float %b, float %c) {
      %p = fmul float %a, %b
      %i = bitcast float %p to i32
      %x = xor i32 %i, $M32
      %m = bitcast i32 %x to float
      %one = insertelement <2 x float> poison, float %m, i64 0
      %two = insertelement <2 x float> %one, float %c, i64 1
      %y = fadd <2 x float> %t, %two
      ret <2 x float> %y
    })");
  expect_lines(outcome, {"call float @llvm.fma.f32(float %a, float %b, float %", "fadd float %"});
}

// Each lane has its product in another operand of the sum.
TEST(FmaPass, FindsProductsOnBothSidesOfOneSum) {
  const Outcome outcome = run(R"(
    define <2 x float> @f(float %t, float %u, float %a, float %b, float %c, float %d) {
      %p = fmul float %a, %b
      %i = bitcast float %p to i32
      %x = xor i32 %i, $M32
      %m = bitcast i32 %x to float
      %q = fmul float %c, %d
      %j = bitcast float %q to i32
      %z = xor i32 %j, $M32
      %n = bitcast i32 %z to float
      %one = insertelement <2 x float> poison, float %m, i64 0
      %left = insertelement <2 x float> %one, float %u, i64 1
      %two = insertelement <2 x float> poison, float %t, i64 0
      %right = insertelement <2 x float> %two, float %n, i64 1
      %y = fadd <2 x float> %left, %right
      ret <2 x float> %y
    })");
  expect_lines(outcome, {"call float @llvm.fma.f32(float %a, float %b, float %",
                         "call float @llvm.fma.f32(float %c, float %d, float %"});
}

// LLVM makes a vector of products, one of sums, and takes some lanes of each. The product that is added is multiplied
// too, in a lane that nobody reads.
TEST(FmaPass, UnmarksProductsThatAreMultiplied) {
  const Outcome outcome = run(R"(
    define <2 x float> @f(<2 x float> %t, float %a, float %b) {
      %p = fmul float %a, %b
      %i = bitcast float %p to i32
      %x = xor i32 %i, $M32
      %m = bitcast i32 %x to float
      %both = insertelement <2 x float> <float 5.0e-01, float poison>, float %m, i64 1
      %products = fmul <2 x float> %t, %both
      %sums = fadd <2 x float> %t, %both
      %y = shufflevector <2 x float> %products, <2 x float> %sums, <2 x i32> <i32 0, i32 3>
      ret <2 x float> %y
    })");
  expect_lines(outcome, {"%p = fmul float %a, %b", "fmul <2 x float> %t, %both",
                         "call float @llvm.fma.f32(float %a, float %b, float %"});
}

// What LLVM makes of product + 0 < t, and of what it then chooses, divides and carries through a loop.
TEST(FmaPass, UnmarksProductsThatAreComparedOrDivided) {
  const Outcome outcome = run(R"(
    define float @f(float %t, float %a, float %b, i1 %again) {
      br label %loop
    loop:
      %carried = phi float [ %a, %0 ], [ %m, %loop ]
      %p = fmul float %carried, %b
      %i = bitcast float %p to i32
      %x = xor i32 %i, $M32
      %m = bitcast i32 %x to float
      br i1 %again, label %loop, label %end
    end:
      %is_less = fcmp olt float %m, %t
      %chosen = select i1 %is_less, float %m, float %t
      %y = fdiv float %t, %chosen
      ret float %y
    })");
  expect_lines(outcome, {"%p = fmul float %carried, %b", "fcmp olt float"});
}

TEST(FmaPass, LeavesOtherArithmeticAlone) {
  const std::string ir = R"(
    define float @f(float %t, float %a, float %b) {
      %p = fmul float %a, %b
      %i = bitcast float %p to i32
      %x = xor i32 %i, 1734700396
      %m = bitcast i32 %x to float
      %y = fadd float %t, %m
      %z = fadd float %y, %p
      ret float %z
    })";
  const Outcome outcome = run(ir);
  EXPECT_TRUE(outcome.status.is_ok());
  EXPECT_EQ(outcome.ir.find("fma"), std::string::npos) << outcome.ir;
  EXPECT_NE(outcome.ir.find("fadd float %t, %m"), std::string::npos) << outcome.ir;
}

// A mark that nothing removed would be a wrong number: it must be an internal error.
TEST(FmaPass, AMarkLeftOverIsAnInternalError) {
  const std::pair<std::string, std::string> kBodies[] = {
      {"returned", "ret float %m"},
      {"multiplied and stored", "%y = fmul float %t, %m\n store float %m, ptr null\n ret float %y"},
      {"chosen, then added",
       "%n = fcmp olt float %t, %a\n %c = select i1 %n, float %m, float %t\n %y = fadd float %c, %t\n ret float %y"},
      {"both sides", "%y = fadd float %m, %m\n ret float %y"},
  };
  for (const auto& [what, body] : kBodies) {
    const Outcome outcome = run(R"(
      define float @someone(float %t, float %a, float %b) {
        %p = fmul float %a, %b
        %i = bitcast float %p to i32
        %x = xor i32 %i, $M32
        %m = bitcast i32 %x to float
        )" + body + "\n}");
    EXPECT_EQ(outcome.status.code(), StatusCode::kInternal) << what << outcome.ir;
    EXPECT_EQ(outcome.status.message(), "a marked product outside a sum in someone") << what;
  }
  const Outcome carried = run(R"(
    define float @someone(float %t, float %a, float %b, i1 %again) {
      br label %loop
    loop:
      %m = phi float [ 0.0, %0 ], [ %marked, %loop ]
      %y = fadd float %t, %m
      %p = fmul float %y, %b
      %i = bitcast float %p to i32
      %x = xor i32 %i, $M32
      %marked = bitcast i32 %x to float
      br i1 %again, label %loop, label %end
    end:
      ret float %y
    })");
  EXPECT_EQ(carried.status.code(), StatusCode::kInternal) << "through a phi: " << carried.ir;
  const Outcome halves = run(R"(
    define double @someone(double %t, <2 x float> %a, <2 x float> %b) {
      %p = fmul <2 x float> %a, %b
      %i = bitcast <2 x float> %p to i64
      %x = xor i64 %i, $M64
      %m = bitcast i64 %x to double
      %y = fadd double %t, %m
      ret double %y
    })");
  EXPECT_EQ(halves.status.code(), StatusCode::kInternal) << "two floats as one double: " << halves.ir;
}

}  // namespace
}  // namespace gemmc
