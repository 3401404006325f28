#include "tools/performance/peak.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gemmc {
namespace {

double gops(const std::vector<Peak>& peaks, DType dtype, const std::string& extension) {
  for (const Peak& peak : peaks)
    if (peak.dtype == dtype && peak.extension == extension) return peak.gops;
  return 0;
}

// Other work on the machine only slows a loop down, so the best of several measurements counts.
TEST(Peak, WiderVectorsAndNarrowerTypesAreFaster) {
  double narrow = 0, doubles = 0, integers = 0, wide = 0;
  const auto is_as_expected = [&] {
    // Where there are FMAs they must be used: multiply and add apart would bring no more than narrow vectors do.
    return narrow > 1.5 * doubles && (wide == 0 || wide > 1.5 * narrow);
  };
  for (int attempt = 0; attempt < 10 && (attempt == 0 || !is_as_expected()); ++attempt) {
    const std::vector<Peak> peaks = measure_peaks();
    narrow = std::max(narrow, gops(peaks, DType::kFloat32, "sse4.2"));
    doubles = std::max(doubles, gops(peaks, DType::kFloat64, "sse4.2"));
    integers = std::max(integers, gops(peaks, DType::kInt32, "sse4.2"));
    wide = std::max(wide, gops(peaks, DType::kFloat32, "avx2,fma"));
  }
  EXPECT_GT(doubles, 0);
  EXPECT_GT(integers, 0);
  EXPECT_TRUE(is_as_expected()) << "float64 " << doubles << ", float32 " << narrow << ", wide float32 " << wide;
}

TEST(Peak, TheTypeOfTheSumDecides) {
  const std::vector<Peak> peaks = {{DType::kFloat32, "sse4.2", 4, 50},
                                   {DType::kFloat32, "avx2,fma", 8, 100},
                                   {DType::kFloat64, "avx2,fma", 4, 48},
                                   {DType::kInt32, "avx2,fma", 8, 70}};
  EXPECT_EQ(peak_gops(peaks, DType::kFloat32), 100);
  EXPECT_EQ(peak_gops(peaks, DType::kBFloat16), 100);
  EXPECT_EQ(peak_gops(peaks, DType::kFloat64), 48);
  EXPECT_EQ(peak_gops(peaks, DType::kUInt32), 70);
  EXPECT_EQ(peak_gops(peaks, DType::kInt32), 70);
  EXPECT_EQ(peak_gops(peaks, DType::kInt64), std::nullopt);
}

}  // namespace
}  // namespace gemmc
