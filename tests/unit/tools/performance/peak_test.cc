#include "tools/performance/peak.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "core/target.h"

namespace gemmc {
namespace {

TEST(Peak, EveryFigureIsThere) {
  std::set<std::pair<DType, std::string>> met;
  for (const Peak& peak : measure_peaks(detect_cpu_features())) {
    EXPECT_GT(peak.gops, 0) << peak.extension;
    EXPECT_GE(peak.lanes, 2) << peak.extension;
    EXPECT_TRUE(met.emplace(peak.dtype, peak.extension).second) << peak.extension << " twice";
  }
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64}) {
    EXPECT_TRUE(met.contains({dtype, "sse4.2"})) << name(dtype);
  }
}

TEST(Peak, OnlyWhatTheTargetHas) {
  for (const Peak& peak : measure_peaks(kSse42)) EXPECT_EQ(peak.extension, "sse4.2");
  EXPECT_TRUE(measure_peaks(0).empty());
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

TEST(Peak, ATypeWithInstructionsOfItsOwnHasItsOwn) {
  const std::vector<Peak> peaks = {{DType::kFloat32, "avx512f", 16, 200},
                                   {DType::kBFloat16, "avx512bf16", 32, 400},
                                   {DType::kInt64, "avx512dq", 8, 30}};
  EXPECT_EQ(peak_gops(peaks, DType::kBFloat16), 400);
  EXPECT_EQ(peak_gops(peaks, DType::kFloat16), 200);
  EXPECT_EQ(peak_gops(peaks, DType::kUInt64), 30);
}

}  // namespace
}  // namespace gemmc
