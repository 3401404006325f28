// What only real time shows, of the programs that measure. Runs while no other test does.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/target.h"
#include "tools/performance/peak.h"
#include "tools/performance/race.h"
#include "tools/performance/timing.h"

namespace gemmc {
namespace {

double gops(const std::vector<Peak>& peaks, DType dtype, const std::string& extension) {
  for (const Peak& peak : peaks)
    if (peak.dtype == dtype && peak.extension == extension) return peak.gops;
  return 0;
}

// Other work on the machine only slows a loop down, so the best of several measurements counts.
TEST(Peak, WiderVectorsAndNarrowerTypesAreFaster) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own work would be measured";
#endif
  double narrow = 0, doubles = 0, wide = 0;
  const auto is_as_expected = [&] {
    // Where there are FMAs they must be used: multiply and add apart would bring no more than narrow vectors do.
    return narrow > 1.5 * doubles && (wide == 0 || wide > 1.5 * narrow);
  };
  for (int attempt = 0; attempt < 10 && (attempt == 0 || !is_as_expected()); ++attempt) {
    const std::vector<Peak> peaks = measure_peaks(detect_cpu_features());
    narrow = std::max(narrow, gops(peaks, DType::kFloat32, "sse4.2"));
    doubles = std::max(doubles, gops(peaks, DType::kFloat64, "sse4.2"));
    wide = std::max(wide, gops(peaks, DType::kFloat32, "avx2,fma"));
  }
  EXPECT_GT(doubles, 0);
  EXPECT_TRUE(is_as_expected()) << "float64 " << doubles << ", float32 " << narrow << ", wide float32 " << wide;
}

// Needs a known CPU time per call.
class Spinner : public Contender {
 public:
  explicit Spinner(double ns) : ns_(ns) {}
  void run(int64_t calls) override {
    const double end = cpu_time_ns() + ns_ * static_cast<double>(calls);
    while (cpu_time_ns() < end) {
    }
  }

 private:
  double ns_;
};

TEST(Race, MeasuresTheTimeOfACall) {
  Spinner fast(2e4), slow(6e4);
  const auto times = race({&fast, &slow}, {.rounds = 6, .sample_ns = 3e5});
  ASSERT_EQ(times.size(), 2u);
  EXPECT_NEAR(spread(times[0]).median, 2e4, 4e3);
  EXPECT_NEAR(spread(times[1]).median, 6e4, 12e3);
}

}  // namespace
}  // namespace gemmc
