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
    std::cerr << "conformance_test: " << *problem << "\n";
    return 2;
  }
  if (!gemmc::testing::conformance_settings().problem.empty()) ::testing::GTEST_FLAG(filter) = "RepeatTest.*";
  if (!gemmc::testing::conformance_settings().test_case.empty()) ::testing::GTEST_FLAG(filter) = "*CasesTest.*";
  ::testing::AddGlobalTestEnvironment(new PrintCounts);
  return RUN_ALL_TESTS();
}
