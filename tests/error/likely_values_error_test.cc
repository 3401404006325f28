// Likely values that a kernel cannot have bodies for. Those outside of the range: problem_string_error_test.
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "core/problem_string.h"

namespace gemmc {
namespace {

Status planned(const std::string& text) {
  const Expected<Problem> problem = parse_problem(text);
  return problem ? plan(*problem, *parse_target("x86-64-v3")).status() : problem.status();
}

std::string values(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += "~" + std::to_string(i);
  return text;
}

TEST(LikelyValuesError, TooManyAreRefusedByName) {
  const std::pair<std::string, std::string> kRows[] = {
      {"gemm f32 m=4 n=?cols:" + values(9) + " k=4",
       "likely values of 'cols' lead to 9 variants of the kernel; allowed: up to 8"},
      {"gemm f32 m=?~5 n=?cols:" + values(3) + " k=?depth:" + values(4),
       "likely values of 'depth' and 'cols' lead to 12 variants of the kernel; allowed: up to 8"},
      {"gemm f32 m=?" + values(999) + " n=?" + values(999) + " k=?" + values(999) + " ta",
       "likely values of 'k' and 'm' and 'n' have 997002999 combinations; allowed: up to 1024"},
  };
  for (const auto& [text, message] : kRows) {
    const Status status = planned(text);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_EQ(status.message(), message);
  }
}

TEST(LikelyValuesError, AnyNumberOfThoseThatChangeNothingIsFine) {
  const std::string kTexts[] = {
      "gemm f32 m=?" + values(999) + " n=3 k=4",
      "matmul f32 a=?b:" + values(999) + "x5x4 b=?bx4x3",
      "gemm f32 m=4 n=?~7~7~7 k=4",
      "gemm f32 m=4 n=?" + values(8) + "~8~1 k=4",
  };
  for (const std::string& text : kTexts) {
    EXPECT_TRUE(planned(text).is_ok()) << planned(text).message();
  }
}

}  // namespace
}  // namespace gemmc
