// The two 16-bit float types as bit patterns, for test data and oracles. Shares no code with the library.
#pragma once

#include <cstdint>

namespace gemmc::testing {

// One rounding, to nearest even; overflow becomes infinity, every NaN the quiet one.
uint16_t to_float16_bits(double value);
uint16_t to_bfloat16_bits(double value);

double from_float16_bits(uint16_t bits);
double from_bfloat16_bits(uint16_t bits);

}  // namespace gemmc::testing
