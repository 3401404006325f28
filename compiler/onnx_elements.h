// The C++ types behind ONNX's element types, with exact conversions, for the evaluation of constants.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "compiler/onnx_tensor.h"
#include "onnx.pb.h"

namespace gemmc {

struct BFloat16 {
  uint16_t bits = 0;

  float to_float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

  // To nearest, ties to even, in one rounding.
  static BFloat16 from(double value) {
    const auto nearest = static_cast<float>(value);
    auto word = std::bit_cast<uint32_t>(nearest);
    if (std::isnan(nearest)) return {static_cast<uint16_t>(word >> 16 | 0x40)};
    // Round to odd first, so that the second rounding sees on which side of a tie the value was.
    if (std::isfinite(nearest) && static_cast<double>(nearest) != value) {
      if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --word;
      word |= 1;
    }
    return {static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16)};
  }
};

template <typename T>
inline constexpr bool is_small_float = std::is_same_v<T, BFloat16> || std::is_same_v<T, _Float16>;
template <typename T>
inline constexpr bool is_any_float = is_small_float<T> || std::is_floating_point_v<T>;

// The type that arithmetic on T is done in: float32 for the 16-bit floats, else T.
template <typename T>
auto widen(T value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return value.to_float();
  } else if constexpr (std::is_same_v<T, _Float16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

// ONNX's Cast; nothing where its result is undefined (a float outside the integer's range). Integers wrap.
template <typename To, typename From>
std::optional<To> cast_element(From from) {
  const auto value = widen(from);
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return BFloat16::from(static_cast<double>(value));
  } else if constexpr (is_any_float<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<decltype(value)>) {
    // Both bounds are powers of two, so exact: low <= value < high.
    const double high = std::ldexp(1.0, std::numeric_limits<To>::digits);
    const double low = std::is_signed_v<To> ? -high : 0.0;
    const double whole = std::trunc(static_cast<double>(value));
    if (!(whole >= low && whole < high)) return std::nullopt;
    return static_cast<To>(whole);
  } else {
    return static_cast<To>(value);
  }
}

// Calls visitor(T{}) with the C++ type of an element type; false for types whose values are not read. 4-bit integers
// are held as 8-bit ones, so they are sources only.
template <typename Visitor>
bool visit_element_type(ElementType type, const Visitor& visitor) {
  using ::onnx::TensorProto;
  switch (type) {
    case TensorProto::FLOAT:
      visitor(float{});
      return true;
    case TensorProto::DOUBLE:
      visitor(double{});
      return true;
    case TensorProto::FLOAT16:
      visitor(_Float16{});
      return true;
    case TensorProto::BFLOAT16:
      visitor(BFloat16{});
      return true;
    case TensorProto::INT8:
    case TensorProto::INT4:
      visitor(int8_t{});
      return true;
    case TensorProto::UINT8:
    case TensorProto::UINT4:
      visitor(uint8_t{});
      return true;
    case TensorProto::INT16:
      visitor(int16_t{});
      return true;
    case TensorProto::UINT16:
      visitor(uint16_t{});
      return true;
    case TensorProto::INT32:
      visitor(int32_t{});
      return true;
    case TensorProto::UINT32:
      visitor(uint32_t{});
      return true;
    case TensorProto::INT64:
      visitor(int64_t{});
      return true;
    case TensorProto::UINT64:
      visitor(uint64_t{});
      return true;
    case TensorProto::BOOL:
      visitor(bool{});
      return true;
    default:
      return false;
  }
}

}  // namespace gemmc
