#include "compiler/halide_numeric.h"

#include <cmath>

#include "compiler/fma_mark.h"
#include "compiler/halide_activations.h"

namespace gemmc {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::reinterpret;
using Halide::select;

Expr u32(uint32_t value) { return Expr(value); }

Expr bfloat16_to_float(const Expr& bits) { return reinterpret<float>(cast<uint32_t>(bits) << 16); }

// Round to nearest even on the bits; a NaN keeps its upper payload and becomes quiet. Halide's own cast turns some NaNs
// into infinity or zero.
Expr float_to_bfloat16(const Expr& value) {
  const Expr bits = reinterpret<uint32_t>(value);
  const Expr rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const Expr quiet_nan = (bits >> 16) | 0x40;
  return cast<uint16_t>(select((bits & 0x7fffffff) > u32(0x7f800000), quiet_nan, rounded));
}

// The formats are IEEE 754 binary16 and binary32: exponent bias 15 and 127, 10 and 23 bits of fraction.
Expr float16_to_float_in_integers(const Expr& bits) {
  const Expr wide = cast<uint32_t>(bits);
  const Expr sign = (wide & 0x8000) << 16;
  const Expr magnitude = wide & 0x7fff;
  const Expr subnormal = reinterpret<uint32_t>(cast<float>(cast<int32_t>(magnitude)) * Expr(0x1p-24f));
  const Expr normal = (magnitude << 13) + u32((127 - 15) << 23);
  const Expr special = (magnitude << 13) + u32((255 - 31) << 23);
  const Expr quiet = select(magnitude > 0x7c00, u32(0x400000), u32(0));
  return reinterpret<float>(sign | select(magnitude < 0x400, subnormal, magnitude >= 0x7c00, special | quiet, normal));
}

Expr float_to_float16_in_integers(const Expr& value) {
  const Expr bits = reinterpret<uint32_t>(value);
  const Expr sign = (bits >> 16) & 0x8000;
  const Expr magnitude = bits & 0x7fffffff;
  const Expr nan = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  // 65520 and above round to infinity.
  const Expr normal = ((magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13) - ((127 - 15) << 10);
  // Below 2^-14: the unit in the last place of 0.5 is 2^-24, the smallest binary16, so the addition rounds for us.
  const Expr subnormal = reinterpret<uint32_t>(reinterpret<float>(magnitude) + 0.5f) - u32(0x3f000000);
  const Expr finite = select(magnitude < u32(0x38800000), subnormal, normal);
  return cast<uint16_t>(sign |
                        select(magnitude > u32(0x7f800000), nan, magnitude >= u32(0x477ff000), u32(0x7c00), finite));
}

bool is_integral(float value) { return std::trunc(value) == value; }

// An integral float32 modulo 2^64. Float32 values of 2^88 and more are multiples of 2^64.
uint64_t modulo_2_64(float integral) {
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(integral), &exponent);
  const auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, 24));
  const int shift = exponent - 24;
  const uint64_t magnitude = shift >= 64 ? 0 : shift >= 0 ? mantissa << shift : mantissa >> -shift;
  return std::signbit(integral) ? 0 - magnitude : magnitude;
}

// Truncates toward zero and saturates.
Expr truncate_and_saturate(Halide::Type type, const Expr& value) {
  const double limit = std::ldexp(1.0, type.is_int() ? type.bits() - 1 : type.bits());  // the first value too large
  const double lowest = type.is_int() ? -limit : 0.0;
  const double highest = type.bits() == 64 ? std::nextafter(limit, 0.0) : limit - 1;
  const Expr in_range = Halide::max(Halide::min(value, Expr(highest)), Expr(lowest));
  return select(value >= Expr(limit), type.max(), cast(type, in_range));
}

}  // namespace

Expr marked_product(const Expr& a, const Expr& b) {
  const Expr product = a * b;
  if (product.type().bits() == 64) return reinterpret<double>(reinterpret<uint64_t>(product) ^ Expr(kFmaMark64));
  return reinterpret<float>(reinterpret<uint32_t>(product) ^ Expr(kFmaMark32));
}

Expr factor_pair(const Expr& low, const Expr& high) {
  const Expr pair = cast<uint32_t>(low);
  return high.defined() ? pair | (cast<uint32_t>(high) << 16) : pair;
}

Expr pair_multiply_add(const Expr& acc, const Expr& a, const Expr& b) {
  return acc + reinterpret<float>((a * b) ^ Expr(kPairMark));
}

Halide::Type storage_type(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
    case DType::kFloat16:
      return Halide::UInt(16);
    case DType::kFloat32:
      return Halide::Float(32);
    case DType::kFloat64:
      return Halide::Float(64);
    case DType::kInt32:
      return Halide::Int(32);
    case DType::kInt64:
      return Halide::Int(64);
    case DType::kUInt32:
      return Halide::UInt(32);
    case DType::kUInt64:
      return Halide::UInt(64);
    case DType::kInt8:
      return Halide::Int(8);
  }
  return {};
}

Halide::Type accumulator_type(DType dtype) { return storage_type(accumulator(dtype)); }

Numeric::Numeric(const Problem& problem, const Target& target) : problem_(problem), has_f16c_(target.has(kF16c)) {}

Expr Numeric::to_accumulator(const Expr& stored) const { return widen(stored, problem_.dtype); }

Expr Numeric::b_to_accumulator(const Expr& stored) const { return widen(stored, b_dtype(problem_)); }

Expr Numeric::widen(const Expr& stored, DType stored_as) const {
  Expr value = stored;
  if (stored_as == DType::kBFloat16) value = bfloat16_to_float(stored);
  if (stored_as == DType::kFloat16) {
    value = has_f16c_ ? cast<float>(reinterpret(Halide::Float(16), stored)) : float16_to_float_in_integers(stored);
  }
  // Signed overflow is undefined in Halide, so integers are summed unsigned.
  return cast(accumulator_type(problem_.dtype), value);
}

Expr Numeric::multiply_add(const Expr& acc, const Expr& a, const Expr& b) const {
  return is_integer(problem_.dtype) ? acc + a * b : acc + marked_product(a, b);
}

Expr Numeric::unrounded(const Expr& acc) const { return cast(storage_type(problem_.dtype), acc); }

Expr Numeric::finish(const Expr& acc, const std::vector<Expr>& added) const {
  auto next = added.begin();
  const Expr c = problem_.c ? *next++ : Expr();
  Expr value;
  if (!is_integer(problem_.dtype)) {
    value = combine_float(acc, c);
  } else {
    const bool is_modular = is_integral(problem_.alpha) && is_integral(problem_.beta);
    value = is_modular ? combine_integer(acc, c) : combine_fractional(acc, c);
  }
  for (const EpilogueStep& epilogue_step : problem_.epilogue) {
    const bool reads = operand_kind(epilogue_step) != EpilogueOperandKind::kNone;
    value = step(epilogue_step, value, reads ? to_accumulator(*next++) : Expr());
  }
  return from_accumulator(value);
}

Expr Numeric::step(const EpilogueStep& step, const Expr& value, const Expr& operand) const {
  if (step.op == "scale") return value * operand;
  if (operand.defined()) return value + operand;
  if (!is_integer(problem_.dtype)) return activation(step.op, epilogue_values(step), value);
  // relu, the only other step of integers; accumulators are unsigned.
  const Halide::Type stored = storage_type(problem_.dtype);
  return select(cast(stored, value) < Halide::Internal::make_zero(stored), Halide::Internal::make_zero(value.type()),
                value);
}

Expr Numeric::combine_float(const Expr& acc, const Expr& c) const {
  const Halide::Type type = acc.type();
  Expr t = acc;
  if (problem_.alpha != 1.0f) t = t * Halide::Internal::make_const(type, problem_.alpha);
  if (c.defined()) {
    const Expr addend = to_accumulator(c);
    const Expr beta = Halide::Internal::make_const(type, problem_.beta);
    // LLVM would make a negation of a marked product with -1, and a constant of one with NaN. fma(-1, C, t) is t - C.
    if (problem_.beta == 1.0f)
      t = t + addend;
    else if (problem_.beta == -1.0f)
      t = t - addend;
    else if (std::isnan(problem_.beta))
      t = t + addend * beta;
    else
      t = t + marked_product(addend, beta);
  }
  return t;
}

Expr Numeric::combine_integer(const Expr& acc, const Expr& c) const {
  const Halide::Type type = acc.type();
  const auto times = [&](const Expr& value, float scalar) {
    return scalar == 1.0f ? value : value * cast(type, Expr(modulo_2_64(scalar)));
  };
  Expr sum = times(acc, problem_.alpha);
  if (c.defined()) sum = sum + times(to_accumulator(c), problem_.beta);
  return sum;
}

Expr Numeric::combine_fractional(const Expr& acc, const Expr& c) const {
  const Halide::Type stored = storage_type(problem_.dtype);
  Expr sum = cast<double>(cast(stored, acc)) * Expr(static_cast<double>(problem_.alpha));
  if (c.defined()) sum = sum + cast<double>(c) * Expr(static_cast<double>(problem_.beta));
  return cast(accumulator_type(problem_.dtype), truncate_and_saturate(stored, sum));
}

Expr Numeric::from_accumulator(const Expr& acc) const {
  switch (problem_.dtype) {
    case DType::kBFloat16:
      return float_to_bfloat16(acc);
    case DType::kFloat16:
      return has_f16c_ ? reinterpret(Halide::UInt(16), cast(Halide::Float(16), acc))
                       : float_to_float16_in_integers(acc);
    default:
      return cast(storage_type(problem_.dtype), acc);
  }
}

}  // namespace gemmc
