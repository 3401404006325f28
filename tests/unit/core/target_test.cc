#include "core/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gemmc {
namespace {

Target target(std::string_view word) {
  Expected<Target> parsed = parse_target(word);
  EXPECT_TRUE(parsed) << parsed.status().message();
  return parsed ? *parsed : Target{};
}

TEST(Target, Levels) {
  EXPECT_EQ(target("x86-64-v2").features, kSse42);
  EXPECT_EQ(target("x86-64-v3").features, kSse42 | kAvx | kAvx2 | kFma | kF16c);
  EXPECT_EQ(target("x86-64-v4").features, target("x86-64-v3").features | kAvx512);
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    EXPECT_EQ(target(level).level, level);
    EXPECT_EQ(target(level).tune_cpu, "generic");
    EXPECT_EQ(target(level).to_string(), std::string(level) + " tune=generic");
    EXPECT_EQ(target(level).level_word(), level);
  }
  EXPECT_EQ(target("x86-64-v4+bf16").features, target("x86-64-v4").features | kAvx512Bf16);
  EXPECT_EQ(target("x86-64-v4+bf16").level, "x86-64-v4");
  EXPECT_EQ(target("znver5").level_word(), "x86-64-v4+bf16");
}

TEST(Target, VectorsAndRegisters) {
  EXPECT_EQ(target("x86-64-v2").vector_bytes(), 16);
  EXPECT_EQ(target("x86-64-v3").vector_bytes(), 32);
  EXPECT_EQ(target("x86-64-v4").vector_bytes(), 64);
  EXPECT_EQ(target("x86-64-v2").vector_registers(), 16);
  EXPECT_EQ(target("x86-64-v3").vector_registers(), 16);
  EXPECT_EQ(target("x86-64-v4").vector_registers(), 32);
}

TEST(Target, CpuNamesAddAModelToALevel) {
  EXPECT_EQ(target("haswell").to_string(), "x86-64-v3 tune=haswell");
  EXPECT_EQ(target("znver3").to_string(), "x86-64-v3 tune=znver3");
  EXPECT_EQ(target("skylake-avx512").to_string(), "x86-64-v4 tune=skylake-avx512");
  EXPECT_EQ(target("znver4").to_string(), "x86-64-v4 tune=znver4 +avx512bf16");
  EXPECT_EQ(target("znver4").features, target("x86-64-v4").features | kAvx512Bf16);
}

TEST(Target, TextsOfDifferentTargetsDiffer) {
  std::set<std::string> texts;
  for (const std::string& word : target_names()) {
    if (word == "host") continue;
    EXPECT_TRUE(texts.insert(target(word).to_string()).second) << word;
  }
}

TEST(Target, ListsTheWordsItTakes) {
  const std::vector<std::string> names = target_names();
  for (const char* word : {"host", "x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), word), names.end()) << word;
  }
  for (const std::string& word : names) EXPECT_TRUE(parse_target(word)) << word;
}

TEST(Target, RefusesOtherWords) {
  for (const char* word : {"", " ", "x86-64", "x86-64-v5", "X86-64-V3", "x86-64-v3 ", "native", "generic", "host,"}) {
    const Expected<Target> parsed = parse_target(word);
    ASSERT_FALSE(parsed) << word;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(
        parsed.status().message().find("target '" + std::string(word) + "' is not known; allowed: host, x86-64-v2, "),
        0u)
        << parsed.status().message();
  }
  for (const char* word : {"aarch64", "arm64", "riscv64"}) {
    const Expected<Target> parsed = parse_target(word);
    ASSERT_FALSE(parsed) << word;
    EXPECT_EQ(parsed.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(parsed.status().message().find("not built yet; allowed: host, "), std::string::npos);
  }
}

TEST(Target, HostIsTheBestLevelThatRunsHere) {
  const Expected<Target> host = host_target();
  ASSERT_TRUE(host) << host.status().message();
  EXPECT_TRUE(check_runs_here(*host).is_ok());
  EXPECT_EQ(host->features & ~detect_cpu_features(), 0u);
  for (const char* level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const bool runs = check_runs_here(target(level)).is_ok();
    EXPECT_EQ(runs, (target(level).features & ~host->features) == 0) << level << " beside the host's " << host->level;
    if (runs) {
      EXPECT_LE(level, host->level);
    }
  }
  EXPECT_EQ(target("host"), *host);
}

// GCC's and Clang's run-time library reads the same registers with code of its own, and knows the levels.
TEST(Target, DetectionAgreesWithTheCompilersRuntime) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const uint32_t found = detect_cpu_features();
  const auto has_level = [&](const char* level) { return (target(level).features & ~found) == 0; };
  EXPECT_EQ(has_level("x86-64-v2"), __builtin_cpu_supports("x86-64-v2") != 0);
  EXPECT_EQ(has_level("x86-64-v3"), __builtin_cpu_supports("x86-64-v3") != 0);
  EXPECT_EQ(has_level("x86-64-v4"), __builtin_cpu_supports("x86-64-v4") != 0);
  EXPECT_EQ((found & kFma) != 0, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ((found & kAvx512Bf16) != 0, has_level("x86-64-v4") && __builtin_cpu_supports("avx512bf16"));
#endif
}

TEST(Target, NamesTheExtensionsThatAreMissingHere) {
  Target impossible = target("x86-64-v2");
  EXPECT_TRUE(check_runs_here(impossible).is_ok());
  const uint32_t missing = (kAvx512 | kAvx512Bf16 | kF16c) & ~detect_cpu_features();
  impossible.features |= kAvx512 | kAvx512Bf16 | kF16c;
  const Status status = check_runs_here(impossible);
  EXPECT_EQ(status.is_ok(), missing == 0);
  const std::pair<CpuFeature, std::string> kNames[] = {
      {kAvx512, "AVX-512 (F, BW, CD, DQ, VL)"}, {kAvx512Bf16, "AVX512-BF16"}, {kF16c, "F16C"}};
  for (const auto& [feature, name] : kNames) {
    EXPECT_EQ(status.message().find(name) != std::string::npos, (missing & feature) != 0) << status.message();
  }
  if (missing != 0) {
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  }
}

}  // namespace
}  // namespace gemmc
