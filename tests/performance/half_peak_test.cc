// Is the register-tiled kernel fast at all? Far below what it should reach, so that a busy machine does not fail it.
#include <gtest/gtest.h>

#include <vector>

#include "tools/performance/gemmc_contender.h"
#include "tools/performance/peak.h"
#include "tools/performance/race.h"
#include "tools/performance/reference.h"
#include "tools/performance/timing.h"

namespace gemmc {
namespace {

TEST(HalfPeak, Float32OfSize256) {
  const Product product = {256, 256, 256};
  std::vector<float> a(256 * 256), b(256 * 256), y(256 * 256);
  fill_values(DType::kFloat32, a.data(), 256 * 256, 1);
  fill_values(DType::kFloat32, b.data(), 256 * 256, 2);
  const Operands operands = {a.data(), b.data(), y.data()};

  const Expected<Target> target = host_target();
  ASSERT_TRUE(target) << target.status().message();
  Session session(*target);
  const Expected<GemmcKernel> kernel = prepare_gemmc(session, DType::kFloat32, product, Sizes::kStatic, operands);
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_TRUE(kernel->schedule.starts_with("tiled ")) << kernel->schedule;
  kernel->contender->run(1);
  const Status status = check_result(DType::kFloat32, product, operands);
  ASSERT_TRUE(status.is_ok()) << status.message();

  const double ns = spread(race({kernel->contender.get()}, {})[0]).median;
  const std::optional<double> peak = peak_gops(measure_peaks(), DType::kFloat32);
  ASSERT_TRUE(peak.has_value());
  EXPECT_GT(product.operations() / ns, 0.5 * *peak) << "schedule " << kernel->schedule;
}

}  // namespace
}  // namespace gemmc
