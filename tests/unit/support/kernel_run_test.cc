// Does the test machine notice what a wrong kernel does? Kernels written by hand, each with one fault.
#include "tests/support/kernel_run.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cstring>

#include "core/problem_string.h"
#include "tests/support/random_problem.h"

namespace gemmc::testing {
namespace {

using Side = GuardedBuffer::Side;

// Y = A B for float32, 3x4 times 4x5, Y's rows 5 + `y_pad` apart.
constexpr int kM = 3, kN = 5, kK = 4;
constexpr int kPad = 2;

void multiply(const gemmc_call* call, int y_row) {
  const auto* a = static_cast<const float*>(call->a);
  const auto* b = static_cast<const float*>(call->b);
  auto* y = static_cast<float*>(call->y);
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum += a[m * kK + k] * b[k * kN + n];
      y[m * y_row + n] = sum;
    }
  }
}

// Accesses that a compiler keeps.
volatile float sink = 0;
void read_at(const void* base, long element) { sink = static_cast<const volatile float*>(base)[element]; }
void write_at(const void* base, long element) { static_cast<volatile float*>(const_cast<void*>(base))[element] = 1; }

int32_t right(const gemmc_call* call) { return multiply(call, kN), GEMMC_OK; }
int32_t right_with_gaps(const gemmc_call* call) { return multiply(call, kN + kPad), GEMMC_OK; }
int32_t reads_past_b(const gemmc_call* call) { return multiply(call, kN), read_at(call->b, kK * kN), GEMMC_OK; }
int32_t reads_before_a(const gemmc_call* call) { return multiply(call, kN), read_at(call->a, -1), GEMMC_OK; }
int32_t writes_into_a(const gemmc_call* call) { return multiply(call, kN), write_at(call->a, 0), GEMMC_OK; }
int32_t writes_past_y(const gemmc_call* call) { return multiply(call, kN), write_at(call->y, kM * kN), GEMMC_OK; }
int32_t writes_into_gap(const gemmc_call* call) { return multiply(call, kN + kPad), write_at(call->y, kN), GEMMC_OK; }
int32_t fails(const gemmc_call*) { return GEMMC_INTERNAL; }
int32_t forgets_an_element(const gemmc_call* call) {
  multiply(call, kN);
  std::memset(static_cast<float*>(call->y) + 7, 0xff, sizeof(float));
  return GEMMC_OK;
}
int32_t changes_rounding(const gemmc_call* call) { return multiply(call, kN), std::fesetround(FE_UPWARD), GEMMC_OK; }

Instance make(const std::string& problem_text) {
  const Expected<Problem> problem = parse_problem(problem_text);
  if (!problem) throw std::runtime_error(problem.status().message());
  return make_instance(*problem, {{kM, kK}, {kK, kN}, std::nullopt}, 3);
}

std::string failure_of(gemmc_kernel_entry entry, Side side, const std::string& problem = "gemm f32 m=3 n=5 k=4") {
  KernelRun run;
  Placement placement;
  placement.side = side;
  return run.run(entry, make(problem), placement, within_bounds).failure;
}

TEST(KernelRun, ARightKernelIsRight) {
  for (const Side side : {Side::kStart, Side::kEnd}) {
    EXPECT_EQ(failure_of(right, side), "");
    EXPECT_EQ(failure_of(right_with_gaps, side, "gemm f32 m=3 n=5 k=4 sy=7x1"), "");
  }
}

TEST(KernelRun, NoticesEachFault) {
  EXPECT_EQ(failure_of(reads_past_b, Side::kEnd), "memory fault in B, 0 bytes past its end");
  EXPECT_EQ(failure_of(reads_before_a, Side::kStart), "memory fault in A, 4 bytes before its start");
  EXPECT_EQ(failure_of(writes_into_a, Side::kEnd), "memory fault in A, at its byte 0");
  EXPECT_EQ(failure_of(writes_past_y, Side::kEnd), "memory fault in Y, 0 bytes past its end");
  EXPECT_EQ(failure_of(writes_past_y, Side::kStart), "the kernel wrote outside of Y");
  EXPECT_EQ(failure_of(writes_into_gap, Side::kEnd, "gemm f32 m=3 n=5 k=4 sy=7x1"), "the kernel wrote outside of Y");
  EXPECT_EQ(failure_of(fails, Side::kEnd), "the kernel returned 4");
  EXPECT_EQ(failure_of(forgets_an_element, Side::kEnd).substr(0, 15), "Y[1, 2] is -nan");
  EXPECT_EQ(failure_of(changes_rounding, Side::kEnd), "the kernel changed the floating-point state");
  std::fesetround(FE_TONEAREST);
}

// Y is C's buffer: the kernel is handed C's values in Y, the oracle judges against them.
TEST(KernelRun, InPlaceHandsOverCInY) {
  const Expected<Problem> problem = parse_problem("gemm f32 m=3 n=5 k=4 c=mn");
  ASSERT_TRUE(problem) << problem.status().message();
  const Instance instance = make_instance(*problem, {{kM, kK}, {kK, kN}, std::vector<int64_t>{kM, kN}}, 5);
  ASSERT_TRUE(instance.allows_in_place());
  Placement placement;
  placement.in_place = true;
  KernelRun run;
  const auto entry = [](const gemmc_call* call) -> int32_t { return call->c == call->y ? GEMMC_OK : GEMMC_INTERNAL; };
  const RunResult result = run.run(entry, instance, placement,
                                   [&](const oracle::Product& product, const oracle::View& y,
                                       const std::vector<uint8_t>& values) -> std::optional<std::string> {
                                     EXPECT_EQ(values, instance.c->values);
                                     EXPECT_NE(product.c->base, y.base);
                                     return std::nullopt;
                                   });
  EXPECT_EQ(result.failure, "");
}

TEST(RandomProblem, IsValidAndItsTextRepeatsIt) {
  Random random(11);
  int in_place = 0, several_calls = 0;
  for (int i = 0; i < 1500; ++i) {
    const DType dtype = kAllDTypes[i % 8];
    const Problem problem = random_problem(dtype, i % 3 == 0 ? DimKind::kSomeRuntime : DimKind::kAllRuntime, random);
    ASSERT_TRUE(validate(problem).is_ok()) << validate(problem).message() << "\n" << print_problem(problem);
    const ArrayShapes shapes = random_shapes(problem, random);
    const Instance instance = make_instance(problem, shapes, static_cast<uint64_t>(i));
    in_place += instance.allows_in_place();
    several_calls += !instance.outer.empty();

    // What a failure prints makes the same instance again.
    const Expected<Problem> parsed = parse_problem(print_problem(problem));
    ASSERT_TRUE(parsed) << parsed.status().message();
    const std::optional<ArrayShapes> parsed_shapes = parse_shapes(print_shapes(shapes));
    ASSERT_TRUE(parsed_shapes);
    const Instance again = make_instance(*parsed, *parsed_shapes, static_cast<uint64_t>(i));
    EXPECT_EQ(again.a.values, instance.a.values);
    EXPECT_EQ(again.a.strides, instance.a.strides);
    EXPECT_EQ(again.call_dims, instance.call_dims);
    EXPECT_EQ(again.call_strides, instance.call_strides);

    const Problem fixed = static_problem(problem, shapes, static_cast<uint64_t>(i));
    EXPECT_TRUE(validate(fixed).is_ok()) << validate(fixed).message() << "\n" << print_problem(fixed);
    EXPECT_TRUE(canonical(fixed).dim_names.empty()) << print_problem(fixed);
  }
  EXPECT_GT(in_place, 30);
  EXPECT_GT(several_calls, 3);
}

}  // namespace
}  // namespace gemmc::testing
