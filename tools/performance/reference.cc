#include "tools/performance/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace gemmc {
namespace {

template <typename T>
T load(const void* values, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(values) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void store(void* values, int64_t index, T value) {
  std::memcpy(static_cast<char*>(values) + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

double decode_float16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

double decode_bfloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

long double load_real(DType dtype, const void* values, int64_t index) {
  switch (dtype) {
    case DType::kFloat64:
      return load<double>(values, index);
    case DType::kFloat32:
      return load<float>(values, index);
    case DType::kFloat16:
      return decode_float16(load<uint16_t>(values, index));
    default:
      return decode_bfloat16(load<uint16_t>(values, index));
  }
}

uint64_t load_integer(DType dtype, const void* values, int64_t index) {
  return size_bytes(dtype) == 4 ? load<uint32_t>(values, index) : load<uint64_t>(values, index);
}

// What rounding the sum to `dtype` may add to the error of the accumulator.
long double half_ulp(DType dtype, long double value) {
  const bool is_float16 = dtype == DType::kFloat16;
  if (!is_float16 && dtype != DType::kBFloat16) return 0;
  const int fraction_bits = is_float16 ? 10 : 7;
  const int smallest_exponent = is_float16 ? -14 : -126;
  const int exponent = value == 0 ? smallest_exponent : std::max(std::ilogb(value), smallest_exponent);
  return std::ldexp(0.5L, exponent - fraction_bits);
}

// One element of Y, and where in the operands it and what it is made of lie.
struct Place {
  const Product& product;
  int64_t item, m, n;

  int64_t a(int64_t k) const {
    return item * product.a_step() + (product.trans_a ? k * product.lda() + m : m * product.lda() + k);
  }
  int64_t b(int64_t k) const {
    return item * product.b_step() + (product.trans_b ? n * product.ldb() + k : k * product.ldb() + n);
  }
  int64_t y() const { return item * product.y_step() + m * product.n + n; }
  // "Y[3, 0]", "Y[7, 3, 0]"
  std::string to_string() const {
    return product.batch == 1 ? fmt::format("Y[{}, {}]", m, n) : fmt::format("Y[{}, {}, {}]", item, m, n);
  }
};

Status check_real(DType dtype, const Place& place, const Operands& operands) {
  long double sum = 0, magnitude = 0;
  for (int64_t k = 0; k < place.product.k; ++k) {
    const long double term = load_real(dtype, operands.a, place.a(k)) * load_real(dtype, operands.b, place.b(k));
    sum += term;
    magnitude += std::fabs(term);
  }
  const bool is_double = dtype == DType::kFloat64;
  const long double steps = static_cast<long double>(place.product.k + 4);
  const long double bound = steps * std::ldexp(magnitude, is_double ? -53 : -24) +
                            steps * std::ldexp(1.0L, is_double ? -1074 : -149) + half_ulp(dtype, sum);
  const long double found = load_real(dtype, operands.y, place.y());
  if (std::fabs(found - sum) <= bound) return Status::ok();
  return Status::internal(fmt::format("wrong result at {}: {} instead of {}, allowed difference {}", place.to_string(),
                                      static_cast<double>(found), static_cast<double>(sum),
                                      static_cast<double>(bound)));
}

Status check_integer(DType dtype, const Place& place, const Operands& operands) {
  uint64_t sum = 0;
  for (int64_t k = 0; k < place.product.k; ++k)
    sum += load_integer(dtype, operands.a, place.a(k)) * load_integer(dtype, operands.b, place.b(k));
  if (size_bytes(dtype) == 4) sum &= 0xffffffffu;
  const uint64_t found = load_integer(dtype, operands.y, place.y());
  if (found == sum) return Status::ok();
  return Status::internal(
      fmt::format("wrong result at {}: bits {:#x} instead of {:#x}", place.to_string(), found, sum));
}

}  // namespace

void fill_values(DType dtype, void* values, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> real(-1, 1);
  for (int64_t i = 0; i < count; ++i) {
    switch (dtype) {
      case DType::kFloat64:
        store(values, i, real(random));
        break;
      case DType::kFloat32:
        store(values, i, static_cast<float>(real(random)));
        break;
      case DType::kFloat16: {
        // Sign and fraction at random, exponent of 1/16 to 1.
        const uint64_t bits = random();
        store(values, i, static_cast<uint16_t>((bits & 0x83ff) | (11 + (bits >> 32) % 5) << 10));
        break;
      }
      case DType::kBFloat16: {
        const uint64_t bits = random();
        store(values, i, static_cast<uint16_t>((bits & 0x807f) | (123 + (bits >> 32) % 5) << 7));
        break;
      }
      case DType::kInt32:
      case DType::kUInt32:
        store(values, i, static_cast<uint32_t>(random()));
        break;
      case DType::kInt64:
      case DType::kUInt64:
        store(values, i, random());
        break;
      case DType::kInt8:  // no problem's type
        break;
    }
  }
}

Status check_result(DType dtype, const Product& product, const Operands& operands) {
  constexpr int kSamples = 60;
  std::mt19937_64 random(1);
  for (int sample = 0; sample < kSamples; ++sample) {
    // The corners of the first and of the last item, then any element.
    const bool is_corner = sample < 8;
    const auto index = [&](int corner, int64_t size) {
      return is_corner ? corner * (size - 1) : static_cast<int64_t>(random() % static_cast<uint64_t>(size));
    };
    const Place place = {product, index(sample >> 2 & 1, product.batch), index(sample & 1, product.m),
                         index(sample >> 1 & 1, product.n)};
    GEMMC_RETURN_IF_ERROR(is_integer(dtype) ? check_integer(dtype, place, operands)
                                            : check_real(dtype, place, operands));
  }
  return Status::ok();
}

}  // namespace gemmc
