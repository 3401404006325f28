// The texts and files of a bundle, with objects that are not machine code: what they say, not what they do.
#include "compiler/bundle.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "compiler/bundle/archive.h"
#include "compiler/bundle/header_text.h"
#include "compiler/bundle/kernel_arguments.h"
#include "compiler/bundle/manifest_text.h"
#include "core/problem_string.h"
#include "tests/support/temporary_folder.h"

namespace gemmc {
namespace {

namespace fs = std::filesystem;

Problem problem(const std::string& text) {
  const auto parsed = parse_problem(text);
  EXPECT_TRUE(parsed) << parsed.status().message();
  return canonical(*parsed).problem;
}

Artifact artifact(const std::string& symbol, const std::string& text) {
  return {symbol, problem(text), {"x86-64-v3", "generic", kAvx2}, "general mr=1", "key of " + symbol, {1, 2, 3}};
}

Bundle one(const std::string& text, std::vector<std::string> dims = {}) {
  Bundle bundle;
  bundle.name = "lib1";
  bundle.artifacts.push_back(artifact("layer", text));
  bundle.nodes.push_back({"node 1", "Out", text, "", 0, std::move(dims), {}});
  return bundle;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(HeaderText, StaticGemm) {
  const std::string text = header_text(one("gemm f32 m=7 n=9 k=5 tb c=n alpha=0.5 beta=2"));
  EXPECT_TRUE(has(text, "int32_t layer(const float* a, const float* b, const float* c, float* y);\n")) << text;
  EXPECT_TRUE(has(text, "int32_t layer_call(const gemmc_call* call);\n"));
  EXPECT_TRUE(has(text, "#define layer_M 7\n#define layer_N 9\n#define layer_K 5\n"));
  EXPECT_TRUE(has(text, "Y = 0.5 * A transpose(B) + 2 * C\n"));
  EXPECT_TRUE(has(text, "A  float32 [7, 5]\n"));
  EXPECT_TRUE(has(text, "B  float32 [9, 5]\n"));
  EXPECT_TRUE(has(text, "C  float32 [9]\n"));
  EXPECT_TRUE(has(text, "Y  float32 [7, 9]\n"));
  EXPECT_TRUE(has(text, "target:   x86-64-v3 tune=generic\n"));
  EXPECT_TRUE(has(text, "schedule: general mr=1\n"));
  EXPECT_TRUE(has(text, "serves:   node 1 -> Out\n"));
}

TEST(HeaderText, RunTimeDimensionsAndStridesAreNamedInCallOrder) {
  const std::string text =
      header_text(one("gemm f64 m=?rows n=4 k=?depth c=mn sa=?x1 sc=?x? sy=?x1", {"rows", "depth"}));
  EXPECT_TRUE(
      has(text,
          "int32_t layer(const double* a, const double* b, const double* c, double* y, int64_t dim_rows, int64_t "
          "dim_depth, int64_t stride_a0, int64_t stride_c0, int64_t stride_c1, int64_t stride_y0);\n"))
      << text;
  EXPECT_TRUE(has(text, "A  float64 [dim_rows, dim_depth] with strides (stride_a0, 1)\n"));
  EXPECT_TRUE(has(text, "dims, in order:    dim_rows, dim_depth\n"));
  EXPECT_FALSE(has(text, "dim_rows is"));
  EXPECT_TRUE(has(text, "strides, in order: stride_a0, stride_c0, stride_c1, stride_y0\n"));
  EXPECT_TRUE(has(text, "#define layer_N 4\n"));
  EXPECT_FALSE(has(text, "layer_M"));
  EXPECT_FALSE(has(text, "layer_K"));
}

TEST(HeaderText, BatchesThatBroadcastAtTheCall) {
  const std::string text = header_text(one("matmul bf16 a=?px2x3x4 b=?qx2x4x5", {"p", "q"}));
  EXPECT_TRUE(has(text, "Y  bfloat16 [broadcast of dim_p and dim_q, 2, 3, 5]\n")) << text;
  EXPECT_TRUE(has(text, "const uint16_t* a, const uint16_t* b, uint16_t* y, int64_t dim_p, int64_t dim_q);\n"));
  EXPECT_TRUE(has(text, "uint16_t holds the bits of a bfloat16\n"));
}

TEST(HeaderText, NamesFromModelsCannotBreakIt) {
  Bundle bundle = one("matmul f32 a=?ax3 b=3x?b", {"int", "int"});
  bundle.nodes[0].name = "*/ #error\n/* \\";
  const std::string text = header_text(bundle);
  EXPECT_TRUE(has(text, "int64_t dim_int, int64_t dim_int_);\n")) << text;
  EXPECT_TRUE(has(text, "serves:   * / #error?/ * \\ -> Out\n"));
  EXPECT_TRUE(has(text, "dim_int_ is 'int'\n"));
}

TEST(KernelArguments, CountsAreThoseOfTheLoopForm) {
  for (const char* text :
       {"gemm f32 m=2 n=3 k=4", "gemm f32 m=?m n=?n k=?k c=*", "matmul f32 a=* b=*", "matmul f32 a=* b=3x4",
        "matmul f32 a=2x3 b=*", "matmul f32 a=?ax?bx3 b=?ax3x?b", "gemm f32 m=2 n=3 k=4 sa=?x? sb=?x1 sy=?x?"}) {
    const Problem p = problem(text);
    const LoopForm form = loop_form(p);
    const KernelArguments arguments = kernel_arguments(p, {});
    EXPECT_EQ(arguments.dims.size(), static_cast<size_t>(form.dim_count)) << text;
    EXPECT_EQ(arguments.strides.size(), static_cast<size_t>(form.stride_count)) << text;
  }
}

TEST(ManifestText, SaysWhichKernelServesWhichNode) {
  Bundle bundle = one("matmul f32 a=?ax3 b=3x4", {"a"});
  bundle.artifacts.push_back(artifact("second", "gemm i32 m=2 n=3 k=4 sa=?x1"));
  bundle.nodes.push_back({"node 2", "Y", "gemm i32 m=2 n=3 k=4 sa=?x1", "if_1/then_branch", 1, {}, {"a note"}});
  bundle.refused.push_back({"node \xff", "function f", "MatMulInteger", "why"});
  const auto manifest = nlohmann::json::parse(manifest_text(bundle, false));
  EXPECT_EQ(manifest["format"], 1);
  EXPECT_EQ(manifest["static_library"], "liblib1.a");
  EXPECT_TRUE(manifest["shared_library"].is_null());
  ASSERT_EQ(manifest["kernels"].size(), 2u);
  EXPECT_EQ(manifest["kernels"][0]["symbol"], "layer");
  EXPECT_EQ(manifest["kernels"][0]["object"], "layer.o");
  EXPECT_EQ(manifest["kernels"][0]["bytes"], 3);
  EXPECT_EQ(manifest["kernels"][0]["key"], "key of layer");
  EXPECT_EQ(manifest["kernels"][1]["problem"], "gemm i32 m=2 n=3 k=4 sa=?x1");
  EXPECT_EQ(manifest["kernels"][1]["strides"], nlohmann::json({"stride_a0"}));
  ASSERT_EQ(manifest["nodes"].size(), 2u);
  EXPECT_EQ(manifest["nodes"][0]["dims"], nlohmann::json({"a"}));
  EXPECT_EQ(manifest["nodes"][0]["stride_count"], 0);
  EXPECT_EQ(manifest["nodes"][1]["symbol"], "second");
  EXPECT_EQ(manifest["nodes"][1]["graph_path"], "if_1/then_branch");
  EXPECT_EQ(manifest["nodes"][1]["stride_count"], 1);
  EXPECT_EQ(manifest["nodes"][1]["notes"], nlohmann::json({"a note"}));
  EXPECT_EQ(manifest["refused"][0]["reason"], "why");
  EXPECT_EQ(nlohmann::json::parse(manifest_text(bundle, true))["shared_library"], "liblib1.so");
}

TEST(Archive, IsTheSameForTheSameObjects) {
  const Bundle bundle = one("matmul f32 a=2x3 b=3x4");
  const auto first = archive_bytes(bundle.artifacts), second = archive_bytes(bundle.artifacts);
  ASSERT_TRUE(first) << first.status().message();
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(first->substr(0, 8), "!<arch>\n");
}

TEST(WriteBundle, WithoutACompilerTheRestIsWritten) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "liblib1.so") << "of an earlier build";
  const std::string path = std::getenv("PATH");
  setenv("PATH", "", 1);
  const auto files = write_bundle(one("matmul f32 a=2x3 b=3x4"), folder.path());
  setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(files) << files.status().message();
  EXPECT_EQ(files->notes, std::vector<std::string>{"no 'cc' on PATH: liblib1.so is not written"});
  for (const char* name : {"layer.o", "liblib1.a", "lib1.h", "manifest.json"}) {
    EXPECT_TRUE(fs::exists(folder.path() / name)) << name;
  }
  EXPECT_FALSE(fs::exists(folder.path() / "liblib1.so")) << "it does not belong to these files";
}

TEST(WriteBundle, RefusesWhatCannotBeWritten) {
  const testing::TemporaryFolder folder;
  Bundle bundle = one("matmul f32 a=2x3 b=3x4");
  bundle.artifacts.push_back(bundle.artifacts[0]);
  EXPECT_EQ(write_bundle(bundle, folder.path()).status().message(), "two kernels have the symbol layer");
  bundle.artifacts.clear();
  bundle.nodes.clear();
  EXPECT_EQ(write_bundle(bundle, folder.path()).status().code(), StatusCode::kInvalidArgument);
  bundle.name = "../escape";
  EXPECT_NE(write_bundle(bundle, folder.path()).status().message().find("library name '../escape'"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace gemmc
