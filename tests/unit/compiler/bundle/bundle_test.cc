// The texts and files of a bundle, with objects that are not machine code: what they say, not what they do.
#include "compiler/bundle.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "compiler/bundle/archive.h"
#include "compiler/bundle/header_text.h"
#include "compiler/bundle/kernel_arguments.h"
#include "compiler/bundle/library_weights.h"
#include "compiler/bundle/manifest_text.h"
#include "compiler/bundle/weights_image.h"
#include "compiler/bundle/weights_object.h"
#include "core/problem_string.h"
#include "tests/support/process.h"
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

TEST(HeaderText, AConstantBIsPacked) {
  Bundle bundle = one("gemm f32 m=?rows n=3 k=2 tb const=b", {"rows"});
  bundle.artifacts[0].schedule = "tiled mr=2 nr=2 lanes=2 mc=2 pack=b";
  bundle.nodes.push_back({.name = "node 2", .output = "Y", .dims = {"rows"}, .weights = {.packed_b = 0}});
  bundle.weights.push_back({"lib1_w0", DType::kFloat32, std::vector<uint8_t>(32)});
  const std::string text = header_text(bundle);
  EXPECT_TRUE(has(text, "int32_t layer(const float* a, const float* packed_b, float* y, int64_t dim_rows);\n")) << text;
  EXPECT_TRUE(has(text, "int64_t layer_pack_b(const float* b, float* packed_b);\n"));
  EXPECT_TRUE(has(text, "#define layer_PACKED_B_BYTES 32\n"));
  EXPECT_TRUE(has(text, "packed once by layer_pack_b into layer_PACKED_B_BYTES bytes\n"));
  EXPECT_TRUE(has(text, "serves:   node 1 -> Out\n"));
  EXPECT_TRUE(has(text, "serves:   node 2 -> Y with packed_b = lib1_w0\n"));
  EXPECT_TRUE(has(text, "extern const float lib1_w0[8];\n"));
  const auto manifest = nlohmann::json::parse(manifest_text(bundle, false));
  EXPECT_EQ(manifest["kernels"][0]["packed_b_bytes"], 32);
  EXPECT_TRUE(manifest["nodes"][0]["packed_b"].is_null());
  EXPECT_EQ(manifest["nodes"][1]["packed_b"], "lib1_w0");
  EXPECT_EQ(manifest["weights"],
            nlohmann::json::parse(R"([{"symbol": "lib1_w0", "object": "lib1_weights.o", "bytes": 32}])"));
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
  const std::vector<ObjectFile> objects = {{"layer.o", {1, 2, 3}}};
  const auto first = archive_bytes(objects), second = archive_bytes(objects);
  ASSERT_TRUE(first) << first.status().message();
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(first->substr(0, 8), "!<arch>\n");
}

// fc1 and fc2 have equal values, fc3 others, fc4's are not known, and the kernel of fc5 and fc6 reads B where it is.
TEST(LibraryWeights, HoldsEqualValuesOnce) {
  const auto node = [](std::vector<float> values) {
    Node result;
    result.inputs.resize(2);
    if (values.empty()) return result;
    Tensor b{DType::kFloat32, {3, 2}, std::vector<uint8_t>(values.size() * sizeof(float))};
    std::memcpy(b.bytes.data(), values.data(), b.bytes.size());
    result.inputs[1].data = std::make_shared<const Tensor>(std::move(b));
    return result;
  };
  Artifact packing = artifact("layer", "gemm f32 m=?d0 n=3 k=2 tb const=b");
  packing.schedule = "tiled mr=2 nr=2 lanes=2 mc=2 pack=b";
  LibraryWeights held;
  const auto add = [&](const Node& n, const Artifact& a) { return held.add(n, a)->packed_b; };
  EXPECT_EQ(add(node({1, 2, 3, 4, 5, 6}), packing), 0u);
  EXPECT_EQ(add(node({1, 2, 3, 4, 5, 6}), packing), 0u);
  EXPECT_EQ(add(node({1, 2, 3, 4, 5, 7}), packing), 1u);
  EXPECT_EQ(add(node({}), packing), std::nullopt);
  Artifact in_place = packing;
  in_place.schedule = "general mr=2 nr=2 lanes=2 mc=2 nc=2 kc=2";
  for (int i = 0; i < 2; ++i) {
    const NodeWeights found = *held.add(node({1, 2, 3, 4, 5, 6}), in_place);
    EXPECT_EQ(found.packed_b, std::nullopt);
    EXPECT_EQ(found.b, 2u);
  }
  EXPECT_EQ(held.add(node({1, 2, 3}), packing).status().code(), StatusCode::kInternal);

  const std::vector<Weights> weights = held.take("model");
  ASSERT_EQ(weights.size(), 3u);
  EXPECT_EQ(weights[0].symbol, "model_w0");
  EXPECT_EQ(weights[1].symbol, "model_w1");
  // B is stored as (N, K); two panels of two columns, row by row, the last one padded.
  const float expected[] = {1, 3, 2, 4, 5, 0, 6, 0};
  ASSERT_EQ(weights[0].bytes.size(), sizeof expected);
  EXPECT_EQ(std::memcmp(weights[0].bytes.data(), expected, sizeof expected), 0);
  const float as_it_is[] = {1, 2, 3, 4, 5, 6};
  ASSERT_EQ(weights[2].bytes.size(), sizeof as_it_is);
  EXPECT_EQ(std::memcmp(weights[2].bytes.data(), as_it_is, sizeof as_it_is), 0);
  EXPECT_TRUE(held.take("model").empty());
}

TEST(LibraryWeights, HoldsAnAAndABOfTheTypesThatAreRead) {
  const auto tensor = [](DType dtype, std::vector<int64_t> shape, size_t bytes) {
    return std::make_shared<const Tensor>(Tensor{dtype, std::move(shape), std::vector<uint8_t>(bytes, 1)});
  };
  Node node;
  node.inputs.resize(2);
  node.inputs[0].data = tensor(DType::kFloat32, {4, 2}, 32);
  node.inputs[1].data = tensor(DType::kInt8, {2, 3}, 6);
  LibraryWeights held;
  const NodeWeights found = *held.add(node, artifact("layer", "matmul f32 a=4x2 b=2x3 storage=b:i8"));
  EXPECT_EQ(found.a, 0u);
  EXPECT_EQ(found.b, 1u);
  EXPECT_EQ(held.add(node, artifact("other", "matmul f32 a=4x2 b=2x3")).status().code(), StatusCode::kInternal);
  const std::vector<Weights> weights = held.take("model");
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_EQ(weights[0].dtype, DType::kFloat32);
  EXPECT_EQ(weights[1].dtype, DType::kInt8);
}

TEST(LibraryWeights, HoldsWhatCAndTheEpilogueRead) {
  const auto tensor = [](std::vector<uint8_t> bytes) {
    return std::make_shared<const Tensor>(Tensor{DType::kFloat32, {static_cast<int64_t>(bytes.size()) / 4}, bytes});
  };
  const std::vector<uint8_t> three(12, 3), other(12, 4);
  Node node;
  node.inputs.resize(3);
  node.inputs[2].data = tensor(three);
  node.epilogue = {{"bias", "n", "b"}, {"relu", "", ""}, {"residual", "", "r"}, {"scale", "n", "s"}};
  node.epilogue_data = {tensor(other), nullptr, nullptr, tensor(three)};
  const std::string epilogue = " epi=bias:n:b,relu,residual::r,scale:n:s";
  const Artifact reads_c = artifact("layer", "gemm f32 m=?d0 n=3 k=2 c=n" + epilogue);
  LibraryWeights held;
  const NodeWeights found = *held.add(node, reads_c);
  EXPECT_EQ(found.packed_b, std::nullopt);
  EXPECT_EQ(found.c, 0u);
  EXPECT_EQ(found.epilogue, (std::vector<std::optional<size_t>>{1, std::nullopt, 0}));
  // A C that the kernel does not read (beta is 0) is not held for it.
  EXPECT_EQ(held.add(node, artifact("other", "gemm f32 m=?d0 n=3 k=2" + epilogue))->c, std::nullopt);
  node.inputs[2].data = tensor({});
  EXPECT_EQ(held.add(node, reads_c)->c, std::nullopt) << "C has no arrays of no elements";
  node.inputs[2].data = std::make_shared<const Tensor>(Tensor{DType::kInt32, {3}, three});
  EXPECT_EQ(held.add(node, reads_c).status().code(), StatusCode::kInternal);
  EXPECT_EQ(held.take("model").size(), 2u);
}

TEST(WeightsImage, EachStartsAtAMultipleOf64) {
  const std::vector<Weights> weights = {{"w0", DType::kFloat32, {1, 2, 3, 4}},
                                        {"w1", DType::kFloat32, std::vector<uint8_t>(64, 5)},
                                        {"w2", DType::kFloat32, {6, 7, 8, 9}}};
  EXPECT_EQ(weights_offsets(weights), (std::vector<uint64_t>{0, 64, 128}));
  const std::vector<uint8_t> image = weights_image(weights);
  ASSERT_EQ(image.size(), 132u);
  EXPECT_EQ(image[3], 4);
  EXPECT_EQ(image[4], 0);
  EXPECT_EQ(image[64], 5);
  EXPECT_EQ(image[131], 9);
}

TEST(WeightsObject, HasASymbolForEach) {
  const auto object =
      weights_object({{"b0", DType::kFloat32, {1, 2, 3, 4}}, {"b1", DType::kInt64, {5, 6, 7, 8, 9, 1, 2, 3}}});
  ASSERT_TRUE(object) << object.status().message();
  const testing::TemporaryFolder folder;
  const fs::path path = folder.path() / "weights.o";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(object->data()), static_cast<std::streamsize>(object->size()));
  const testing::ProcessResult symbols = testing::run_process({"nm", "-S", path.string()});
  EXPECT_EQ(symbols.out, "0000000000000000 0000000000000004 R b0\n0000000000000040 0000000000000008 R b1\n");
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
