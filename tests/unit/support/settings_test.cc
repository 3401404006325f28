// The command line of the conformance programs: what is asked for is done or refused, never ignored.
#include "tests/conformance/settings.h"

#include <gtest/gtest.h>

#include <vector>

namespace gemmc::testing {
namespace {

// "" where the arguments are taken.
std::string refusal_of(std::vector<std::string> arguments) {
  conformance_settings() = {};
  std::vector<char*> argv;
  arguments.insert(arguments.begin(), "program");
  for (std::string& argument : arguments) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  return parse_settings(argc, argv.data()).value_or("");
}

TEST(Settings, AreWhatWasGiven) {
  EXPECT_EQ(refusal_of({"--problem=gemm f32 m=1 n=1 k=1", "--shapes=1x1 1x1", "--seed=18446744073709551615",
                        "--schedule=s", "--target=x86-64-v3", "--family=tiled", "--effort=1000000"}),
            "");
  const ConformanceSettings& settings = conformance_settings();
  EXPECT_EQ(settings.problem, "gemm f32 m=1 n=1 k=1");
  EXPECT_EQ(settings.shapes, "1x1 1x1");
  EXPECT_EQ(settings.seed, UINT64_MAX);
  EXPECT_EQ(settings.schedule, "s");
  EXPECT_EQ(settings.target, "x86-64-v3");
  EXPECT_EQ(settings.family, "tiled");
  EXPECT_EQ(settings.effort, 1000000);
  EXPECT_EQ(refusal_of({"--case=x", "--schedule=s", "--family=general"}), "");
  EXPECT_EQ(settings.test_case, "x");
}

TEST(Settings, LeavesGoogleTestsOwn) {
  conformance_settings() = {};
  std::string words[] = {"program", "--seed=3", "--gtest_filter=A.*"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data()};
  int argc = 3;
  EXPECT_EQ(parse_settings(argc, argv), std::nullopt);
  ASSERT_EQ(argc, 2);
  EXPECT_STREQ(argv[1], "--gtest_filter=A.*");
}

TEST(Settings, RefuseWithTheValueFoundAndThoseAllowed) {
  EXPECT_EQ(refusal_of({"--family=fast"}), "--family is 'fast'; allowed: dots, rows, tiled, general");
  EXPECT_EQ(refusal_of({"--target=haswell"}),
            "--target is 'haswell'; allowed: x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4+bf16");
  for (const std::string seed : {"", "x", "-1", "+1", "1 ", "18446744073709551616"}) {
    EXPECT_EQ(refusal_of({"--seed=" + seed}),
              "--seed is '" + seed + "'; allowed: a number from 0 to 18446744073709551615");
  }
  for (const std::string effort : {"", "0", "-1", "1000001", "1e3"}) {
    EXPECT_EQ(refusal_of({"--effort=" + effort}), "--effort is '" + effort + "'; allowed: a number from 1 to 1000000");
  }
  EXPECT_EQ(refusal_of({"--sede=1"}), "unknown argument '--sede'");
  EXPECT_EQ(refusal_of({"--case="}), "--case is ''; allowed: a text");
  EXPECT_EQ(refusal_of({"--problem=gemm f32 m=1 n=1 k=1"}), "--problem and --shapes go together");
  EXPECT_EQ(refusal_of({"--case=x", "--problem=p", "--shapes=s"}), "--problem and --case exclude each other");
  EXPECT_EQ(refusal_of({"--schedule=s", "--family=tiled"}), "--schedule needs --problem or --case");
}

}  // namespace
}  // namespace gemmc::testing
