// Who tests the tester: the oracle against values worked out by hand, against the compiler's own conversions, and
// against the expectations of every case file.
#include "tests/support/oracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/support/cases.h"

namespace gemmc::oracle {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// A dense tensor with its elements, as the tests write them.
struct Array {
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  View view() const { return {bytes.data(), shape, View::dense_strides(shape)}; }
};

Array floats(Type type, std::vector<int64_t> shape, const std::vector<double>& values) {
  Array array{std::move(shape), std::vector<uint8_t>(values.size() * element_bytes(type))};
  for (size_t i = 0; i < values.size(); ++i) {
    encode_float(type, values[i], array.bytes.data() + i * element_bytes(type));
  }
  return array;
}

Array integers(Type type, std::vector<int64_t> shape, const std::vector<uint64_t>& values) {
  Array array{std::move(shape), std::vector<uint8_t>(values.size() * element_bytes(type))};
  for (size_t i = 0; i < values.size(); ++i) {
    encode_integer(type, values[i], array.bytes.data() + i * element_bytes(type));
  }
  return array;
}

Product gemm(Type type, const Array& a, const Array& b, float alpha = 1, float beta = 1) {
  Product product;
  product.type = type;
  product.a = a.view();
  product.b = b.view();
  product.alpha = alpha;
  product.beta = beta;
  return product;
}

std::string judged(const std::optional<Mismatch>& mismatch) { return mismatch ? mismatch->text() : "right"; }

std::string judge(const Product& product, const Array& y) {
  EXPECT_EQ(output_shape(product), y.shape);
  return judged(find_mismatch(product, y.view()));
}

// ---- Conversions

TEST(OracleNumber, EverySixteenBitPatternSurvivesTheRoundTrip) {
  for (const Type type : {Type::kFloat16, Type::kBFloat16}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto element = static_cast<uint16_t>(bits);
      uint16_t back = 0;
      const long double value = decode_float(type, &element);
      encode_float(type, value, &back);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode_float(type, &back))) << bits;
      } else {
        EXPECT_EQ(back, element);
      }
    }
  }
}

TEST(OracleNumber, Float32RoundsLikeTheCompilersFloat16AndLikeIntegerBFloat16) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    // Half of the patterns lie close to a rounding boundary of one of the formats.
    auto bits = static_cast<uint32_t>(random());
    if (i % 4 == 1) bits = (bits & 0xffff0000u) | 0x8000u | (bits & 1);
    if (i % 4 == 2) bits = (bits & 0xffffe000u) | 0x1000u | (bits & 1);
    if (i % 4 == 3) bits = (bits & 0x800fffffu) | ((100 + bits % 32) << 23);  // near float16's subnormals
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) continue;

    const _Float16 half = static_cast<_Float16>(value);
    uint16_t expected_half, found;
    std::memcpy(&expected_half, &half, sizeof expected_half);
    encode_float(Type::kFloat16, value, &found);
    EXPECT_EQ(found, expected_half) << std::hexfloat << value;

    const auto expected_bfloat = static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    encode_float(Type::kBFloat16, value, &found);
    EXPECT_EQ(found, expected_bfloat) << std::hexfloat << value;
  }
}

TEST(OracleNumber, IntegersAreSignExtendedAndCutToTheirWidth) {
  const int32_t minus_two = -2;
  EXPECT_EQ(decode_integer(Type::kInt32, &minus_two), ~uint64_t{1});
  EXPECT_EQ(decode_integer(Type::kUInt32, &minus_two), 0xfffffffeu);
  uint32_t cut = 0;
  encode_integer(Type::kUInt32, 0x1'2345'6789u, &cut);
  EXPECT_EQ(cut, 0x23456789u);
  EXPECT_EQ(element_text(Type::kInt32, &minus_two), "-2");
  EXPECT_EQ(element_text(Type::kUInt32, &minus_two), "4294967294");
}

// ---- Shapes

TEST(Oracle, GemmTransposesEitherOperand) {
  const Type type = Type::kFloat64;
  // A = [1 2; 3 4; 5 6], B = [1 2 3; 4 5 6]
  const Array a = floats(type, {3, 2}, {1, 2, 3, 4, 5, 6}), a_t = floats(type, {2, 3}, {1, 3, 5, 2, 4, 6});
  const Array b = floats(type, {2, 3}, {1, 2, 3, 4, 5, 6}), b_t = floats(type, {3, 2}, {1, 4, 2, 5, 3, 6});
  const Array y = floats(type, {3, 3}, {9, 12, 15, 19, 26, 33, 29, 40, 51});
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      Product product = gemm(type, trans_a ? a_t : a, trans_b ? b_t : b);
      product.trans_a = trans_a;
      product.trans_b = trans_b;
      EXPECT_EQ(judge(product, y), "right");
      product.trans_b = !trans_b;
      EXPECT_NE(output_shape(product), y.shape);
    }
  }
}

TEST(Oracle, EveryFormOfCBroadcasts) {
  const Type type = Type::kInt32;
  const Array a = integers(type, {2, 1}, {1, 2}), b = integers(type, {1, 3}, {1, 2, 3});
  const auto y_with = [&](const Array& c) {
    Product product = gemm(type, a, b);
    product.c = c.view();
    return product;
  };
  const Array scalar_sum = integers(type, {2, 3}, {11, 12, 13, 12, 14, 16});
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {1}, {1, 1}}) {
    EXPECT_EQ(judge(y_with(integers(type, shape, {10})), scalar_sum), "right");
  }
  const Array row_sum = integers(type, {2, 3}, {11, 22, 33, 12, 24, 36});
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{3}, {1, 3}}) {
    EXPECT_EQ(judge(y_with(integers(type, shape, {10, 20, 30})), row_sum), "right");
  }
  EXPECT_EQ(judge(y_with(integers(type, {2, 1}, {10, 20})), integers(type, {2, 3}, {11, 12, 13, 22, 24, 26})), "right");
  EXPECT_EQ(judge(y_with(integers(type, {2, 3}, {1, 2, 3, 4, 5, 6})), integers(type, {2, 3}, {2, 4, 6, 6, 9, 12})),
            "right");
}

TEST(Oracle, MatMulBroadcastsBatchesOnBothSidesAndDropsVectorDimensions) {
  const Type type = Type::kInt64;
  Product product;
  product.is_gemm = false;
  product.type = type;
  // (2, 1, 1, 2) x (3, 2, 1) -> (2, 3, 1, 1)
  const Array a = integers(type, {2, 1, 1, 2}, {1, 2, 3, 4});
  const Array b = integers(type, {3, 2, 1}, {1, 10, 2, 20, 3, 30});
  product.a = a.view();
  product.b = b.view();
  EXPECT_EQ(judge(product, integers(type, {2, 3, 1, 1}, {21, 42, 63, 43, 86, 129})), "right");
  EXPECT_EQ(judge(product, integers(type, {2, 3, 1, 1}, {21, 42, 63, 43, 86, 130})),
            "Y[1, 2, 0, 0] is 130, allowed: 129");

  const Array vector = integers(type, {2}, {1, 10});
  product.a = vector.view();
  EXPECT_EQ(judge(product, integers(type, {3, 1}, {101, 202, 303})), "right");
  const Array stack = integers(type, {2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  product.a = stack.view();
  product.b = vector.view();
  EXPECT_EQ(judge(product, integers(type, {2, 3}, {21, 43, 65, 87, 109, 131})), "right");
  product.a = vector.view();
  EXPECT_EQ(judge(product, integers(type, {}, {101})), "right");
}

TEST(Oracle, ReadsThroughStrides) {
  const Type type = Type::kFloat32;
  const Array buffer = floats(type, {6}, {6, 5, 4, 3, 2, 1});
  const Array b = floats(type, {2, 1}, {1, 100});
  Product product = gemm(type, buffer, b);
  // Rows (1, 3) and (2, 4), and (3, 5), read backwards from the last element.
  product.a = {buffer.bytes.data() + 5 * sizeof(float), {3, 2}, {-1, -2}};
  EXPECT_EQ(judge(product, floats(type, {3, 1}, {301, 402, 503})), "right");
  const Array y = floats(type, {5}, {301, 0, 402, 0, 503});
  EXPECT_EQ(judged(find_mismatch(product, {y.bytes.data(), {3, 1}, {2, 1}})), "right");
}

TEST(Oracle, EmptyShapesAllowAnythingAndKZeroGivesZerosOrBetaC) {
  const Type type = Type::kFloat32;
  const Array a = floats(type, {2, 0}, {}), b = floats(type, {0, 2}, {});
  EXPECT_EQ(judge(gemm(type, a, b, 3), floats(type, {2, 2}, {0, 0, -0.0, 0})), "right");
  EXPECT_NE(judge(gemm(type, a, b, 3), floats(type, {2, 2}, {0, 0, 0, kNan})), "right");
  const Array c = floats(type, {2}, {1, kInf});
  Product product = gemm(type, a, b, 1, -2);
  product.c = c.view();
  EXPECT_EQ(judge(product, floats(type, {2, 2}, {-2, -kInf, -2, -kInf})), "right");
  const Array empty = floats(type, {0, 3}, {}), wide = floats(type, {3, 4}, std::vector<double>(12, 1));
  EXPECT_EQ(judge(gemm(type, empty, wide), floats(type, {0, 4}, {})), "right");
}

// ---- The documented bound

TEST(Oracle, TheBoundIsTheDocumentedOne) {
  // K = 2, |A||B| = 3 + 6 = 9, |alpha| = 2, |beta||C| = 4 * 5: bound = 6 eps 38 (+ a few tiny).
  for (const Type type : {Type::kFloat32, Type::kFloat64}) {
    const double eps = type == Type::kFloat32 ? 0x1p-24 : 0x1p-53;
    const Array a = floats(type, {1, 2}, {1, -2}), b = floats(type, {2, 1}, {3, 3}), c = floats(type, {1}, {5});
    Product product = gemm(type, a, b, 2, -4);
    product.c = c.view();
    const double exact = 2 * (3 - 6) - 4 * 5.0;
    const double bound = 6 * eps * 38;
    for (const double sign : {-1.0, 1.0}) {
      EXPECT_EQ(judge(product, floats(type, {1, 1}, {exact + sign * bound * 0.99})), "right");
      EXPECT_NE(judge(product, floats(type, {1, 1}, {exact + sign * bound * 1.1})), "right");
    }
  }
}

TEST(Oracle, SubnormalResultsHaveAnAbsoluteAllowance) {
  const Type type = Type::kFloat32;
  const Array a = floats(type, {1, 1}, {0x1p-80}), b = floats(type, {1, 1}, {0x1p-80});
  EXPECT_EQ(judge(gemm(type, a, b), floats(type, {1, 1}, {0})), "right");
  EXPECT_EQ(judge(gemm(type, a, b), floats(type, {1, 1}, {0x1p-149})), "right");
  EXPECT_NE(judge(gemm(type, a, b), floats(type, {1, 1}, {6 * 0x1p-149})), "right");
}

// Where a kernel may take factors and sums below 2^-126 for 0; elsewhere none of that is right.
TEST(Oracle, SmallFactorsMayCountAsZeroWhereThatIsAllowed) {
  const Type type = Type::kBFloat16;
  struct Row {
    double a, b, y;  // y = a * b but that something is 0 below 2^-126
    bool is_allowed;
  };
  const Row kRows[] = {
      {0x1p-127, 0x1p120, 0, true},                                  // a factor
      {0x1p120, -0x1p-130, 0, true},                                 // the other one
      {0x1p-64, 0x1p-64, 0, true},                                   // a sum
      {0x1p-126, 0x1p120, 0, false},                                 // the smallest normal number
      {0x1p-61, 0x1p-61, 0, false},                                  // 2^-122, and the bound is 5 * 2^-126
      {0x1p-127, kInf, kNan, true},                                  // 0 times infinity
      {0x1p-126, kInf, kNan, false}, {0x1p-127, 0x1p120, 1, false},  // anything else
  };
  for (const Row& row : kRows) {
    const Array a = floats(type, {1, 1}, {row.a}), b = floats(type, {1, 1}, {row.b});
    Product product = gemm(type, a, b);
    const Array y = floats(type, {1, 1}, {row.y});
    EXPECT_NE(judge(product, y), "right") << row.a << " " << row.b;
    product.may_flush = true;
    EXPECT_EQ(judge(product, y) == "right", row.is_allowed) << row.a << " " << row.b << ": " << judge(product, y);
    const Array exact = floats(type, {1, 1}, {row.a * row.b});
    EXPECT_EQ(judge(product, exact), "right") << row.a << " " << row.b;
  }
}

TEST(Oracle, SixteenBitResultsAreRoundedOnce) {
  // 1 + 2^-9 is a tie in bfloat16 (1 or 1 + 2^-7 are further away than the bound allows beside 1 and 1 + 2^-8).
  const Array a = floats(Type::kBFloat16, {1, 2}, {1, 1}), b = floats(Type::kBFloat16, {2, 1}, {1, 0x1p-9});
  EXPECT_EQ(judge(gemm(Type::kBFloat16, a, b), floats(Type::kBFloat16, {1, 1}, {1})), "right");
  EXPECT_NE(judge(gemm(Type::kBFloat16, a, b), floats(Type::kBFloat16, {1, 1}, {1 + 0x1p-7})), "right");
  // 2048 + 1 + 1 in float16: summing in float16 would stay at 2048.
  const Array ones = floats(Type::kFloat16, {1, 3}, {2048, 1, 1}), column = floats(Type::kFloat16, {3, 1}, {1, 1, 1});
  EXPECT_EQ(judge(gemm(Type::kFloat16, ones, column), floats(Type::kFloat16, {1, 1}, {2050})), "right");
  EXPECT_NE(judge(gemm(Type::kFloat16, ones, column), floats(Type::kFloat16, {1, 1}, {2048})), "right");
}

// ---- Special values

TEST(Oracle, SpecialValuesAreExact) {
  const Type type = Type::kFloat32;
  const auto judge_one = [&](std::vector<double> a, std::vector<double> b, double y, float alpha = 1) {
    const auto depth = static_cast<int64_t>(a.size());
    return judge(gemm(type, floats(type, {1, depth}, a), floats(type, {depth, 1}, b), alpha),
                 floats(type, {1, 1}, {y}));
  };
  EXPECT_EQ(judge_one({1, kNan}, {1, 1}, kNan), "right");
  EXPECT_EQ(judge_one({1, kNan}, {1, 1}, 1), "Y[0, 0] is 0x1p+0 (1), allowed: nan");
  EXPECT_EQ(judge_one({0, 1}, {kInf, 1}, kNan), "right");
  EXPECT_NE(judge_one({0, 1}, {kInf, 1}, 1), "right");
  EXPECT_EQ(judge_one({kInf, 1}, {1, 1}, kInf), "right");
  EXPECT_NE(judge_one({kInf, 1}, {1, 1}, -kInf), "right");
  EXPECT_NE(judge_one({kInf, 1}, {1, 1}, kNan), "right");
  EXPECT_EQ(judge_one({kInf, kInf}, {1, -1}, kNan), "right");
  // alpha = 0 reads A and B; a negative alpha turns the sign; an infinite one meets zero.
  EXPECT_EQ(judge_one({kInf}, {1}, kNan, 0), "right");
  EXPECT_NE(judge_one({kInf}, {1}, 0, 0), "right");
  EXPECT_EQ(judge_one({3}, {1}, 0, 0), "right");
  // K = 0 is a sum of 0 like others.
  EXPECT_EQ(judge_one({}, {}, 0, 3), "right");
  for (const double alpha : {kInf, -kInf, kNan}) {
    EXPECT_EQ(judge_one({}, {}, kNan, static_cast<float>(alpha)), "right");
    EXPECT_NE(judge_one({}, {}, 0, static_cast<float>(alpha)), "right");
  }
  EXPECT_EQ(judge_one({kInf}, {1}, -kInf, -2), "right");
  EXPECT_EQ(judge_one({2}, {1}, kInf, static_cast<float>(kInf)), "right");
  EXPECT_EQ(judge_one({0}, {1}, kNan, static_cast<float>(kInf)), "right");
  EXPECT_NE(judge_one({0}, {1}, 0, static_cast<float>(kInf)), "right");
}

TEST(Oracle, OverflowIsInfinityAndOrderMayDecideOnlyWhereItCan) {
  const Type type = Type::kFloat32;
  const double big = 0x1p127;
  const Array column = floats(type, {3, 1}, {1, 1, 1});
  const auto judge_row = [&](std::vector<double> a, double y) {
    return judge(gemm(type, floats(type, {1, 3}, a), column), floats(type, {1, 1}, {y}));
  };
  EXPECT_EQ(judge_row({big, big, 0}, kInf), "right");
  EXPECT_NE(judge_row({big, big, 0}, big), "right");
  EXPECT_NE(judge_row({big, big, 0}, kNan), "right");
  // big + big - big: infinity in one order, big in another; never -infinity, and nothing in between.
  EXPECT_EQ(judge_row({big, big, -big}, kInf), "right");
  EXPECT_EQ(judge_row({big, big, -big}, big), "right");
  EXPECT_NE(judge_row({big, big, -big}, -kInf), "right");
  EXPECT_NE(judge_row({big, big, -big}, 0), "right");
  // The largest float32 is not infinity, float16 overflows at 65520.
  EXPECT_NE(judge_row({0x1.fffffep126, 0, 0}, kInf), "right");
  const Array ones = floats(Type::kFloat16, {2, 1}, {1, 1});
  const auto judge_half = [&](std::vector<double> a, double y) {
    return judge(gemm(Type::kFloat16, floats(Type::kFloat16, {1, 2}, a), ones), floats(Type::kFloat16, {1, 1}, {y}));
  };
  EXPECT_EQ(judge_half({65504, 32}, kInf), "right");
  EXPECT_EQ(judge_half({65504, 8}, 65504), "right");
  EXPECT_NE(judge_half({65504, 8}, kInf), "right");
  EXPECT_NE(judge_half({65504, 32}, 65472), "right");
}

TEST(Oracle, CIsNotReadWhereBetaIsZero) {
  const Type type = Type::kFloat64;
  const Array a = floats(type, {1, 1}, {2}), c = floats(type, {1}, {kNan});
  Product product = gemm(type, a, a, 1, 0);
  product.c = c.view();
  EXPECT_EQ(judge(product, floats(type, {1, 1}, {4})), "right");
  product.beta = 1;
  EXPECT_EQ(judge(product, floats(type, {1, 1}, {kNan})), "right");
  EXPECT_NE(judge(product, floats(type, {1, 1}, {4})), "right");
}

// ---- Integers

TEST(Oracle, IntegersAreModular) {
  const auto judge_one = [](Type type, uint64_t a, uint64_t b, float alpha, uint64_t y) {
    return judge(gemm(type, integers(type, {1, 1}, {a}), integers(type, {1, 1}, {b}), alpha),
                 integers(type, {1, 1}, {y}));
  };
  EXPECT_EQ(judge_one(Type::kInt32, 0x80000000u, 0xffffffffu, 1, 0x80000000u), "right");  // INT_MIN * -1
  EXPECT_EQ(judge_one(Type::kUInt32, 0xffffffffu, 0xffffffffu, 1, 1), "right");
  EXPECT_EQ(judge_one(Type::kInt64, uint64_t{1} << 53, 3, 1, uint64_t{3} << 53), "right");
  EXPECT_EQ(judge_one(Type::kUInt64, ~uint64_t{0}, 2, 1, ~uint64_t{1}), "right");
  EXPECT_EQ(judge_one(Type::kUInt32, 5, 1, -1, 0xfffffffbu), "right");
  EXPECT_EQ(judge_one(Type::kUInt64, 5, 1, 0x1p62f, uint64_t{1} << 62), "right");
  EXPECT_EQ(judge_one(Type::kInt64, 5, 7, 0x1p100f, 0), "right");
  EXPECT_NE(judge_one(Type::kInt32, 3, 4, 1, 13), "right");
}

TEST(Oracle, FractionalScalarsAreRoundedTermByTermTruncatedAndSaturated) {
  const auto judge_one = [](Type type, uint64_t product_value, float alpha, uint64_t c_value, float beta, uint64_t y) {
    const Array a = integers(type, {1, 1}, {product_value}), one = integers(type, {1, 1}, {1});
    const Array c = integers(type, {}, {c_value});
    Product product = gemm(type, a, one, alpha, beta);
    product.c = c.view();
    return judge(product, integers(type, {1, 1}, {y}));
  };
  const auto minus = [](uint64_t value) { return uint64_t{0} - value; };
  EXPECT_EQ(judge_one(Type::kInt32, 7, 0.5f, 0, 1, 3), "right");
  EXPECT_EQ(judge_one(Type::kInt32, minus(7), 0.5f, 0, 1, minus(3)), "right");
  EXPECT_EQ(judge_one(Type::kInt32, 7, 0.5f, 1, 1.5f, 5), "right");  // 3.5 + 1.5, not 3 + 1
  EXPECT_EQ(judge_one(Type::kUInt32, 7, -0.5f, 1, 1, 0), "right");   // saturates at 0
  EXPECT_EQ(judge_one(Type::kInt32, 0x7fffffff, 1.5f, 0, 1, 0x7fffffff), "right");
  EXPECT_EQ(judge_one(Type::kInt32, 0x80000000u, 1.5f, 0, 1, 0x80000000u), "right");
  EXPECT_EQ(judge_one(Type::kInt64, uint64_t{1} << 62, 2.5f, 0, 1, (uint64_t{1} << 63) - 1), "right");
  EXPECT_EQ(judge_one(Type::kUInt64, uint64_t{1} << 63, 2.5f, 0, 1, ~uint64_t{0}), "right");
  // 2^53 + 1 is rounded to 2^53 on the way; beta alone being fractional is enough for it.
  EXPECT_EQ(judge_one(Type::kInt64, (uint64_t{1} << 53) + 1, 1, 0, 0.5f, uint64_t{1} << 53), "right");
  EXPECT_EQ(judge_one(Type::kInt64, (uint64_t{1} << 53) + 1, 1, 0, 2, (uint64_t{1} << 53) + 1), "right");
}

TEST(Oracle, AFractionalBetaWithoutCChangesNothing) {
  const Type type = Type::kUInt64;
  const uint64_t odd = (uint64_t{1} << 60) + 1;
  const Array a = integers(type, {1, 1}, {odd}), one = integers(type, {1, 1}, {1});
  EXPECT_EQ(judge(gemm(type, a, one, 1, 0.5f), a), "right");
}

// ---- The chain of fma

std::string judge_chain(const Product& product, const Array& y) {
  return judged(find_chain_mismatch(product, y.view()));
}

TEST(OracleChain, ProductsAreFusedAndSummedInOrderOfK) {
  const Type type = Type::kFloat32;
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: fused with -1 the last bit survives, rounded first it does not.
  const Array a = floats(type, {1, 2}, {-1, 1 + 0x1p-12}), b = floats(type, {2, 1}, {1, 1 + 0x1p-12});
  EXPECT_EQ(judge_chain(gemm(type, a, b), floats(type, {1, 1}, {0x1p-11 + 0x1p-24})), "right");
  EXPECT_NE(judge_chain(gemm(type, a, b), floats(type, {1, 1}, {0x1p-11})), "right");
  // 2^24 + 1 + 1: each 1 is lost, in order; the other order keeps both.
  const Array ones = floats(type, {3, 1}, {1, 1, 1});
  EXPECT_EQ(judge_chain(gemm(type, floats(type, {1, 3}, {0x1p24, 1, 1}), ones), floats(type, {1, 1}, {0x1p24})),
            "right");
  EXPECT_EQ(judge_chain(gemm(type, floats(type, {1, 3}, {1, 1, 0x1p24}), ones), floats(type, {1, 1}, {0x1p24 + 2})),
            "right");
}

TEST(OracleChain, EpilogueRoundsAsDocumented) {
  const Type type = Type::kFloat64;
  const double x = 1 + 0x1p-30;
  const Array a = floats(type, {1, 1}, {x}), one = floats(type, {1, 1}, {1});
  Product product = gemm(type, a, one, 3);
  EXPECT_EQ(judge_chain(product, floats(type, {1, 1}, {3 * x})), "right");
  // fma(beta, c, t) keeps the bit that beta * c rounded would lose.
  const Array c = floats(type, {}, {1 + 0x1p-30});
  const Array minus_one = floats(type, {1, 1}, {-1});
  product = gemm(type, minus_one, one, 1, 1 + 0x1p-23f);
  product.c = c.view();
  const double beta = 1 + 0x1p-23;
  EXPECT_EQ(judge_chain(product, floats(type, {1, 1}, {std::fma(beta, 1 + 0x1p-30, -1.0)})), "right");
  EXPECT_NE(judge_chain(product, floats(type, {1, 1}, {beta * (1 + 0x1p-30) - 1.0})), "right");
  product.beta = 1;
  EXPECT_EQ(judge_chain(product, floats(type, {1, 1}, {0x1p-30})), "right");
}

TEST(OracleChain, ZerosKeepTheirSignAndNansAreAllAlike) {
  const Type type = Type::kFloat32;
  const Array a = floats(type, {1, 1}, {-0.0}), b = floats(type, {1, 1}, {1});
  EXPECT_EQ(judge_chain(gemm(type, a, b), floats(type, {1, 1}, {0.0})), "right");
  EXPECT_NE(judge_chain(gemm(type, a, b), floats(type, {1, 1}, {-0.0})), "right");
  const Array nan = floats(type, {1, 1}, {kNan});
  EXPECT_EQ(judge_chain(gemm(type, nan, b), floats(type, {1, 1}, {-kNan})), "right");
}

TEST(OracleChain, SixteenBitTypesRunInFloat32) {
  const Type type = Type::kFloat16;
  const Array a = floats(type, {1, 2}, {2048, 1}), b = floats(type, {2, 1}, {1, 1}), c = floats(type, {}, {1});
  Product product = gemm(type, a, b);
  product.c = c.view();
  EXPECT_EQ(judge_chain(product, floats(type, {1, 1}, {2050})), "right");
  EXPECT_NE(judge_chain(product, floats(type, {1, 1}, {2048})), "right");
}

// ---- Against data that others computed

Type to_type(DType dtype) {
  for (const Type type : kAllTypes) {
    if (static_cast<int>(type) == static_cast<int>(dtype)) return type;
  }
  ADD_FAILURE() << "unknown type";
  return Type::kFloat32;
}

TEST(Oracle, AgreesWithEveryCaseFile) {
  int agreed = 0;
  for (const std::string folder : {"worked", "reported"}) {
    for (const testing::Case& test_case : testing::read_cases(folder)) {
      if (!test_case.expect.is_ok) continue;
      Product product;
      product.is_gemm = test_case.op == "Gemm";
      product.type = to_type(test_case.a.tensor.dtype);
      const auto view = [](const Tensor& tensor) {
        return View{tensor.bytes.data(), tensor.shape, View::dense_strides(tensor.shape)};
      };
      product.a = view(test_case.a.tensor);
      product.b = view(test_case.b.tensor);
      if (test_case.c) product.c = view(test_case.c->tensor);
      for (const NodeAttribute& attribute : test_case.attributes) {
        const float number = attribute.kind == NodeAttribute::Kind::kInt ? static_cast<float>(attribute.int_value)
                                                                         : attribute.float_value;
        if (attribute.name == "alpha") product.alpha = number;
        if (attribute.name == "beta") product.beta = number;
        if (attribute.name == "transA") product.trans_a = number != 0;
        if (attribute.name == "transB") product.trans_b = number != 0;
      }
      EXPECT_EQ(output_shape(product), test_case.expect.y.shape) << test_case.id;
      EXPECT_EQ(judged(find_mismatch(product, view(test_case.expect.y))), "right") << test_case.id;
      ++agreed;
    }
  }
  EXPECT_EQ(agreed, 146);
}

}  // namespace
}  // namespace gemmc::oracle
