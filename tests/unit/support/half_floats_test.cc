#include "tests/support/half_floats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gemmc::testing {
namespace {

// Halves come back from every bit pattern, and ties go to even.
TEST(HalfFloats, RoundToNearestEven) {
  for (int bits = 0; bits < 65536; ++bits) {
    const double half = from_float16_bits(static_cast<uint16_t>(bits));
    const double brain = from_bfloat16_bits(static_cast<uint16_t>(bits));
    EXPECT_TRUE(std::isnan(half) || to_float16_bits(half) == bits) << bits;
    EXPECT_TRUE(std::isnan(brain) || to_bfloat16_bits(brain) == bits) << bits;
  }
  EXPECT_EQ(to_float16_bits(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(to_float16_bits(1 + 0x1p-11 + 0x1p-50), 0x3c01);
  EXPECT_EQ(to_float16_bits(1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(to_float16_bits(65519.999), 0x7bff);
  EXPECT_EQ(to_float16_bits(65520), 0x7c00);
  EXPECT_EQ(to_float16_bits(0x1p-25), 0);
  EXPECT_EQ(to_float16_bits(0x1.8p-25), 1);
  EXPECT_EQ(to_bfloat16_bits(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(to_bfloat16_bits(-1 - 3 * 0x1p-8), 0xbf82);
  EXPECT_TRUE(std::isnan(from_bfloat16_bits(to_bfloat16_bits(std::numeric_limits<double>::quiet_NaN()))));
}

}  // namespace
}  // namespace gemmc::testing
