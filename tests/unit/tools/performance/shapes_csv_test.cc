#include "tools/performance/shapes_csv.h"

#include <gtest/gtest.h>

#include <fstream>

namespace gemmc {
namespace {

Expected<ShapesCsv> read_text(const std::string& text, const std::vector<DType>& dtypes = {}) {
  const std::string path = ::testing::TempDir() + "gemmc_shapes_test.csv";
  std::ofstream(path) << text;
  return read_shapes_csv(path, dtypes);
}

TEST(ShapesCsv, ColumnsAreKnownByTheirNames) {
  const auto csv = read_text("K,unknown,dtype,N,M,transB\n3,\"a, \"\"b\"\"\",f64,2,1,1\n");
  ASSERT_TRUE(csv) << csv.status().message();
  ASSERT_EQ(csv->entries.size(), 1u);
  EXPECT_EQ(csv->entries[0], (SuiteEntry{"gemmc_shapes_test", DType::kFloat64, {1, 2, 3, false, true}}));
}

TEST(ShapesCsv, AColumnMajorRowIsTheRowMajorProductWithItsOperandsExchanged) {
  const auto csv = read_text("suite,M,N,K,transA,transB,batch,dtype\nblas,5,6,7,1,0,3,f32 (col-major BLAS)\n");
  ASSERT_TRUE(csv) << csv.status().message();
  Product product = {6, 5, 7, false, true};
  product.batch = 3;
  EXPECT_EQ(csv->entries[0], (SuiteEntry{"blas", DType::kFloat32, product}));
}

TEST(ShapesCsv, TypesThatNoProblemHasAreCounted) {
  const auto csv = read_text("M,N,K,dtype\n1,2,3,u8xi8\n1,2,3,f32/f16/i8\n1,2,4,u8xi8\n1,2,3,f32\n");
  ASSERT_TRUE(csv) << csv.status().message();
  ASSERT_EQ(csv->entries.size(), 2u) << "equal ones once";
  EXPECT_EQ(csv->entries[1].dtype, DType::kFloat16);
  ASSERT_EQ(csv->left_out.size(), 2u);
  EXPECT_NE(csv->left_out[0].find("1 row of type 'i8': not built yet"), std::string::npos) << csv->left_out[0];
  EXPECT_NE(csv->left_out[1].find("2 rows of type 'u8xi8': not built yet"), std::string::npos) << csv->left_out[1];
}

TEST(ShapesCsv, OtherTypesThanTheAskedOnesAreCounted) {
  const auto csv = read_text("M,N,K,dtype\n1,2,3,f32/f16\n", {DType::kFloat16});
  ASSERT_TRUE(csv) << csv.status().message();
  ASSERT_EQ(csv->entries.size(), 1u);
  EXPECT_EQ(csv->entries[0].dtype, DType::kFloat16);
  ASSERT_EQ(csv->left_out.size(), 1u);
  EXPECT_NE(csv->left_out[0].find("not among --dtype"), std::string::npos);
}

TEST(ShapesCsv, RefusesWhatItDoesNotUnderstandWithTheLine) {
  const std::string head = "M,N,K,transA,batch,dtype\n";
  for (const char* row : {"1,2,x,0,1,f32", "0,2,3,0,1,f32", "1,2,3,2,1,f32", "1,2,3,0,0,f32", "1,2,3,0,1",
                          "1,2,3,0,1,f32,", "99999999999,2,3,0,1,f32"}) {
    const auto csv = read_text(head + row + "\n");
    ASSERT_FALSE(csv) << row;
    EXPECT_NE(csv.status().message().find(std::string(":2: '") + row), std::string::npos) << csv.status().message();
  }
  EXPECT_NE(read_text("M,N,dtype\n1,2,f32\n").status().message().find("no column K"), std::string::npos);
  EXPECT_EQ(read_text(head).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(read_text(head + "1,2,3,0,1,u8xi8\n").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(read_shapes_csv("no/such/shapes.csv", {}).status().code(), StatusCode::kEnvironment);
}

TEST(ShapesCsv, ReadsTheShippedShapes) {
  const auto csv = read_shapes_csv(GEMMC_TEST_DATA "/workloads/shapes.csv", {});
  ASSERT_TRUE(csv) << csv.status().message();
  EXPECT_GT(csv->entries.size(), 500u);
  EXPECT_EQ(csv->left_out.size(), 3u) << "f32xi4, u8xi8, i8";
}

}  // namespace
}  // namespace gemmc
