#include "tests/support/random_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gemmc::testing {
namespace {

enum class Values {
  kSmall,    // small integers and halves: sums are exact, so that any slip shows
  kUniform,  // floats in (-1, 1) with all their bits; any integers
  kWide,     // exponents far apart; integers of any length
  kSpecial,  // one in eight is NaN, infinite, subnormal, a zero of either sign, an extreme
  kBits,     // any bit pattern
};

Values choose_values(Random& random) {
  return random.pick({Values::kSmall, Values::kSmall, Values::kUniform, Values::kUniform, Values::kUniform,
                      Values::kWide, Values::kWide, Values::kSpecial, Values::kBits});
}

struct FloatRange {
  int min_exponent;  // of normal numbers
  int max_exponent;
  int significand_bits;
};

FloatRange range_of(oracle::Type type) {
  switch (type) {
    case oracle::Type::kFloat16:
      return {-14, 15, 11};
    case oracle::Type::kBFloat16:
      return {-126, 127, 8};
    case oracle::Type::kFloat32:
      return {-126, 127, 24};
    default:
      return {-1022, 1023, 53};
  }
}

double special_float(const FloatRange& range, Random& random) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double sign = random.one_in(2) ? -1 : 1;
  const double smallest = std::ldexp(1.0, range.min_exponent - range.significand_bits + 1);
  const double largest = std::ldexp(2.0 - std::ldexp(2.0, -range.significand_bits), range.max_exponent);
  switch (random.between(0, 6)) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return sign * infinity;
    case 2:
      return sign * 0.0;
    case 3:
      return sign * smallest;
    case 4:
      return sign * smallest * static_cast<double>(random.between(2, 60));
    case 5:
      return sign * std::ldexp(1.0, range.min_exponent);
    default:
      return sign * largest;
  }
}

double uniform_float(Random& random) { return 2 * random.unit() - 1; }

double float_value(Values values, const FloatRange& range, Random& random) {
  switch (values) {
    case Values::kSmall:
      return static_cast<double>(random.between(-8, 8)) / 2;
    case Values::kWide: {
      const int reach = std::min(range.max_exponent / 2, 40);
      return uniform_float(random) * std::ldexp(1.0, static_cast<int>(random.between(-reach, reach)));
    }
    case Values::kSpecial:
      return random.one_in(8) ? special_float(range, random) : uniform_float(random);
    default:
      return uniform_float(random);
  }
}

uint64_t integer_value(Values values, Random& random) {
  switch (values) {
    case Values::kSmall:
      return static_cast<uint64_t>(random.between(-8, 8));
    case Values::kWide:
      return random.bits() >> random.between(0, 63);
    case Values::kSpecial:
      return random.pick({uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 31, uint64_t{1} << 63,
                          (uint64_t{1} << 31) - 1, (uint64_t{1} << 63) - 1, (uint64_t{1} << 53) + 1});
    default:
      return random.bits();
  }
}

}  // namespace

size_t element_count(const std::vector<int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  size_t count = 1;
  for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
  return count;
}

std::vector<uint8_t> random_values(oracle::Type type, size_t count, Random& random) {
  const size_t bytes = oracle::element_bytes(type);
  std::vector<uint8_t> elements(count * bytes);
  const Values values = choose_values(random);
  for (size_t i = 0; i < count; ++i) {
    uint8_t* const element = elements.data() + i * bytes;
    if (values == Values::kBits) {
      const uint64_t bits = random.bits();
      std::memcpy(element, &bits, bytes);
    } else if (oracle::is_float(type)) {
      oracle::encode_float(type, float_value(values, range_of(type), random), element);
    } else {
      oracle::encode_integer(type, integer_value(values, random), element);
    }
  }
  return elements;
}

}  // namespace gemmc::testing
