#include "tests/support/half_floats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gemmc::testing {
namespace {

struct Format {
  int mantissa_bits;
  int exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int infinity() const { return ((1 << exponent_bits) - 1) << mantissa_bits; }
};
constexpr Format kFloat16 = {10, 5};
constexpr Format kBFloat16 = {7, 8};

uint16_t encode(double value, const Format& format) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | format.infinity() | 1 << (format.mantissa_bits - 1));
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<uint16_t>(sign | format.infinity());
  if (magnitude == 0) return static_cast<uint16_t>(sign);
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  // In units of the last place the leading bit of a normal number is 2^mantissa_bits and carries into the exponent.
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  if (exponent > format.bias()) return static_cast<uint16_t>(sign | format.infinity());
  const int bits = ((exponent + format.bias() - 1) << format.mantissa_bits) + static_cast<int>(units);
  return static_cast<uint16_t>(sign | std::min(bits, format.infinity()));
}

double decode(uint16_t bits, const Format& format) {
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  const int magnitude = bits & 0x7fff;
  if (magnitude > format.infinity()) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == format.infinity()) return sign * std::numeric_limits<double>::infinity();
  const int exponent = magnitude >> format.mantissa_bits;
  const int mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
  const int leading = exponent == 0 ? 0 : 1 << format.mantissa_bits;
  return sign * std::ldexp(leading + mantissa, std::max(exponent, 1) - format.bias() - format.mantissa_bits);
}

}  // namespace

uint16_t to_float16_bits(double value) { return encode(value, kFloat16); }
uint16_t to_bfloat16_bits(double value) { return encode(value, kBFloat16); }
double from_float16_bits(uint16_t bits) { return decode(bits, kFloat16); }
double from_bfloat16_bits(uint16_t bits) { return decode(bits, kBFloat16); }

}  // namespace gemmc::testing
