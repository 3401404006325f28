#include "tools/performance/peak.h"

#include <gtest/gtest.h>

namespace gemmc {
namespace {

double gops(const std::vector<Peak>& peaks, DType dtype, const std::string& extension) {
  for (const Peak& peak : peaks)
    if (peak.dtype == dtype && peak.extension == extension) return peak.gops;
  return 0;
}

TEST(Peak, WiderVectorsAndNarrowerTypesAreFaster) {
  const std::vector<Peak> peaks = measure_peaks();
  const double narrow = gops(peaks, DType::kFloat32, "sse4.2");
  ASSERT_GT(narrow, 1);
  EXPECT_GT(gops(peaks, DType::kInt32, "sse4.2"), 1);
  EXPECT_GT(narrow, 1.5 * gops(peaks, DType::kFloat64, "sse4.2"));
  // Where there are FMAs they must be used: multiply and add apart would bring no more than narrow vectors do.
  const double wide = gops(peaks, DType::kFloat32, "avx2,fma");
  if (wide > 0) {
    EXPECT_GT(wide, 1.5 * narrow);
  }
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
