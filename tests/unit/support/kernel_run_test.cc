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

// The test's own stack down to where a kernel's scratch may lie.
constexpr size_t kScratchBytes = 100 << 10;

__attribute__((noinline)) void clear_stack() {
  uint8_t stack[2 * kScratchBytes];
  std::memset(stack, 0, sizeof stack);
  asm volatile("" : : "r"(stack) : "memory");  // keeps the memset
}

// Adds scratch that it has not written: right where that happens to be zero.
__attribute__((no_sanitize("address"))) int32_t reads_stale_stack(const gemmc_call* call) {
  multiply(call, kN);
  const auto* const frame = static_cast<const char*>(__builtin_frame_address(0));
  static_cast<float*>(call->y)[0] += *reinterpret_cast<const volatile float*>(frame - kScratchBytes);
  return GEMMC_OK;
}

int32_t uses_stack(const gemmc_call* call) {
  volatile uint8_t scratch[kScratchBytes];
  scratch[0] = 1;
  multiply(call, kN);
  return scratch[0] == 1 ? GEMMC_OK : GEMMC_INTERNAL;
}

Instance make(const std::string& problem_text) {
  const Expected<Problem> problem = parse_problem(problem_text);
  if (!problem) throw std::runtime_error(problem.status().message());
  return make_instance(*problem, {{kM, kK}, {kK, kN}, std::nullopt}, 3);
}

std::string failure_of(gemmc_kernel_entry entry, Side side, const std::string& problem = "gemm f32 m=3 n=5 k=4") {
  KernelRun run;
  Placement placement;
  placement.side = side;
  return run.run({entry}, make(problem), placement, within_bounds).failure;
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

TEST(KernelRun, NoticesStaleStack) {
  clear_stack();
  EXPECT_EQ(failure_of(reads_stale_stack, Side::kEnd).substr(0, 13), "Y[0, 0] is -n");
}

TEST(KernelRun, MeasuresTheStackThatAKernelUses) {
  KernelRun run;
  constexpr size_t kFrameBytes = 1024;  // of the entry itself, with room for a sanitizer's
  const Instance instance = make("gemm f32 m=3 n=5 k=4");
  EXPECT_LE(run.run({right}, instance, {}, within_bounds).stack_bytes, kFrameBytes);
  const size_t much = run.run({uses_stack}, instance, {}, within_bounds).stack_bytes;
  EXPECT_GE(much, kScratchBytes);
  EXPECT_LE(much, kScratchBytes + kFrameBytes);
}

// Y is C's buffer: the kernel is handed C's values in Y, the oracle judges against them.
TEST(KernelRun, InPlaceHandsOverCInY) {
  const Expected<Problem> problem = parse_problem("gemm f32 m=3 n=5 k=4 c=mn");
  ASSERT_TRUE(problem) << problem.status().message();
  const Instance instance = make_instance(*problem, {{kM, kK}, {kK, kN}, std::vector<int64_t>{kM, kN}}, 5);
  ASSERT_TRUE(instance.in_place_operand() != nullptr);
  Placement placement;
  placement.in_place = true;
  KernelRun run;
  const auto entry = [](const gemmc_call* call) -> int32_t { return call->c == call->y ? GEMMC_OK : GEMMC_INTERNAL; };
  const RunResult result = run.run({entry}, instance, placement,
                                   [&](const oracle::Product& product, const oracle::View& y,
                                       const std::vector<uint8_t>& values) -> std::optional<std::string> {
                                     EXPECT_EQ(values, instance.c->values);
                                     EXPECT_NE(product.c->base, y.base);
                                     return std::nullopt;
                                   });
  EXPECT_EQ(result.failure, "");
}

}  // namespace
}  // namespace gemmc::testing
