#include "tools/performance/report.h"

#include <gtest/gtest.h>

namespace gemmc {
namespace {

Measurement measurement(const Product& product, std::vector<double> gemmc_ns,
                        std::vector<std::vector<double>> peers_ns) {
  Measurement m;
  m.category = "square";
  m.product = product;
  m.schedule = "tiled mr=6 nr=16 lanes=8 mc=6";
  m.compile_ns = 4e7;
  m.static_ns = m.runtime_ns = std::move(gemmc_ns);
  m.peers_ns = std::move(peers_ns);
  return m;
}

Report small_report() {
  Report report;
  report.command = "tools/benchmark";
  report.date = "2026-01-31";
  report.peer_names = {"Fast", "Small"};
  report.peer_versions = {"1.0", "2.0"};
  report.skipped_peers = {"Absent: not installed"};
  report.peaks_before = {{DType::kFloat32, "avx2,fma", 8, 90}};
  report.peaks_after = {{DType::kFloat32, "avx2,fma", 8, 100}};
  // 2000 operations: 20 ns are 100 GFLOP/s. Behind Fast in the first, ahead in the second; Small takes only the first.
  report.suite = {measurement({10, 10, 10}, {40, 40, 40}, {{20, 20, 20}, {80, 80, 80}}),
                  measurement({10, 10, 20}, {50, 50, 50}, {{100, 100, 100}, {}})};
  return report;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Report, ListsWhereGemmcIsBehind) {
  const std::string text = print_markdown(small_report());
  EXPECT_TRUE(has_line(text, "1 of 2 products, worst first.")) << text;
  EXPECT_TRUE(has_line(text, "| 10x10x10 | 0.50 (0.50-0.50) | 50.0 | Fast | 100.0 | tiled mr=6 nr=16 lanes=8 mc=6 |"))
      << text;
}

TEST(Report, ComparesWithTheHigherPeakAndMarksWhatAPeerDoesNotTake) {
  const std::string text = print_markdown(small_report());
  EXPECT_TRUE(has_line(text, "| 10x10x10 | 50.0 (50.0-50.0) | 50 % | 50.0 | 100.0 | 25.0 | 0.50 |")) << text;
  EXPECT_TRUE(has_line(text, "| 10x10x20 | 80.0 (80.0-80.0) | 80 % | 80.0 | 40.0 | - | 2.00 |")) << text;
}

TEST(Report, SummaryTakesGeometricMeans) {
  const std::string text = print_markdown(small_report());
  // Against Fast 0.5 and 2, against Small 2 in one of two, against the best of each 0.5 and 2.
  EXPECT_TRUE(has_line(text, "| all | 2 | 63 % | 1.00 | 2.00 of 1 | 1.00 | 1 |")) << text;
}

TEST(Report, NamesWhoWasNotMeasured) {
  EXPECT_TRUE(has_line(print_markdown(small_report()), "| not measured | Absent: not installed |"));
}

TEST(Report, ManagesWithoutPeers) {
  Report report = small_report();
  report.peer_names.clear();
  for (Measurement& m : report.suite) m.peers_ns.clear();
  const std::string text = print_markdown(report);
  EXPECT_TRUE(has_line(text, "No peer was found, so this run cannot tell.")) << text;
  EXPECT_TRUE(has_line(text, "| 10x10x10 | 50.0 (50.0-50.0) | 50 % | 50.0 | - |")) << text;
}

TEST(Report, ListsWhereRunTimeSizesAreFaster) {
  Report report = small_report();
  report.suite[1].runtime_ns = {25, 25, 25};
  const std::string text = print_markdown(report);
  EXPECT_NE(text.find("In 1 of 2 products"), std::string::npos) << text;
  EXPECT_TRUE(has_line(text, "| 10x10x20 | 0.50 (0.50-0.50) | 80.0 | 160.0 | tiled mr=6 nr=16 lanes=8 mc=6 |")) << text;
}

TEST(Report, RatiosAreTakenRoundByRound) {
  Report report = small_report();
  // Twice as slow a machine in the second round: the ratio stays.
  report.suite = {measurement({10, 10, 10}, {40, 80, 40}, {{20, 40, 20}, {}})};
  EXPECT_NE(print_markdown(report).find("| 10x10x10 | 0.50 (0.50-0.50) |"), std::string::npos);
}

}  // namespace
}  // namespace gemmc
