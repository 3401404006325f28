// All but the piecewise linear ones are made of one exponential. Polynomials are evaluated by Horner's rule with fused
// multiply-adds where the CPU has them. Their coefficients come from tools/activation_coefficients.py.
#include "compiler/halide_activations.h"

#include <span>

#include "compiler/halide_numeric.h"

namespace gemmc {
namespace {

using Halide::Expr;
using Halide::reinterpret;
using Halide::select;

Expr constant(const Halide::Type& type, double value) { return Halide::Internal::make_const(type, value); }

// a * b + c, fused where the CPU can.
Expr multiply_add(const Expr& a, const Expr& b, const Expr& c) { return c + marked_product(a, b); }

// sum of coefficients[i] * x^i
Expr polynomial(const Expr& x, std::span<const double> coefficients) {
  Expr sum = constant(x.type(), coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) {
    sum = multiply_add(sum, x, constant(x.type(), coefficients[i]));
  }
  return sum;
}

// What decaying_exponential() needs to know of a type. Coefficients of (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
struct ExpConstants {
  double highest;  // beyond it e^-x has no normal number
  double rounder;  // added to a number it leaves an integer plus the exponent's bias in the lowest bits
  int mantissa_bits;
  std::span<const double> coefficients;
};
constexpr double kExp32[] = {0x1.000000p-1, 0x1.5554dcp-3, 0x1.55551ap-5, 0x1.120b6ep-7, 0x1.6d110ap-10};
constexpr double kExp64[] = {0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,  0x1.11111111100dcp-7,
                             0x1.6c16c16c162d4p-10, 0x1.a01a01abe7fe1p-13, 0x1.a01a01a6d889cp-16, 0x1.71de0231960ebp-19,
                             0x1.27e4db646b17ep-22, 0x1.af4de97ca4194p-26, 0x1.1f730349868cep-29};
constexpr ExpConstants kFloat32{87, 0x1.8p23 + 127, 23, kExp32};
constexpr ExpConstants kFloat64{708, 0x1.8p52 + 1023, 52, kExp64};

// e^-x for x >= 0, with an error of about eps, not of eps e^-x: that is what the functions below need of it. 0 where it
// would be no normal number. NaN stays NaN. e^-x = 2^n e^-q with n = -round(x / ln 2); ln 2 need not be split, because
// the error of n ln 2 grows with n but counts 2^n.
Expr decaying_exponential(const Expr& x) {
  const Halide::Type type = x.type();
  const ExpConstants& c = type.bits() == 32 ? kFloat32 : kFloat64;
  const Halide::Type integer = Halide::Int(type.bits());
  const auto number = [&](double value) { return constant(type, value); };
  const Expr shifted = multiply_add(x, number(-0x1.71547652b82fep+0), number(c.rounder));
  const Expr n = shifted - number(c.rounder);
  const Expr q = multiply_add(n, number(0x1.62e42fefa39efp-1), x);
  const Expr power = multiply_add(q * q, polynomial(-q, c.coefficients), number(1) - q);
  const Expr power_of_two =
      reinterpret(type, reinterpret(integer, shifted) << Halide::Internal::make_const(integer, c.mantissa_bits));
  return select(x > number(c.highest), number(0), power * power_of_two);
}

// x / (1 + e^-t): the logistic function of t, times x.
Expr times_logistic(const Expr& x, const Expr& t) {
  const Expr decay = decaying_exponential(Halide::abs(t)), one = constant(t.type(), 1);
  return x * select(t < constant(t.type(), 0), decay, one) / (one + decay);
}

// Coefficients of (tanh(x) - x) / x^3 in x^2 for |x| < 0.625.
constexpr double kTanh32[] = {-0x1.555552p-2, 0x1.110e1cp-3, -0x1.b9258ap-5, 0x1.58048ep-6, -0x1.8f8de4p-8};
constexpr double kTanh64[] = {-0x1.5555555555555p-2,  0x1.111111111110dp-3,   -0x1.ba1ba1ba1aff0p-5,
                              0x1.664f488279254p-6,   -0x1.226e354ddfe9ap-7,  0x1.d6d3cc561e69ap-9,
                              -0x1.7da2fd76a3cf1p-10, 0x1.355204d5878bep-11,  -0x1.f4fccb8116f0ap-13,
                              0x1.92d3563b405ccp-14,  -0x1.370efd62e9535p-15, 0x1.99b26df70cccdp-17,
                              -0x1.47559de55bc91p-19};

// (1 - e^-2x) / (1 + e^-2x) has no digits near 0: a polynomial there.
Expr hyperbolic_tangent(const Expr& x) {
  const auto number = [&](double value) { return constant(x.type(), value); };
  const Expr magnitude = Halide::abs(x);
  const Expr squared = x * x;
  const std::span<const double> coefficients = x.type().bits() == 32 ? std::span<const double>(kTanh32) : kTanh64;
  const Expr near = multiply_add(squared * x, polynomial(squared, coefficients), x);
  const Expr decay = decaying_exponential(magnitude + magnitude);
  const Expr far = (number(1) - decay) / (number(1) + decay);
  return select(magnitude < number(0.625), near, x < number(0), -far, far);
}

// With a = |x|: -ln erfc(a / sqrt 2) = a^2 / 2 + a p(a). p's error is weighted by what it does to the result.
constexpr double kGelu32[] = {0x1.98846cp-1,  -0x1.741fbap-3, 0x1.2a1648p-5,   -0x1.40dd14p-8,
                              0x1.8e1c7cp-14, 0x1.0ea358p-13, -0x1.c9ed1ep-16, 0x1.07bd48p-19};

// x times the normal distribution function: x (1 - h) for x > 0, else x h, with h = erfc(|x| / sqrt 2) / 2.
Expr gelu(const Expr& x) {
  const auto number = [&](double value) { return constant(x.type(), value); };
  const Expr magnitude = Halide::abs(x);
  const Expr rate = multiply_add(magnitude, number(0.5), polynomial(magnitude, kGelu32));
  const Expr half = number(0.5) * decaying_exponential(magnitude * rate);
  return x * select(x < number(0), half, number(1) - half);
}

// 0.5 x (1 + tanh(t)) = x / (1 + e^-2t) with t = sqrt(2 / pi) (x + 0.044715 x^3)
Expr gelu_tanh(const Expr& x) {
  const Expr cubed = constant(x.type(), 0.044715) * (x * x);
  return times_logistic(x, constant(x.type(), 2 * 0x1.9884533d43651p-1) * multiply_add(cubed, x, x));
}

// ONNX: x max(0, min(1, x / 6 + 0.5))
Expr hard_swish(const Expr& x) {
  const auto number = [&](double value) { return constant(x.type(), value); };
  const Expr line = multiply_add(x, number(1.0 / 6), number(0.5));
  return x * select(line<number(0), number(0), line> number(1), number(1), line);
}

}  // namespace

Expr activation(std::string_view op, const std::vector<float>& values, const Expr& x) {
  const auto number = [&](double value) { return constant(x.type(), value); };
  // Comparisons with NaN are false, so that NaN stays what it is.
  if (op == "relu") return select(x < number(0), number(0), x);
  if (op == "leaky_relu") return select(x < number(0), x * number(values[0]), x);
  if (op == "clip") return select(x<number(values[0]), number(values[0]), x> number(values[1]), number(values[1]), x);
  if (op == "gelu") return gelu(x);
  if (op == "gelu_tanh") return gelu_tanh(x);
  if (op == "sigmoid") return times_logistic(number(1), x);
  if (op == "tanh") return hyperbolic_tangent(x);
  if (op == "silu") return times_logistic(x, x);
  return hard_swish(x);
}

}  // namespace gemmc
