#include "tools/performance/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace gemmc {
namespace {

// Row-major product in the accumulator that the type asks for.
template <typename T, typename Sum>
std::vector<T> multiply(const Product& p, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> y;
  for (int64_t m = 0; m < p.m; ++m) {
    for (int64_t n = 0; n < p.n; ++n) {
      Sum sum = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        sum += static_cast<Sum>(p.trans_a ? a[k * p.m + m] : a[m * p.k + k]) *
               static_cast<Sum>(p.trans_b ? b[n * p.k + k] : b[k * p.n + n]);
      }
      y.push_back(static_cast<T>(sum));
    }
  }
  return y;
}

template <typename T, typename Sum>
void expect_right_passes_and_wrong_fails(DType dtype, T wrong_by) {
  for (const Product product : {Product{3, 2, 40}, Product{2, 3, 5, true, false}, Product{4, 1, 7, false, true}}) {
    std::vector<T> a(product.m * product.k), b(product.k * product.n);
    fill_values(dtype, a.data(), static_cast<int64_t>(a.size()), 1);
    fill_values(dtype, b.data(), static_cast<int64_t>(b.size()), 2);
    std::vector<T> y = multiply<T, Sum>(product, a, b);
    const Operands operands = {a.data(), b.data(), y.data()};
    EXPECT_TRUE(check_result(dtype, product, operands).is_ok()) << product.to_string();
    y.back() += wrong_by;
    EXPECT_EQ(check_result(dtype, product, operands).code(), StatusCode::kInternal) << product.to_string();
  }
}

TEST(Reference, RightResultsPassAndWrongOnesFail) {
  expect_right_passes_and_wrong_fails<float, float>(DType::kFloat32, 1e-3f);
  expect_right_passes_and_wrong_fails<double, double>(DType::kFloat64, 1e-9);
  expect_right_passes_and_wrong_fails<int32_t, uint32_t>(DType::kInt32, 1);
  expect_right_passes_and_wrong_fails<uint32_t, uint32_t>(DType::kUInt32, 1);
  expect_right_passes_and_wrong_fails<int64_t, uint64_t>(DType::kInt64, 1);
  expect_right_passes_and_wrong_fails<uint64_t, uint64_t>(DType::kUInt64, 1);
}

TEST(Reference, TheLastItemOfABatchIsChecked) {
  Product product = {1, 1, 1};
  product.batch = 3;
  product.shares_b = true;
  const int32_t a[] = {2, 3, 4}, b[] = {5};
  int32_t y[] = {10, 15, 20};
  EXPECT_TRUE(check_result(DType::kInt32, product, {a, b, y}).is_ok());
  y[2] = 21;
  const Status status = check_result(DType::kInt32, product, {a, b, y});
  EXPECT_NE(status.message().find("wrong result at Y[2, 0, 0]: bits 0x15 instead of 0x14"), std::string::npos)
      << status.message();
}

TEST(Reference, NaNIsWrong) {
  const float a = 1, b = 1;
  float y;
  std::memset(&y, 0xff, sizeof(y));
  EXPECT_FALSE(check_result(DType::kFloat32, {1, 1, 1}, {&a, &b, &y}).is_ok());
}

// 1 x 3 in both 16-bit types, whose results are known bit patterns.
TEST(Reference, SixteenBitTypes) {
  struct Case {
    DType dtype;
    uint16_t one, three, next_after_three;
  };
  for (const Case& c :
       {Case{DType::kFloat16, 0x3c00, 0x4200, 0x4201}, Case{DType::kBFloat16, 0x3f80, 0x4040, 0x4041}}) {
    uint16_t y = c.three;
    EXPECT_TRUE(check_result(c.dtype, {1, 1, 1}, {&c.one, &c.three, &y}).is_ok());
    y = c.next_after_three;
    EXPECT_FALSE(check_result(c.dtype, {1, 1, 1}, {&c.one, &c.three, &y}).is_ok());
  }
}

TEST(Reference, SixteenBitValuesAreFiniteAndVaried) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    std::vector<uint16_t> values(1000);
    fill_values(dtype, values.data(), 1000, 3);
    const uint16_t exponent_mask = dtype == DType::kFloat16 ? 0x7c00 : 0x7f80;
    for (uint16_t value : values) ASSERT_NE(value & exponent_mask, exponent_mask);
    std::sort(values.begin(), values.end());
    EXPECT_GT(std::unique(values.begin(), values.end()) - values.begin(), 500);
  }
}

}  // namespace
}  // namespace gemmc
