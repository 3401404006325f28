#include "tests/support/oracle_number.h"

#include <fmt/format.h>

#include <cassert>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "tests/support/half_floats.h"

namespace gemmc::oracle {
namespace {

static_assert(LDBL_MANT_DIG >= 64, "the oracle needs a long double that is wider than float64");

template <typename T>
T load(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <typename T>
void store(T value, void* element) {
  std::memcpy(element, &value, sizeof value);
}

}  // namespace

size_t element_bytes(Type type) {
  switch (type) {
    case Type::kBFloat16:
    case Type::kFloat16:
      return 2;
    case Type::kFloat32:
    case Type::kInt32:
    case Type::kUInt32:
      return 4;
    default:
      return 8;
  }
}

bool is_16_bit_float(Type type) { return type == Type::kBFloat16 || type == Type::kFloat16; }
bool is_float(Type type) { return is_16_bit_float(type) || type == Type::kFloat32 || type == Type::kFloat64; }

long double decode_float(Type type, const void* element) {
  assert(is_float(type));
  if (type == Type::kFloat32) return load<float>(element);
  if (type == Type::kFloat64) return load<double>(element);
  const auto bits = load<uint16_t>(element);
  return type == Type::kFloat16 ? testing::from_float16_bits(bits) : testing::from_bfloat16_bits(bits);
}

void encode_float(Type type, long double value, void* element) {
  assert(is_float(type));
  if (type == Type::kFloat32) return store(static_cast<float>(value), element);
  if (type == Type::kFloat64) return store(static_cast<double>(value), element);
  // Going through double is one rounding for every value that the oracle rounds: float32 values and ends of bounds.
  const auto number = static_cast<double>(value);
  store(type == Type::kFloat16 ? testing::to_float16_bits(number) : testing::to_bfloat16_bits(number), element);
}

long double round_to(Type type, long double value) {
  uint64_t element = 0;
  encode_float(type, value, &element);
  return decode_float(type, &element);
}

uint64_t decode_integer(Type type, const void* element) {
  switch (type) {
    case Type::kInt32:
      return static_cast<uint64_t>(static_cast<int64_t>(load<int32_t>(element)));
    case Type::kUInt32:
      return load<uint32_t>(element);
    default:
      assert(!is_float(type));
      return load<uint64_t>(element);
  }
}

void encode_integer(Type type, uint64_t value, void* element) {
  assert(!is_float(type));
  if (element_bytes(type) == 4) return store(static_cast<uint32_t>(value), element);
  store(value, element);
}

std::string element_text(Type type, const void* element) {
  if (is_float(type)) {
    const double value = static_cast<double>(decode_float(type, element));
    return std::isfinite(value) ? fmt::format("{:a} ({:.9g})", value, value) : fmt::format("{}", value);
  }
  const uint64_t value = decode_integer(type, element);
  const bool is_signed = type == Type::kInt32 || type == Type::kInt64;
  return is_signed ? fmt::format("{}", static_cast<int64_t>(value)) : fmt::format("{}", value);
}

}  // namespace gemmc::oracle
