#include "tests/support/oracle_epilogue.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace gemmc::oracle {
namespace {

using Number = long double;

constexpr Number kInfinity = std::numeric_limits<Number>::infinity();

// The function that a step is, as its definition has it; for infinities too.
Number exact(const Step& step, Number x, Number operand) {
  const Number one = 1;
  if (step.op == "bias") return x + operand;
  if (step.op == "scale") return x * operand;
  if (step.op == "relu") return x < 0 ? 0 : x;
  if (step.op == "leaky_relu") return x < 0 ? x * step.values[0] : x;
  if (step.op == "clip") return std::min<Number>(std::max<Number>(x, step.values[0]), step.values[1]);
  if (step.op == "sigmoid") return one / (one + std::exp(-x));
  if (step.op == "tanh") return std::tanh(x);
  if (step.op == "silu") return x * (one / (one + std::exp(-x)));
  // erfc keeps the digits of 1 + erf(z) for negative z.
  if (step.op == "gelu") return x * (std::erfc(-x / std::sqrt(Number{2})) / 2);
  if (step.op == "gelu_tanh") {
    const Number t = std::sqrt(2 / std::acos(-one)) * (x + Number{0.044715L} * x * x * x);
    return x * (one / (one + std::exp(-2 * t)));
  }
  if (step.op == "hard_swish") return x * std::max<Number>(0, std::min<Number>(1, x / 6 + Number{0.5L}));
  throw std::runtime_error("the oracle knows no step " + step.op);
}

// Where the function may turn, or its slope jump: between neighbours of these it is monotonic.
std::vector<Number> turning_points(const Step& step) {
  if (step.op == "silu") return {-1.2784645427610738L};
  if (step.op == "gelu") return {-0.7517915246935645L};
  if (step.op == "gelu_tanh") return {-0.7524614220710162L};
  if (step.op == "hard_swish") return {-3, -1.5L, 3};
  return {0};
}

struct Format {
  Number eps, tiny, highest;
  Number overflow;  // from here on values round to infinity
  int digits;
};
constexpr Format kFloat32{0x1p-24L, 0x1p-149L, 0x1.fffffep127L, 0x1.ffffffp127L, 24};
constexpr Format kFloat64{0x1p-53L, 0x1p-1074L, 0x1.fffffffffffffp1023L, 0x1.fffffffffffff8p1023L, 53};

Number unit_in_last_place(Number value, const Format& format) {
  if (value == 0) return format.tiny;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::max(format.tiny, std::ldexp(Number{1}, exponent - format.digits));
}

// How far a step's result for x may be from the exact one, y.
Number tolerance(const Step& step, Number x, Number y, const Format& format) {
  const bool is_one_operation = step.op == "bias" || step.op == "scale" || step.op == "leaky_relu";
  if (step.op == "relu" || step.op == "clip") return 0;
  if (is_one_operation) return format.eps * std::fabs(y) + format.tiny;
  return std::max(4 * unit_in_last_place(y, format), format.eps * std::fabs(x));
}

}  // namespace

AllowedFloat after_step(const Step& step, const AllowedFloat& input, long double operand, Type computed_in) {
  const Format& format = computed_in == Type::kFloat64 ? kFloat64 : kFloat32;
  AllowedFloat result;
  result.nan = input.nan;
  Number low = kInfinity, high = -kInfinity;
  const auto add = [&](Number x) {
    const Number y = exact(step, x, operand);
    if (std::isnan(y)) {
      result.nan = true;
      return;
    }
    const Number slack = std::isfinite(x) && std::isfinite(y) ? tolerance(step, x, y, format) : 0;
    result.positive_infinity |= y + slack >= format.overflow;
    result.negative_infinity |= y - slack <= -format.overflow;
    if (!std::isfinite(y)) return;
    low = std::min(low, y - slack);
    high = std::max(high, y + slack);
  };
  if (input.positive_infinity) add(kInfinity);
  if (input.negative_infinity) add(-kInfinity);
  if (input.finite) {
    const Number first = std::max(input.low, -format.highest), last = std::min(input.high, format.highest);
    add(first);
    add(last);
    for (const Number point : turning_points(step)) {
      if (first < point && point < last) add(point);
    }
  }
  // What lies between two results is possible too, so far as it is finite.
  result.finite = low <= high && low < format.overflow && high > -format.overflow;
  result.low = std::max(low, -format.highest);
  result.high = std::min(high, format.highest);
  return result;
}

uint64_t integer_after_step(const Step& step, Type type, uint64_t input, uint64_t operand) {
  if (step.op == "bias") return input + operand;
  if (step.op == "scale") return input * operand;
  if (step.op != "relu") throw std::runtime_error("the oracle knows no step " + step.op + " of integers");
  uint64_t wrapped = 0;
  encode_integer(type, input, &wrapped);
  const bool is_signed = type == Type::kInt32 || type == Type::kInt64;
  return is_signed && static_cast<int64_t>(decode_integer(type, &wrapped)) < 0 ? 0 : input;
}

}  // namespace gemmc::oracle
