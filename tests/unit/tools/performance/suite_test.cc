#include "tools/performance/suite.h"

#include <gtest/gtest.h>

#include <fstream>

namespace gemmc {
namespace {

Expected<std::vector<SuiteEntry>> read_text(const std::string& text) {
  const std::string path = ::testing::TempDir() + "gemmc_suite_test.txt";
  std::ofstream(path) << text;
  return read_suite(path, {DType::kFloat32});
}

TEST(Suite, ReadsTheShippedShapes) {
  const auto suite = read_suite(GEMMC_TEST_DATA "/workloads/suite.txt", {DType::kFloat32});
  ASSERT_TRUE(suite) << suite.status().message();
  ASSERT_EQ(suite->size(), 50u);
  EXPECT_EQ(suite->front().category, "square");
  EXPECT_EQ(suite->back().product.to_string(), "64x64x4096 ta");
  EXPECT_EQ(suite->back().product.lda(), 64);
}

TEST(Suite, HasEveryShapeInEveryType) {
  const std::string path = ::testing::TempDir() + "gemmc_suite_test.txt";
  std::ofstream(path) << "# square\n8 8 8 0 0\n9 9 9 0 0\n";
  const auto suite = read_suite(path, {DType::kFloat32, DType::kFloat64});
  ASSERT_TRUE(suite) << suite.status().message();
  ASSERT_EQ(suite->size(), 4u);
  EXPECT_EQ((*suite)[1].product.m, 9);
  EXPECT_EQ((*suite)[1].dtype, DType::kFloat32);
  EXPECT_EQ((*suite)[2], (SuiteEntry{"square", DType::kFloat64, {8, 8, 8}}));
}

TEST(Suite, RefusesWhatItDoesNotUnderstandWithTheLine) {
  for (const char* line : {"8 8 8 0", "8 8 8 0 0 0", "8 x 8 0 0", "0 8 8 0 0", "8 8 8 2 0"}) {
    const auto suite = read_text(std::string("# square\n") + line + "\n");
    ASSERT_FALSE(suite) << line;
    EXPECT_NE(suite.status().message().find(std::string(":2: '") + line), std::string::npos)
        << suite.status().message();
  }
}

TEST(Suite, RefusesAnEmptyOrMissingFile) {
  EXPECT_EQ(read_text("# square\n").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(read_suite("no/such/suite.txt", {}).status().code(), StatusCode::kEnvironment);
}

}  // namespace
}  // namespace gemmc
