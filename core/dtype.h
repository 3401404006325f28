// The eight element types of a problem, and int8. A, B, C and Y of one problem share one type; an operand may be stored
// in a narrower one.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace gemmc {

enum class DType { kBFloat16, kFloat16, kFloat32, kFloat64, kInt32, kInt64, kUInt32, kUInt64, kInt8 };

// Without int8, which is a type of storage only.
inline constexpr DType kAllDTypes[] = {DType::kBFloat16, DType::kFloat16, DType::kFloat32, DType::kFloat64,
                                       DType::kInt32,    DType::kInt64,   DType::kUInt32,  DType::kUInt64};

// The name in node descriptions and manifests ("float32").
std::string_view name(DType dtype);
// The word in problem strings ("f32").
std::string_view short_name(DType dtype);
// The C type of an element in the typed kernel prototype; 16-bit floats are their bit patterns ("uint16_t").
std::string_view c_type(DType dtype);

size_t size_bytes(DType dtype);
bool is_integer(DType dtype);
bool is_signed_integer(DType dtype);

// The type in which products are summed: float32 for the 16-bit floats, the unsigned integer of the same width for
// integers (wrap-around is then defined), else the type itself. Source: docs/numbers.md.
DType accumulator(DType dtype);

// Parses name(), short_name() and the C names "float", "double"; nothing for any other word. A problem's type, and one
// of storage.
std::optional<DType> parse_dtype(std::string_view word);
std::optional<DType> parse_storage_dtype(std::string_view word);

}  // namespace gemmc
