// The element types of the oracle, and its reading and writing of elements.
//
// Shares no code with the library: a fault in core/ must not be able to hide itself in the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gemmc::oracle {

enum class Type { kBFloat16, kFloat16, kFloat32, kFloat64, kInt32, kInt64, kUInt32, kUInt64 };

inline constexpr Type kAllTypes[] = {Type::kBFloat16, Type::kFloat16, Type::kFloat32, Type::kFloat64,
                                     Type::kInt32,    Type::kInt64,   Type::kUInt32,  Type::kUInt64};

size_t element_bytes(Type type);
bool is_float(Type type);
bool is_16_bit_float(Type type);

// The value of a floating-point element; long double holds each value of the four types.
long double decode_float(Type type, const void* element);
// Writes `value` rounded once, to nearest with ties to even. Subnormals are kept, NaN stays NaN, overflow is infinity.
void encode_float(Type type, long double value, void* element);
// The value that encode_float() would write.
long double round_to(Type type, long double value);

// An integer element, sign-extended to 64 bits where the type is signed.
uint64_t decode_integer(Type type, const void* element);
// Writes the low bits of `value`.
void encode_integer(Type type, uint64_t value, void* element);

// The element as text that tells two different elements apart: "0x1.8p+1 (3)", "nan", "-17".
std::string element_text(Type type, const void* element);

}  // namespace gemmc::oracle
