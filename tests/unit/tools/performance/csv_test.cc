#include "tools/performance/csv.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/performance/small_run.h"

namespace gemmc::testing {
namespace {

TEST(Csv, HasAHeadAndALineForEachContender) {
  const std::string text = print_csv(small_run());
  EXPECT_TRUE(text.starts_with("# format: gemmc bench 1\n# command: gemmc bench suite.txt\n")) << text;
  EXPECT_TRUE(has_line(text, "# peer Fast: 1.0")) << text;
  EXPECT_TRUE(has_line(text, "# skipped: Absent: not installed")) << text;
  EXPECT_TRUE(has_line(text, "# peak float32 avx2,fma: 90.00 GOP/s before, 100.00 after")) << text;
  EXPECT_TRUE(has_line(text,
                       "square,gemm f32 m=10,f32,1,10,10,10,0,0,gemmc,gemmc,0,tiled mr=6 nr=16 lanes=8 mc=6,40.0,"
                       "3,40.000,40.000,40.000,50.000,0.5000,1200,,,0.5000,"))
      << text;
  EXPECT_TRUE(has_line(text,
                       "square,gemm f32 m=10,f32,1,10,10,10,0,0,Fast,peer,0,,,3,20.000,20.000,20.000,100.000,"
                       "1.0000,1200,,,1.0000,"))
      << text;
}

TEST(Csv, WhoIsLeftOutHasALineWithTheReason) {
  EXPECT_TRUE(has_line(print_csv(small_run()),
                       "square,gemm f32 m=10,f32,1,10,10,20,0,0,Small,peer,0,,,0,,,,,,2000,,,,does not take this "
                       "product"));
}

TEST(Csv, FieldsWithCommasStandInQuotesAndCommentsOnOneLine) {
  BenchmarkRun run = small_run();
  run.measurements[0].category = "a \"b\", c";
  run.command = "gemmc bench 'a\nb'";
  const std::string text = print_csv(run);
  EXPECT_NE(text.find("\n\"a \"\"b\"\", c\",gemm"), std::string::npos) << text;
  EXPECT_TRUE(has_line(text, "# command: gemmc bench 'a\\x0Ab'") || has_line(text, "# command: gemmc bench 'a\\x0ab'"))
      << text;
}

}  // namespace
}  // namespace gemmc::testing
