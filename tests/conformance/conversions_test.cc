// float16 and bfloat16 as kernels convert them: every value of the type to the type that sums are made in, and back.
//
// Narrowing is tried with a product that can have any finite float32 as its exact sum: a float32 is three 8-bit
// integers, each a value of the type times a power of two. By default the float32 values at and beside every place
// where the rounding changes; with --effort above 1 every float32 that the sum can be, without gaps.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "api/session.h"
#include "core/problem_string.h"
#include "tests/conformance/counts.h"
#include "tests/conformance/every_value.h"
#include "tests/conformance/levels.h"
#include "tests/conformance/settings.h"
#include "tests/support/flush_promise.h"
#include "tests/support/half_floats.h"
#include "tests/support/kernel_call.h"

namespace gemmc::testing {
namespace {

constexpr int kBlock = 1 << 16;
constexpr double kSmallestNormal = 0x1p-126;  // of float32 and bfloat16
constexpr DType k16BitTypes[] = {DType::kBFloat16, DType::kFloat16};

class Half {
 public:
  explicit Half(DType dtype) : is_float16_(dtype == DType::kFloat16) {}

  uint16_t encode(double value) const { return is_float16_ ? to_float16_bits(value) : to_bfloat16_bits(value); }
  double decode(uint16_t bits) const { return is_float16_ ? from_float16_bits(bits) : from_bfloat16_bits(bits); }
  uint16_t infinity() const { return is_float16_ ? 0x7c00 : 0x7f80; }
  bool is_nan(uint16_t bits) const { return (bits & 0x7fff) > infinity(); }

  // Equal, where NaN is NaN, and zero is zero: a sum that starts with +0 has lost the sign of -0.
  bool same(uint16_t found, uint16_t expected) const {
    if (is_nan(found) || is_nan(expected)) return is_nan(found) && is_nan(expected);
    return found == expected || ((found | expected) & 0x7fff) == 0;
  }

  // The positive finite float32 values that round to `magnitude`, as their bits, both ends included. The two ends are
  // half-way points, which belong to the even neighbour.
  std::pair<uint32_t, uint32_t> preimage(uint16_t magnitude) const {
    const bool is_even = magnitude % 2 == 0;
    const uint32_t low = magnitude == 0 ? 0 : half_way_above(magnitude - 1) + (is_even ? 0 : 1);
    const uint32_t high = magnitude == infinity() ? std::bit_cast<uint32_t>(std::numeric_limits<float>::max())
                                                  : half_way_above(magnitude) - (is_even ? 0 : 1);
    return {low, high};
  }

 private:
  uint32_t half_way_above(uint16_t magnitude) const {
    const double here = decode(magnitude);
    // What follows the largest finite value is the next power of two, as if the exponent had no end.
    const double step = magnitude + 1 == infinity() ? here - decode(magnitude - 1) : decode(magnitude + 1) - here;
    return std::bit_cast<uint32_t>(static_cast<float>(here + step / 2));
  }

  bool is_float16_;
};

class ConversionsTest : public ::testing::TestWithParam<std::tuple<std::string, DType>> {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(level()); !reason.empty()) GTEST_SKIP() << reason;
    session_.emplace(target_of(level()));
  }
  std::string level() const { return std::get<0>(GetParam()); }
  DType dtype() const { return std::get<1>(GetParam()); }

  void compile(const std::string& words, float alpha = 1) {
    Expected<Problem> problem = parse_problem(words);
    ASSERT_TRUE(problem) << problem.status().message();
    problem->dtype = dtype();
    problem->alpha = alpha;
    compile(*problem);
  }

  void compile(const Problem& problem) {
    const Expected<Session::Result> result = session_->kernel(problem);
    ASSERT_TRUE(result) << result.status().message();
    kernel_ = result->kernel;
    ASSERT_EQ(kernel_->artifact().target, target_of(level()));
  }

  void call(const void* a, const void* b, const void* c, void* y) {
    const gemmc_call arguments = make_call(a, b, c, y);
    ASSERT_EQ(kernel_->entry()(&arguments), GEMMC_OK);
  }

  // Whether the kernel may take factors and sums below kSmallestNormal for 0: docs/numbers.md.
  bool flushes() const { return may_flush(kernel_->artifact()); }

  void count(bool is_right) {
    count_run(
        {"conversion", dtype(), parse_schedule(kernel_->artifact().schedule)->family, level(), ConformanceRoute::kJit},
        is_right);
  }

  // Every value of the type through one operand of a product that leaves it as it is.
  void expect_every_value_kept(char operand) {
    const EveryValue product = every_value(dtype(), operand);
    compile(product.problem);
    if (HasFatalFailure()) return;
    const GivenOperands& given = product.operands;
    std::vector<uint16_t> y(kBlock, 0xffff);
    call(given.a.values.data(), given.b.values.data(), given.c ? given.c->values.data() : nullptr, y.data());
    int wrong = 0;
    for (int i = 0; i < kBlock && wrong < 10; ++i) {
      if (half_.same(y[i], static_cast<uint16_t>(i))) continue;
      // Sums keep what a product may flush: A's and B's subnormals only.
      if (flushes() && operand != 'C' && std::fabs(half_.decode(static_cast<uint16_t>(i))) < kSmallestNormal &&
          half_.same(y[i], 0)) {
        continue;
      }
      ++wrong;
      ADD_FAILURE() << std::hex << "the value with the bits 0x" << i << " came back as 0x" << y[i];
    }
    count(wrong == 0);
  }

  class Narrowing;

  Half half_{std::get<1>(GetParam())};
  std::optional<Session> session_;
  std::shared_ptr<const Kernel> kernel_;
};

TEST_P(ConversionsTest, EveryValueOfAIsKept) { expect_every_value_kept('A'); }

TEST_P(ConversionsTest, EveryValueOfBIsKept) { expect_every_value_kept('B'); }

TEST_P(ConversionsTest, EveryValueOfCIsKept) { expect_every_value_kept('C'); }

// Sums of exactly the wanted float32 values: Y[n] = alpha * sum over k of A[k] B[k, n], where B[., n] is the upper, the
// middle and the lower byte of the significand as integers times 2^shift, and A = 2^scale * (1, 2^-8, 2^-16).
class ConversionsTest::Narrowing {
 public:
  Narrowing(ConversionsTest& test, int scale, int alpha_exponent) : test_(test), scale_(scale), alpha_(alpha_exponent) {
    for (int i = 0; i < 3; ++i) a_[i] = test.half_.encode(std::ldexp(1.0, scale - 8 * i));
    test.compile("matmul f16 a=1x3 b=3x65536");
    if (alpha_ != 0) test.compile("gemm f16 m=1 n=65536 k=3", std::ldexp(1.0f, alpha_));
  }

  // The exponent e of a float32 S * 2^(e - 23) that the operands can make: S's bytes times 2^(e - 7 - scale - alpha)
  // are values of the type without being subnormal at the bottom or infinite at the top.
  bool can_make(int exponent) const {
    const double unit = std::ldexp(1.0, shift(exponent));
    if (test_.flushes() && (unit < kSmallestNormal || std::ldexp(1.0, exponent - 23) < kSmallestNormal)) return false;
    const auto is_exact = [&](double value) { return test_.half_.decode(test_.half_.encode(value)) == value; };
    if (alpha_ != 0 && exponent == -126) return false;  // alpha times a sum may be a rounded subnormal
    for (int byte = 1; byte < 256; ++byte) {
      if (!is_exact(byte * unit)) return false;
    }
    return true;
  }

  // Adds a float32 that rounds to `expected`; runs the kernel when a block is full.
  void add(uint32_t bits, uint16_t expected) {
    const int field = static_cast<int>(bits >> 23 & 0xff);
    const int exponent = field == 0 ? -126 : field - 127;
    if (exponent != exponent_) use_exponent(exponent);
    if (!is_made_) return;
    const uint32_t significand = (bits & 0x7fffff) | (field == 0 ? 0 : 0x800000);
    const uint16_t sign = bits >> 31 != 0 ? 0x8000 : 0;
    for (int i = 0; i < 3; ++i) {
      b_[static_cast<size_t>(i) * kBlock + used_] = bytes_[significand >> (16 - 8 * i) & 0xff] | sign;
    }
    bits_[used_] = bits;
    expected_[used_] = expected | sign;
    if (++used_ == kBlock) flush();
  }

  void flush() {
    if (used_ == 0) return;
    test_.call(a_, b_.data(), nullptr, y_.data());
    bool is_right = true;
    for (size_t i = 0; i < used_; ++i) {
      if (y_[i] == expected_[i] || (bits_[i] << 1 == 0 && test_.half_.same(y_[i], expected_[i]))) continue;
      is_right = false;
      if (++wrong_ > 10) break;
      ADD_FAILURE() << std::hex << "float32 0x" << bits_[i] << " became 0x" << y_[i] << ", expected 0x" << expected_[i];
    }
    test_.count(is_right);
    narrowed_ += used_;
    used_ = 0;
  }

  size_t narrowed() const { return narrowed_; }
  bool has_failed() const { return wrong_ != 0; }

 private:
  int shift(int exponent) const { return exponent - 7 - scale_ - alpha_; }

  void use_exponent(int exponent) {
    exponent_ = exponent;
    is_made_ = can_make(exponent);
    for (int byte = 0; byte < 256; ++byte) bytes_[byte] = test_.half_.encode(std::ldexp(byte, shift(exponent)));
  }

  ConversionsTest& test_;
  int scale_, alpha_;
  int exponent_ = 1000;
  bool is_made_ = false;
  uint16_t a_[3];
  uint16_t bytes_[256];
  std::vector<uint16_t> b_ = std::vector<uint16_t>(3 * kBlock), y_ = std::vector<uint16_t>(kBlock),
                        expected_ = std::vector<uint16_t>(kBlock);
  std::vector<uint32_t> bits_ = std::vector<uint32_t>(kBlock);
  size_t used_ = 0, narrowed_ = 0;
  int wrong_ = 0;
};

TEST_P(ConversionsTest, EveryRoundingIsToNearestEven) {
  // Together these scales reach every exponent of float32 with bfloat16; float16's own narrow range needs alpha for the
  // exponents beyond it, where everything becomes zero or infinity.
  struct Scale {
    int a, alpha;
  };
  const std::vector<Scale> scales = dtype() == DType::kBFloat16
                                        ? std::vector<Scale>{{0, 0}}
                                        : std::vector<Scale>{{8, 0}, {-8, 0}, {8, 60}, {8, 100}, {0, -60}, {0, -100}};
  const bool is_exhaustive = conformance_settings().effort > 1;
  size_t narrowed = 0;
  for (const Scale& scale : scales) {
    Narrowing narrowing(*this, scale.a, scale.alpha);
    if (HasFatalFailure()) return;
    for (const uint32_t sign : {0u, 0x80000000u}) {
      for (uint16_t magnitude = 0; magnitude <= half_.infinity() && !narrowing.has_failed(); ++magnitude) {
        const auto [low, high] = half_.preimage(magnitude);
        const uint32_t middle = low + (high - low) / 2;
        for (uint64_t bits = low; bits <= high; ++bits) {
          narrowing.add(static_cast<uint32_t>(bits) | sign, magnitude);
          // Exactly at an end, one step and two steps from it, and in the middle.
          if (is_exhaustive || bits < low + 2ull) continue;
          if (bits < middle)
            bits = middle - 1;
          else if (bits + 3 < high)
            bits = high - 3ull;
        }
      }
    }
    narrowing.flush();
    narrowed += narrowing.narrowed();
  }
  const size_t finite_halves = 2u * half_.infinity();
  // float16 has 30 binary orders of magnitude and its subnormals 10 more, with 2^24 float32 values of both signs in
  // each.
  EXPECT_GE(narrowed, is_exhaustive ? size_t{40} << 24 : (flushes() ? 4 : 5) * finite_halves);
  if (is_exhaustive && dtype() == DType::kBFloat16 && !flushes()) {
    EXPECT_EQ(narrowed, 2ull * 0x7f800000u) << "every finite float32";
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, ConversionsTest, ::testing::ValuesIn(levels_of(k16BitTypes)), [](const auto& info) {
  return test_name(std::get<0>(info.param), name(std::get<1>(info.param)));
});

}  // namespace
}  // namespace gemmc::testing
