// Texts that people and tools read: keys, headers, manifests. They change on purpose or not at all:
// `texts_test --update-golden` writes them anew, and the change is then seen in review.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string_view>

#include "compiler/bundle/header_text.h"
#include "compiler/bundle/manifest_text.h"
#include "compiler/compile.h"
#include "core/dim_names.h"
#include "core/key.h"
#include "core/problem_string.h"

namespace gemmc {
namespace {

const std::filesystem::path kExpected = GEMMC_SOURCE_DIR "/tests/golden/expected";
bool update_golden = false;

struct GoldenCase {
  const char* name;
  std::vector<std::string> problems;  // one kernel each
  std::vector<RefusedNode> refused;
};

void PrintTo(const GoldenCase& golden, std::ostream* out) { *out << golden.name; }

const GoldenCase kCases[] = {
    {"static_gemm", {"gemm f32 m=64 n=48 k=32 tb c=n alpha=0.5"}, {}},
    {"transformer",
     {"matmul f32 a=?batchx?seqx384 b=384x384 const=b", "matmul f32 a=?batchx12x?seqx32 b=?batchx12x32x?seq"},
     {{"quantized", "if_1/then_branch", "MatMulInteger", "op_type 'MatMulInteger': not built yet"}}},
    {"call_decides", {"matmul bf16 a=* b=*", "gemm i64 m=?rows n=?columns k=?depth c=* sa=?x1 sy=?x1 order=k"}, {}},
    {"likely_values", {"matmul f32 a=?batchx12x?seq:1..512~128~256x32 b=?batchx12x32x?seq"}, {}},
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Everything about the case as one text. Kernels are not compiled: names, schedules and objects are made up here.
std::string text_of(const GoldenCase& golden) {
  const Target target = {"x86-64-v3", "generic", kSse42 | kAvx | kAvx2 | kFma | kF16c};
  const std::string schedule = "general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=64";
  Bundle bundle;
  bundle.name = golden.name;
  bundle.refused = golden.refused;
  std::string text;
  for (size_t i = 0; i < golden.problems.size(); ++i) {
    const auto problem = parse_problem(golden.problems[i]);
    if (!problem) return problem.status().message();
    const CanonicalProblem made = canonical(*problem);
    const std::string key = key_text(made.problem, target, schedule, "COMPILER");
    text += fmt::format("problem   {}\ncanonical {}\nsymbol    {}\nkey\n{}\n", golden.problems[i],
                        print_problem(made.problem), kernel_symbol(key), key);
    bundle.artifacts.push_back({fmt::format("kernel{}", i), made.problem, target, schedule, key, {}});
    for_each_dim(made.problem, [&](const Dim& dim) {
      std::vector<ArtifactVariant>& variants = bundle.artifacts.back().variants;
      if (!variants.empty()) return;
      for (const int64_t size : dim.likely)
        variants.push_back({{.dims = {{dim.name, size}}}, "tiled mr=6 nr=16 lanes=8 mc=72"});
    });
    bundle.nodes.push_back({fmt::format("/layer.{}/MatMul", i), "Y", golden.problems[i], "", i, made.dim_names, {}});
  }
  text += "----- header\n" + header_text(bundle) + "----- manifest\n" + manifest_text(bundle, true);
  return replaced(text, compiler_identity(), "COMPILER");
}

class TextsTest : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(TextsTest, AreAsExpected) {
  const std::filesystem::path path = kExpected / (std::string(GetParam().name) + ".txt");
  const std::string text = text_of(GetParam());
  if (update_golden) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing";
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(file), {}))
      << "texts_test --update-golden writes " << path;
}

INSTANTIATE_TEST_SUITE_P(Cases, TextsTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace gemmc

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) gemmc::update_golden |= std::string_view(argv[i]) == "--update-golden";
  return RUN_ALL_TESTS();
}
