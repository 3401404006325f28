#include "core/dtype.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace gemmc {
namespace {

TEST(DType, NamesAndSizes) {
  struct Row {
    DType dtype;
    std::string_view name, short_name, c_type;
    size_t bytes;
    bool integer, signed_integer;
    DType accumulator;
  };
  const Row kRows[] = {
      {DType::kBFloat16, "bfloat16", "bf16", "uint16_t", 2, false, false, DType::kFloat32},
      {DType::kFloat16, "float16", "f16", "uint16_t", 2, false, false, DType::kFloat32},
      {DType::kFloat32, "float32", "f32", "float", 4, false, false, DType::kFloat32},
      {DType::kFloat64, "float64", "f64", "double", 8, false, false, DType::kFloat64},
      {DType::kInt32, "int32", "i32", "int32_t", 4, true, true, DType::kUInt32},
      {DType::kInt64, "int64", "i64", "int64_t", 8, true, true, DType::kUInt64},
      {DType::kUInt32, "uint32", "u32", "uint32_t", 4, true, false, DType::kUInt32},
      {DType::kUInt64, "uint64", "u64", "uint64_t", 8, true, false, DType::kUInt64},
  };
  ASSERT_EQ(std::size(kRows), std::size(kAllDTypes));
  for (const Row& row : kRows) {
    EXPECT_EQ(name(row.dtype), row.name);
    EXPECT_EQ(short_name(row.dtype), row.short_name);
    EXPECT_EQ(c_type(row.dtype), row.c_type) << row.name;
    EXPECT_EQ(size_bytes(row.dtype), row.bytes) << row.name;
    EXPECT_EQ(is_integer(row.dtype), row.integer) << row.name;
    EXPECT_EQ(is_signed_integer(row.dtype), row.signed_integer) << row.name;
    EXPECT_EQ(accumulator(row.dtype), row.accumulator) << row.name;
    EXPECT_EQ(parse_dtype(row.name), row.dtype);
    EXPECT_EQ(parse_dtype(row.short_name), row.dtype);
  }
}

TEST(DType, ListsEachTypeOnce) { EXPECT_EQ(std::set<DType>(std::begin(kAllDTypes), std::end(kAllDTypes)).size(), 8u); }

TEST(DType, ParsesOnlyWholeNames) {
  EXPECT_EQ(parse_dtype("float"), DType::kFloat32);
  EXPECT_EQ(parse_dtype("double"), DType::kFloat64);
  for (const char* word :
       {"", " ", "f", "f3", "f320", "Float32", "FLOAT", "float32 ", "int8", "uint16_t", "complex64", "half"}) {
    EXPECT_EQ(parse_dtype(word), std::nullopt) << word;
  }
  EXPECT_EQ(parse_dtype(std::string_view("f32\0", 4)), std::nullopt);
}

}  // namespace
}  // namespace gemmc
