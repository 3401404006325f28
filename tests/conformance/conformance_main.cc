// The conformance suite's own main(): its settings, and the table of counts at the end.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/conformance/counts.h"
#include "tests/conformance/settings.h"

namespace {

class PrintCounts : public ::testing::Environment {
 public:
  void TearDown() override {
    std::cout << "\nRight runs (-wrong ones), seed " << gemmc::testing::conformance_settings().seed << ":\n"
              << gemmc::testing::counts_table() << std::endl;
  }
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (const auto problem = gemmc::testing::parse_settings(argc, argv)) {
    std::cerr << argv[0] << ": " << *problem << "\n";
    return 2;
  }
  const gemmc::testing::ConformanceSettings& settings = gemmc::testing::conformance_settings();
  if (!settings.problem.empty()) ::testing::GTEST_FLAG(filter) = "RepeatTest.*:*/LevelsTest.*";
  if (!settings.test_case.empty()) ::testing::GTEST_FLAG(filter) = "*CasesTest.*:*/LevelsTest.*";
  ::testing::AddGlobalTestEnvironment(new PrintCounts);
  const bool is_whole = ::testing::GTEST_FLAG(filter) == "*";
  const int failed = RUN_ALL_TESTS();
  const bool must_run = is_whole || settings.asks_for_one();
  if (failed == 0 && must_run && !::testing::GTEST_FLAG(list_tests) && gemmc::testing::right_runs() == 0) {
    std::cerr << "no kernel ran: nothing fits these settings\n";
    return 1;
  }
  return failed;
}
