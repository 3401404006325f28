#include "compiler/pipelines.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/problem_string.h"

namespace gemmc {
namespace {

constexpr Schedule kTiledSchedule{.family = Family::kTiled, .mr = 4, .nr = 16, .lanes = 8, .mc = 16};
constexpr Schedule kGeneralSchedule{
    .family = Family::kGeneral, .mr = 4, .nr = 16, .lanes = 8, .mc = 12, .nc = 32, .kc = 8};

Expected<std::vector<Pipeline>> build(const std::string& text, const Schedule& schedule, bool with_loop_nests = false) {
  Expected<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.status().message();
  return build_pipelines(canonical(*problem).problem, schedule, *parse_target("x86-64-v3"), with_loop_nests);
}

void expect_functions(const std::string& text, const Schedule& schedule, const std::vector<std::string>& functions) {
  const Expected<std::vector<Pipeline>> pipelines = build(text, schedule);
  ASSERT_TRUE(pipelines) << text << ": " << pipelines.status().message();
  std::vector<std::string> found;
  for (const Pipeline& pipeline : *pipelines) {
    found.push_back(pipeline.function);
    EXPECT_EQ(pipeline.bitcode.substr(0, 2), "BC") << "LLVM bitcode starts so";
    EXPECT_EQ(pipeline.loop_nest, "") << "not asked for";
  }
  EXPECT_EQ(found, functions) << text;
}

TEST(Pipelines, FunctionsOfEachFamily) {
  expect_functions("gemm f32 m=5 n=17 k=7", kTiledSchedule, {"tiled_3", "tiled_2"});
  expect_functions("gemm f32 m=?m n=?n k=?k c=n", kGeneralSchedule, {"pack_b", "finish", "multiply"});
  expect_functions("gemm bf16 m=?m n=?n k=?k", kGeneralSchedule, {"pack_b", "finish", "multiply", "convert_a"});
}

TEST(Pipelines, OneBlockOfProductsNeedsNoSumsBetweenBlocks) {
  const std::string kc = std::to_string(kGeneralSchedule.kc), more = std::to_string(kGeneralSchedule.kc + 1);
  expect_functions("gemm f32 m=?m n=5 k=" + kc, kGeneralSchedule, {"pack_b", "finish"});
  expect_functions("gemm f32 m=?m n=5 k=" + more, kGeneralSchedule, {"pack_b", "finish", "multiply"});
  // Where a stride along K is long, or may be, blocks have one product each.
  const std::string strided = "gemm f32 m=2 n=2 k=2 sa=";
  expect_functions(strided + "-x?", kGeneralSchedule, {"pack_b", "finish", "multiply"});
  expect_functions(strided + "1x3000000000", kGeneralSchedule, {"pack_b", "finish", "multiply"});
  expect_functions(strided + "1x-3000000000", kGeneralSchedule, {"pack_b", "finish", "multiply"});
  expect_functions(strided + "3000000000x2", kGeneralSchedule, {"pack_b", "finish"});
}

TEST(Pipelines, LoopNestsWhereAskedFor) {
  const Expected<std::vector<Pipeline>> pipelines =
      build("gemm f32 m=?m n=?n k=?k", kGeneralSchedule, /*with_loop_nests=*/true);
  ASSERT_TRUE(pipelines) << pipelines.status().message();
  for (const Pipeline& pipeline : *pipelines) {
    EXPECT_NE(pipeline.loop_nest.find(pipeline.function), std::string::npos) << pipeline.loop_nest;
    EXPECT_NE(pipeline.loop_nest.find("for "), std::string::npos) << pipeline.loop_nest;
  }
}

TEST(Pipelines, NamesHalidesVersion) { EXPECT_EQ(halide_version().find("21."), 0u) << halide_version(); }

// The schedule is the caller's promise; what Halide says of a broken one must still come back as a value.
TEST(Pipelines, HalidesErrorsComeBack) {
  Schedule broken = kGeneralSchedule;
  broken.lanes = broken.nr = broken.nc = 1 << 17;
  const Expected<std::vector<Pipeline>> pipelines = build("gemm f32 m=5 n=17 k=7", broken);
  ASSERT_FALSE(pipelines);
  EXPECT_EQ(pipelines.status().code(), StatusCode::kInternal);
  EXPECT_EQ(pipelines.status().message().find("Halide: "), 0u) << pipelines.status().message();
  EXPECT_EQ(pipelines.status().message().find('\\'), std::string::npos) << pipelines.status().message();
}

// No file descriptor is left for the bitcode.
TEST(Pipelines, AMissingMemoryFileIsTheEnvironments) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(0);  // the lowest number that is free
  ASSERT_GE(next, 0);
  close(next);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Expected<std::vector<Pipeline>> pipelines = build("gemm f32 m=5 n=17 k=7", kTiledSchedule);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(pipelines);
  EXPECT_EQ(pipelines.status().code(), StatusCode::kEnvironment);
  EXPECT_NE(pipelines.status().message().find("memfd_create"), std::string::npos) << pipelines.status().message();
}

}  // namespace
}  // namespace gemmc
