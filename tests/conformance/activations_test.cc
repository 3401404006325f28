// The functions of epilogue steps over the whole range of their argument, within the documented bound of the function
// itself: Y[n] = op(1 * B[n]), so that the argument is exact. Every value of the 16-bit types; of float32 every value
// of a stride through all bit patterns, which --effort makes smaller; of float64 as many. Infinities and NaN too.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "api/session.h"
#include "core/problem_string.h"
#include "tests/conformance/counts.h"
#include "tests/conformance/levels.h"
#include "tests/conformance/settings.h"
#include "tests/support/flush_promise.h"
#include "tests/support/instance.h"
#include "tests/support/kernel_call.h"
#include "tests/support/oracle_epilogue.h"
#include "tests/support/oracle_number.h"

namespace gemmc::testing {
namespace {

constexpr size_t kBlock = 1 << 14;
// Odd, so that all low bits are met.
constexpr uint64_t kStride = 40'009;

class ActivationsTest : public ::testing::TestWithParam<std::tuple<std::string, std::string, DType>> {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(level()); !reason.empty()) GTEST_SKIP() << reason;
  }
  std::string level() const { return std::get<0>(GetParam()); }
  EpilogueStep step() const {
    EpilogueStep step{.op = std::get<1>(GetParam()), .axis = "", .name = ""};
    if (step.op == "clip") step.values = {-1.5f, 2.5f};
    return step;
  }
  DType dtype() const { return std::get<2>(GetParam()); }
  oracle::Type type() const { return oracle_type(dtype()); }
  size_t bytes() const { return size_bytes(dtype()); }

  // The bit patterns of the arguments: the interesting ones, then the stride.
  std::vector<uint64_t> arguments() const {
    std::vector<uint64_t> patterns;
    if (bytes() == 2) {
      for (uint64_t bits = 0; bits < (1 << 16); ++bits) patterns.push_back(bits);
      return patterns;
    }
    const auto add = [&](double value) {
      const uint64_t bits =
          bytes() == 8 ? std::bit_cast<uint64_t>(value) : std::bit_cast<uint32_t>(static_cast<float>(value));
      for (int64_t step = -2; step <= 2; ++step) patterns.push_back(bits + static_cast<uint64_t>(step));
    };
    // Where branches change, results leave the normal numbers, or an exponential meets its ends.
    for (const double value : {0.0,         0.5,   0.625, 1.0,   1.5,   2.5,    3.0,
                               5.6,         6.0,   17.0,  87.3,  88.7,  89.0,   103.9,
                               104.0,       708.4, 709.8, 710.0, 745.2, 746.0,  1e30,
                               3e38,        1e300, 1e-30, 1e-38, 1e-40, 1e-308, std::numeric_limits<double>::infinity(),
                               std::nan("")}) {
      add(value);
      add(-value);
    }
    const uint64_t last = bytes() == 8 ? ~uint64_t{0} : ~uint32_t{0};
    const uint64_t stride =
        kStride / static_cast<uint64_t>(conformance_settings().effort) * (bytes() == 8 ? (uint64_t{1} << 32) + 1 : 1);
    for (uint64_t bits = 0; bits <= last - stride; bits += stride) patterns.push_back(bits);
    return patterns;
  }
};

TEST_P(ActivationsTest, IsWithinTheBoundOfTheFunction) {
  Problem problem = parse_problem("gemm f32 m=1 n=16384 k=1").operator*();
  problem.dtype = dtype();
  problem.epilogue = {step()};
  Session session(target_of(level()));
  const Expected<Session::Result> result = session.kernel(problem);
  ASSERT_TRUE(result) << result.status().message();
  const bool flushes = may_flush(result->kernel->artifact());
  const oracle::Step reference{step().op, epilogue_values(step()), std::nullopt};

  std::vector<uint64_t> patterns = arguments();
  patterns.resize((patterns.size() + kBlock - 1) / kBlock * kBlock);
  uint64_t one = 0;
  oracle::encode_float(type(), 1, &one);
  std::vector<uint8_t> b(kBlock * bytes()), y(kBlock * bytes());
  int wrong = 0;
  for (size_t start = 0; start < patterns.size() && wrong < 10; start += kBlock) {
    for (size_t i = 0; i < kBlock; ++i) std::memcpy(&b[i * bytes()], &patterns[start + i], bytes());
    const gemmc_call call = make_call(&one, b.data(), nullptr, y.data());
    ASSERT_EQ(result->kernel->entry()(&call), GEMMC_OK);
    for (size_t i = 0; i < kBlock && wrong < 10; ++i) {
      const long double x = oracle::decode_float(type(), &b[i * bytes()]);
      oracle::AllowedFloat allowed = oracle::after_step(reference, oracle::AllowedFloat::only(x), 0, type());
      if (bytes() == 2 && allowed.finite) {
        allowed.low = oracle::round_to(type(), allowed.low);
        allowed.high = oracle::round_to(type(), allowed.high);
        allowed.positive_infinity |= std::isinf(allowed.high);
        allowed.negative_infinity |= std::isinf(allowed.low);
      }
      const long double found = oracle::decode_float(type(), &y[i * bytes()]);
      const bool is_subnormal = x != 0 && std::fabs(x) < 0x1p-126L;
      if (allowed.contains(found) || (is_subnormal && flushes && found == 0)) continue;
      ++wrong;
      ADD_FAILURE() << step().op << "(" << static_cast<double>(x) << ") is "
                    << oracle::element_text(type(), &y[i * bytes()]) << ", allowed: " << allowed.text();
    }
  }
  count_run({"activation", dtype(), parse_schedule(result->kernel->artifact().schedule)->family, level(),
             ConformanceRoute::kJit},
            wrong == 0);
}

std::vector<std::tuple<std::string, std::string, DType>> all_cases() {
  std::vector<std::tuple<std::string, std::string, DType>> cases;
  for (const std::string& level : all_levels()) {
    for (const char* op :
         {"relu", "leaky_relu", "clip", "gelu", "gelu_tanh", "sigmoid", "tanh", "silu", "hard_swish"}) {
      for (const DType dtype : {DType::kBFloat16, DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
        if (!has_own_code(level, dtype)) continue;
        if (std::string(op) == "gelu" && dtype == DType::kFloat64) continue;  // not built yet
        cases.emplace_back(level, op, dtype);
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, ActivationsTest, ::testing::ValuesIn(all_cases()), [](const auto& info) {
  return test_name(std::get<0>(info.param), std::get<1>(info.param) + "_" + std::string(name(std::get<2>(info.param))));
});

}  // namespace
}  // namespace gemmc::testing
