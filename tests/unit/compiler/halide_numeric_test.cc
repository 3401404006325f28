// The conversions of the 16-bit float types as Halide expressions, run with Halide's own JIT compiler on values that no
// product can make: NaNs of float32 with every payload.
#include "compiler/halide_numeric.h"

#include <Halide.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/support/half_floats.h"

namespace gemmc {
namespace {

// With the processor's own conversions, and with those made of integer operations.
enum class F16c { kUsed, kAbsent };

class HalideNumericTest : public ::testing::TestWithParam<std::tuple<DType, F16c>> {
 protected:
  void SetUp() override {
    const bool uses_f16c = std::get<1>(GetParam()) == F16c::kUsed;
    target_ = *parse_target(uses_f16c ? "x86-64-v3" : "x86-64-v2");
    if (const Status status = check_runs_here(target_); !status.is_ok()) GTEST_SKIP() << status.message();
    std::vector<Halide::Target::Feature> features = {Halide::Target::SSE41};
    if (uses_f16c) features.insert(features.end(), {Halide::Target::AVX, Halide::Target::AVX2, Halide::Target::F16C});
    halide_target_ = Halide::Target(Halide::Target::Linux, Halide::Target::X86, 64, features);
    problem_.dtype = std::get<0>(GetParam());
  }

  bool is_float16() const { return problem_.dtype == DType::kFloat16; }
  bool is_nan(uint16_t bits) const { return (bits & 0x7fff) > (is_float16() ? 0x7c00 : 0x7f80); }

  Problem problem_;
  Target target_;
  Halide::Target halide_target_;
};

TEST_P(HalideNumericTest, EveryNanOfFloat32StaysANanOfItsSign) {
  const Numeric numeric(problem_, target_);
  Halide::Var x("x");
  Halide::Func narrowed("narrowed");
  Halide::ImageParam accumulators(Halide::Float(32), 1);
  narrowed(x) = numeric.finish(accumulators(x), {});
  narrowed.vectorize(x, 8);
  constexpr uint32_t kPayloads = 0x7fffff;
  Halide::Buffer<float> nans(static_cast<int>(kPayloads));
  for (const uint32_t sign : {0u, 0x80000000u}) {
    for (uint32_t payload = 1; payload <= kPayloads; ++payload) {
      nans(static_cast<int>(payload - 1)) = std::bit_cast<float>(sign | 0x7f800000u | payload);
    }
    accumulators.set(nans);
    const Halide::Buffer<uint16_t> result = narrowed.realize({static_cast<int>(kPayloads)}, halide_target_);
    uint32_t wrong = 0;
    for (uint32_t payload = 1; payload <= kPayloads; ++payload) {
      const uint16_t bits = result(static_cast<int>(payload - 1));
      if (is_nan(bits) && bits >> 15 == sign >> 31) continue;
      if (++wrong <= 5)
        ADD_FAILURE() << std::hex << "sign " << sign << " payload 0x" << payload << " became 0x" << bits;
    }
    EXPECT_EQ(wrong, 0u);
  }
}

TEST_P(HalideNumericTest, EveryValueWidensExactly) {
  const Numeric numeric(problem_, target_);
  Halide::Var x("x");
  Halide::Func widened("widened");
  widened(x) = numeric.to_accumulator(Halide::cast<uint16_t>(x));
  widened.vectorize(x, 8);
  const Halide::Buffer<float> result = widened.realize({1 << 16}, halide_target_);
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const double exact = is_float16() ? testing::from_float16_bits(half) : testing::from_bfloat16_bits(half);
    if (std::isnan(exact)) {
      ASSERT_TRUE(std::isnan(result(bits))) << std::hex << bits;
    } else {
      ASSERT_EQ(result(bits), exact) << std::hex << bits;
      ASSERT_EQ(std::signbit(result(bits)), bits >= 0x8000) << std::hex << bits;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HalideNumericTest,
                         ::testing::Combine(::testing::Values(DType::kBFloat16, DType::kFloat16),
                                            ::testing::Values(F16c::kAbsent, F16c::kUsed)),
                         [](const auto& info) {
                           return std::string(name(std::get<0>(info.param))) +
                                  (std::get<1>(info.param) == F16c::kUsed ? "_f16c" : "_integers");
                         });

}  // namespace
}  // namespace gemmc
