// The gemmc command as a process: what it prints, which files it leaves, and its exit status: 0 done, 1 the environment
// failed, 2 wrong use or an invalid description. The first line of a failure is always the error.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "compiler/npy.h"
#include "tests/integration/command_fixture.h"
#include "tests/integration/tiny_model.h"
#include "tests/support/process.h"

namespace gemmc::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

ProcessResult gemmc(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), GEMMC_COMMAND);
  return run_process(arguments);
}

// The status and the first line of stderr, "2: gemmc: error: ...".
std::string failure(const std::vector<std::string>& arguments) {
  const ProcessResult result = gemmc(arguments);
  EXPECT_EQ(result.out, "");
  return std::to_string(result.status) + ": " + result.err.substr(0, result.err.find('\n'));
}

class CommandTest : public CommandFixture {
 protected:
  std::string array(const std::string& name, std::vector<int64_t> shape, std::vector<float> values) const {
    Tensor tensor{DType::kFloat32, std::move(shape), std::vector<uint8_t>(values.size() * sizeof(float))};
    if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    const Status status = write_npy(path(name), tensor);
    EXPECT_TRUE(status.is_ok()) << status.message();
    return path(name);
  }
  std::vector<float> values(const std::string& name, const std::vector<int64_t>& shape) const {
    const auto tensor = read_npy(path(name));
    if (!tensor) {
      ADD_FAILURE() << tensor.status().message();
      return {};
    }
    EXPECT_EQ(tensor->dtype, DType::kFloat32);
    EXPECT_EQ(tensor->shape, shape);
    std::vector<float> result(tensor->bytes.size() / sizeof(float));
    std::memcpy(result.data(), tensor->bytes.data(), tensor->bytes.size());
    return result;
  }
  // x (batch, 4) -> fc1 with weights (4, 3) -> y; again -> z; and a product of integers that is refused.
  std::string model() const {
    TinyModel tiny;
    tiny.inputs = {{"x", 1, {"batch", 4}}, {"q", 3, {2, 2}}};
    tiny.weights = {{"w", {4, 3}}, {"w2", {4, 3}}};
    tiny.nodes = {{"MatMul", "fc1", {"x", "w"}, "y"},
                  {"MatMul", "fc2", {"x", "w2"}, "z"},
                  {"MatMulInteger", "quantized", {"q", "q"}, "i"},
                  {"Relu", "relu", {"y"}, "r"}};
    return write("tiny.onnx", encode(tiny));
  }
};

// ---- list

TEST_F(CommandTest, ListShowsEveryNodeAndASummary) {
  const ProcessResult result = gemmc({"list", model()});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(has(result.out, "fc1  (MatMul)\n")) << result.out;
  EXPECT_TRUE(has(result.out, "float32 (?batch, 4)\n"));
  EXPECT_TRUE(has(result.out, "float32 (4, 3)  constant: initializer\n"));
  EXPECT_TRUE(has(result.out, "then     Relu\n"));
  EXPECT_TRUE(has(result.out, "quantized  (MatMulInteger)\n"));
  EXPECT_TRUE(has(result.out, "refused  "));
  EXPECT_TRUE(result.out.ends_with("3 nodes, 1 distinct signature, 1 refused\n"));
}

TEST_F(CommandTest, ListForMachines) {
  const Json listing = Json::parse(gemmc({"list", model(), "--json"}).out);
  EXPECT_EQ(listing["signature_count"], 1);
  EXPECT_EQ(listing["refused_count"], 1);
  ASSERT_EQ(listing["nodes"].size(), 3u);
  EXPECT_EQ(listing["nodes"][0]["name"], "fc1");
  EXPECT_EQ(listing["nodes"][0]["inputs"][0]["shape"], Json({"batch", 4}));
  EXPECT_EQ(listing["nodes"][0]["inputs"][1]["constant"], "initializer");
  EXPECT_EQ(listing["nodes"][0]["consumers"], Json({"Relu"}));
  EXPECT_EQ(listing["nodes"][0]["output"], "y");
  EXPECT_EQ(listing["nodes"][1]["output"], "z");
  EXPECT_EQ(listing["nodes"][0]["signature"], listing["nodes"][1]["signature"]);
  EXPECT_TRUE(listing["nodes"][0]["refusal"].is_null());
  EXPECT_TRUE(has(listing["nodes"][2]["refusal"], "MatMulInteger"));
}

TEST_F(CommandTest, ListTakesProblemStringsAndDescriptions) {
  EXPECT_TRUE(has(gemmc({"list", "gemm f32 m=?rows n=2 k=3 c=n"}).out, "A        float32 (?rows, 3)\n"));
  const std::string json = R"({"name": "fc1", "op_type": "MatMul", "inputs": [
    {"name": "A", "dtype": "float64", "shape": ["b", 4]}, {"name": "B", "dtype": "float64", "shape": [4, 2]}]})";
  EXPECT_TRUE(has(gemmc({"list", json}).out, "B        float64 (4, 2)\n"));
  EXPECT_TRUE(has(gemmc({"list", write("node.json", json), "--dim", "b=7"}).out, "A        float64 (7, 4)\n"));
  const std::string odd =
      R"({"op_type": "MatMul", "inputs": [{"dtype": "float64", "shape": ["b=c", 4]}, {"shape": [4, 2]}]})";
  const std::string listing = gemmc({"list", odd, "--dim", "b=c=7"}).out;
  EXPECT_TRUE(has(listing, "A        float64 (7, 4)\n") && has(listing, "B        float64 (4, 2)\n")) << listing;
}

// ---- build

TEST_F(CommandTest, BuildSharesKernelsAndReportsWhatItRefuses) {
  const ProcessResult result = gemmc({"build", model(), "-o", path("out")});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(result.err.starts_with("gemmc: note: refused: ")) << result.err;
  EXPECT_TRUE(has(result.err, "MatMulInteger"));
  EXPECT_TRUE(has(result.out, "target: x86-64-v3 tune=generic (the default)\n")) << result.out;
  EXPECT_TRUE(has(result.out, "built:  2 nodes by 1 kernel, 1 refused\n"));
  const Json manifest = Json::parse(read("out/manifest.json"));
  EXPECT_EQ(manifest["name"], "tiny");
  ASSERT_EQ(manifest["nodes"].size(), 2u);
  EXPECT_EQ(manifest["nodes"][0]["name"], "fc1");
  EXPECT_EQ(manifest["nodes"][0]["dims"], Json({"batch"}));
  EXPECT_EQ(manifest["nodes"][0]["output"], "y");
  EXPECT_EQ(manifest["nodes"][1]["output"], "z");
  EXPECT_EQ(manifest["nodes"][0]["symbol"], manifest["nodes"][1]["symbol"]);
  EXPECT_EQ(manifest["refused"][0]["name"], "quantized");
  for (const char* name : {"out/tiny.h", "out/libtiny.a", "out/libtiny.so"})
    EXPECT_TRUE(fs::exists(path(name))) << name;
}

TEST_F(CommandTest, OutputNamesOfDescriptionsArrive) {
  const std::string description = R"({"name": "fc1", "op_type": "MatMul", OUTPUTS "inputs": [
    {"name": "A", "dtype": "float32", "shape": [3, 4]}, {"name": "B", "dtype": "float32", "shape": [4, 2]}]})";
  const std::pair<std::string, std::string> kRows[] = {
      {R"("outputs": ["scores"],)", "scores"}, {R"("specified_outputs_name": ["logits"],)", "logits"}, {"", "Y"}};
  for (const auto& [field, output] : kRows) {
    std::string json = description;
    json.replace(json.find("OUTPUTS"), 7, field);
    EXPECT_EQ(Json::parse(gemmc({"list", json, "--json"}).out)["nodes"][0]["output"], output) << json;
    ASSERT_EQ(gemmc({"build", json, "-o", path("out" + output)}).status, 0) << json;
    EXPECT_EQ(Json::parse(read("out" + output + "/manifest.json"))["nodes"][0]["output"], output) << json;
  }
}

TEST_F(CommandTest, BuildOfOneNodeForMachines) {
  const ProcessResult result =
      gemmc({"build", model(), "--node", "fc2", "--dim", "batch=5", "--name", "second", "-o", path("out"), "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const Json built = Json::parse(result.out);
  EXPECT_EQ(built["name"], "second");
  EXPECT_EQ(built["node_count"], 1);
  EXPECT_EQ(built["files"].size(), 5u);
  EXPECT_TRUE(has(read("out/second.h"), "#define second_M 5\n"));
}

TEST_F(CommandTest, BuildOfAModelWithNothingToBuild) {
  TinyModel tiny;
  tiny.inputs = {{"q", 3, {2, 2}}};
  tiny.nodes = {{"MatMulInteger", "quantized", {"q", "q"}, "i"}};
  const std::string refused = write("refused.onnx", encode(tiny));
  const std::string error = failure({"build", refused, "-o", path("out")});
  EXPECT_TRUE(error.starts_with("2: gemmc: error: ") && has(error, "MatMulInteger")) << error;
  EXPECT_FALSE(fs::exists(path("out")));

  tiny.nodes = {{"Relu", "relu", {"q"}, "i"}};
  const ProcessResult none = gemmc({"build", write("none.onnx", encode(tiny)), "-o", path("out")});
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.err, "gemmc: note: the model has no Gemm, MatMul or MatMulInteger node: nothing is written\n");
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(CommandTest, BuildSaysThatBackwardKernelsAreMissing) {
  int count = 0;
  const auto node_of = [&](const std::string& field, bool is_noted) {
    const std::string json = R"({"name": "fc1", "op_type": "MatMul", )" + field + R"("inputs": [
      {"name": "A", "dtype": "float32", "shape": [3, 4]}, {"name": "B", "dtype": "float32", "shape": [4, 2]}]})";
    const std::string folder = "out" + std::to_string(++count);
    const ProcessResult result = gemmc({"build", json, "-o", path(folder)});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(has(result.err, "note: training: the backward kernels are not built yet"), is_noted) << result.err;
    EXPECT_EQ(has(read(folder + "/manifest.json"), "backward kernels are not built yet"), is_noted) << field;
    return Json::parse(read(folder + "/manifest.json"))["nodes"][0];
  };
  const Json plain = node_of("", false);
  EXPECT_EQ(node_of(R"("training": true, )", true)["symbol"], plain["symbol"]);
  // Descriptions with a graph tool's key train unless they say otherwise.
  EXPECT_EQ(node_of(R"("lda coeff": 1.0, )", true)["symbol"], plain["symbol"]);
  EXPECT_EQ(node_of(R"("lda coeff": 0.5, "training?": false, )", false)["symbol"], plain["symbol"]);
}

TEST_F(CommandTest, BuildWithoutCWritesTheRest) {
  const ProcessResult result =
      run_shell("PATH= exec \"$1\" build 'gemm f32 m=2 n=3 k=4' --name small -o \"$2\"", {GEMMC_COMMAND, path("out")});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "gemmc: note: no 'cc' on PATH: libsmall.so is not written\n");
  EXPECT_TRUE(fs::exists(path("out/libsmall.a")));
  EXPECT_TRUE(Json::parse(read("out/manifest.json"))["shared_library"].is_null());
}

TEST_F(CommandTest, BuildWithABrokenCLeavesNothing) {
  const ProcessResult result = build_with_cc("echo no linker here >&2\nexit 4\n");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err,
            "gemmc: error: " + path("bin/cc") + " could not link libsmall.so: exit status 4: no linker here\n");
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(CommandTest, AModelNamedLikeASystemHeaderDoesNotHideIt) {
  fs::rename(model(), path("string.onnx"));
  ASSERT_EQ(gemmc({"build", path("string.onnx"), "-o", path("out")}).status, 0);
  EXPECT_TRUE(fs::exists(path("out/n_string.h")));
  EXPECT_FALSE(fs::exists(path("out/string.h")));
}

// ---- run

TEST_F(CommandTest, RunAProblemString) {
  const std::string a = array("a.npy", {2, 3}, {1, 2, 3, 4, 5, 6}), b = array("b.npy", {3, 2}, {1, 0, 0, 1, 1, 1});
  const std::string c = array("c.npy", {2}, {10, 20});
  const ProcessResult result = gemmc({"run", "gemm f32 m=?rows n=2 k=3 c=n", "--input", "A=" + a, "--input", "B=" + b,
                                      "--input", "C=" + c, "--output", "Y=" + path("y.npy")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out + result.err, "");
  EXPECT_EQ(values("y.npy", {2, 2}), (std::vector<float>{14, 25, 20, 31}));
}

TEST_F(CommandTest, RunANodeOfAModelWithItsOwnWeights) {
  const std::string x = array("x.npy", {2, 4}, {1, 0, 0, 0, 0, 0, 0, 2});
  const ProcessResult result =
      gemmc({"run", model(), "--node", "fc1", "--input", "A=" + x, "--output", "Y=" + path("y.npy"), "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(values("y.npy", {2, 3}), (std::vector<float>{0, 1, 2, 18, 20, 22}));
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["shape"], Json({2, 3}));
  EXPECT_TRUE(report["symbol"].get<std::string>().starts_with("gemmc_"));
  EXPECT_GT(report["call_ns"], 0);
}

TEST_F(CommandTest, RunADescriptionWithData) {
  array("w.npy", {3, 1}, {1, 10, 100});
  const std::string json = write("node.json", R"({"name": "fc1", "op_type": "MatMul", "inputs": [
    {"name": "A", "dtype": "float32", "shape": [3]},
    {"name": "B", "dtype": "float32", "shape": [3, 1], "constant": true, "data": "w.npy"}]})");
  const std::string a = array("a.npy", {3}, {1, 2, 3});
  const ProcessResult result = gemmc({"run", json, "--input", "A=" + a, "--output", "Y=" + path("y.npy")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(values("y.npy", {1}), std::vector<float>{321});
}

TEST_F(CommandTest, RunOperandsOfUnknownRankAndOddLayouts) {
  const std::string a = array("a.npy", {2, 1, 1, 2}, {1, 2, 3, 4}), b = array("b.npy", {3, 2, 1}, {1, 0, 0, 1, 1, 1});
  EXPECT_EQ(
      gemmc({"run", "matmul f32 a=* b=*", "--input", "A=" + a, "--input", "B=" + b, "--output", "Y=" + path("y.npy")})
          .status,
      0);
  EXPECT_EQ(values("y.npy", {2, 3, 1, 1}), (std::vector<float>{1, 2, 3, 3, 4, 7}));

  const std::string m = array("m.npy", {2, 2}, {1, 2, 3, 4});
  const ProcessResult strided = gemmc({"run", "gemm f32 m=2 n=2 k=2 sa=-9x3 sb=1x2 sy=5x-2", "--input", "A=" + m,
                                       "--input", "B=" + m, "--output", "Y=" + path("y.npy")});
  EXPECT_EQ(strided.status, 0) << strided.err;
  EXPECT_EQ(values("y.npy", {2, 2}), (std::vector<float>{7, 10, 15, 22}));

  const std::string none = array("none.npy", {0, 2}, {});
  EXPECT_EQ(gemmc({"run", "matmul f32 a=?bx2 b=2x2", "--input", "A=" + none, "--input", "B=" + m, "--output",
                   "Y=" + path("y.npy")})
                .status,
            0);
  EXPECT_EQ(values("y.npy", {0, 2}), std::vector<float>{});
}

TEST_F(CommandTest, RunRefusesArraysThatDoNotFit) {
  const std::string a = array("a.npy", {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto run = [&](const std::string& source, std::vector<std::string> rest) {
    rest.insert(rest.begin(), {"run", source, "--output", "Y=" + path("y.npy")});
    return failure(rest);
  };
  EXPECT_EQ(run("matmul f32 a=2x3 b=3x2", {"--input", "A=" + a}),
            "2: gemmc: error: B is not given; needed: an array of float32");
  EXPECT_EQ(run("matmul f32 a=2x3 b=3x2", {"--input", "A=" + a, "--input", "B=" + a}),
            "2: gemmc: error: B has shape (2, 3); allowed: (3, 2)");
  EXPECT_EQ(run("matmul f64 a=2x3 b=3x2", {"--input", "A=" + a, "--input", "B=" + a}),
            "2: gemmc: error: A has type float32; allowed: float64, the problem's type");
  EXPECT_EQ(run("matmul f32 a=?sx3 b=3x?s", {"--input", "A=" + a, "--input", "B=" + array("b.npy", {3, 1}, {1, 2, 3})}),
            "2: gemmc: error: B has shape (3, 1); allowed: (3, ?s) with 's' = 2");
  EXPECT_EQ(run("matmul f32 a=?sx3 b=3x?s", {"--dim", "s=5", "--input", "A=" + a, "--input", "B=" + a}),
            "2: gemmc: error: A has shape (2, 3); allowed: (5, 3)");
  EXPECT_EQ(run("matmul f32 a=2x3 b=3x2", {"--input", "A=" + a, "--input", "B=" + path("missing.npy")}).substr(0, 17),
            "1: gemmc: error: ");
  EXPECT_EQ(run("matmul f32 a=2x3 b=3x2", {"--input", "D=" + a}),
            "2: gemmc: error: --input D=" + a + ": no operand 'D'; allowed: A, B, C");
  EXPECT_EQ(run("matmul f32 a=2x3 b=3x2", {"--input", "A=" + a, "--input", "A=" + a}),
            "2: gemmc: error: --input A=" + a + ": 'A' is given twice");
  EXPECT_EQ(run(model(), {"--input", "A=" + a}).substr(0, 70),
            "2: gemmc: error: the model has 3 nodes; choose one with --node: fc1, f");
  EXPECT_TRUE(run(model(), {"--node", "fc1", "--input", "A=" + a}).ends_with("(node 'fc1')"));
  EXPECT_FALSE(fs::exists(path("y.npy")));
}

TEST_F(CommandTest, RunNamesAnOutputThatCannotBeWritten) {
  const std::string m = array("m.npy", {2, 2}, {1, 2, 3, 4});
  const std::string y = path("no/such/folder/y.npy");
  const std::string error =
      failure({"run", "matmul f32 a=2x2 b=2x2", "--input", "A=" + m, "--input", "B=" + m, "--output", "Y=" + y});
  EXPECT_TRUE(error.starts_with("1: gemmc: error: ") && has(error, y)) << error;
  EXPECT_EQ(failure({"run", "matmul f32 a=2x2 b=2x2", "--output", "Z=" + y}),
            "2: gemmc: error: --output Z=" + y + "; allowed: --output Y=FILE.npy");
  EXPECT_EQ(failure({"build", "matmul f32 a=2x2 b=2x2", "-o", ""}),
            "2: gemmc: error: --output ''; allowed: the name of a directory");
}

// ---- explain, version

TEST_F(CommandTest, ExplainShowsTheWayFromProblemToKernel) {
  const ProcessResult result = gemmc({"explain", "gemm f32 m=?rows n=32 k=8 c=n", "--target", "x86-64-v3"});
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* part : {"problem    gemm f32 m=?rows n=32 k=8 c=n\n", "canonical  gemm f32 m=?d0 n=32 k=8 c=n\n",
                           "  d0 is rows\n", "target     x86-64-v3 tune=generic\n", "tiled    refuses: ",
                           "general  takes it, chosen", "schedule   general mr=", "symbol     gemmc_", "object     "}) {
    EXPECT_TRUE(has(result.out, part)) << part << "\n" << result.out;
  }
  EXPECT_FALSE(has(result.out, "---"));
}

TEST_F(CommandTest, ExplainShowsTheKeyAndTheCodeWhereAsked) {
  const ProcessResult all = gemmc({"explain", "gemm f32 m=16 n=32 k=8", "--target", "x86-64-v3", "--all"});
  ASSERT_EQ(all.status, 0) << all.err;
  for (const char* part : {"--- key ---\n", "--- Halide loop nest ---\n", "--- LLVM IR ---\n", "define ",
                           "--- assembly ---\n", "vfmadd"}) {
    EXPECT_TRUE(has(all.out, part)) << part;
  }
  const Json json =
      Json::parse(gemmc({"explain", "gemm f32 m=16 n=32 k=8", "--target", "x86-64-v3", "--json", "--key"}).out);
  EXPECT_TRUE(has(json["key"], "gemm f32 m=16 n=32 k=8"));
  EXPECT_FALSE(json.contains("assembly"));
  size_t chosen = 0;
  for (const Json& family : json["families"]) chosen += family["is_chosen"] ? 1 : 0;
  EXPECT_EQ(chosen, 1u);
}

TEST_F(CommandTest, ExplainSaysWhyAFamilyThatCouldIsNotChosen) {
  const std::string p = "gemm f32 m=64 n=16 k=512";
  const ProcessResult text = gemmc({"explain", p, "--target", "x86-64-v3"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(has(text.out, "tiled    takes it, sums in the order of k; a later one is likely faster: ")) << text.out;
  EXPECT_TRUE(has(text.out, "general  takes it, chosen, sums in the order of k\n")) << text.out;
  const Json families = Json::parse(gemmc({"explain", p, "--target", "x86-64-v3", "--json"}).out)["families"];
  EXPECT_TRUE(has(families[0]["demurral"], "packing pays"));
  EXPECT_TRUE(families[1]["demurral"].is_null());
}

TEST_F(CommandTest, ASchedulesLineCanBeForced) {
  const std::string line = "general mr=2 nr=8 lanes=8 mc=8 nc=16 kc=16";
  EXPECT_TRUE(has(gemmc({"explain", "gemm f32 m=16 n=32 k=8", "--schedule", line}).out, "schedule   " + line + "\n"));
  EXPECT_TRUE(
      failure({"explain", "gemm f32 m=16 n=32 k=8", "--schedule", "general mr=2"}).starts_with("2: gemmc: error: "));
  EXPECT_TRUE(has(failure({"explain", "gemm f32 m=?m n=32 k=8", "--schedule", "tiled mr=2 nr=8 lanes=8"}), "tiled"));
}

TEST_F(CommandTest, VersionNamesEverythingInside) {
  const ProcessResult text = gemmc({"version"});
  EXPECT_EQ(text.status, 0);
  for (const char* part : {"gemmc ", "halide 21", "llvm 22", "x86-64-v"}) EXPECT_TRUE(has(text.out, part)) << text.out;
  EXPECT_TRUE(Json::parse(gemmc({"version", "--json"}).out)["targets"].is_array());
  const ProcessResult flag = gemmc({"--version"});
  EXPECT_EQ(flag.status, 0);
  EXPECT_EQ(flag.out, text.out.substr(0, text.out.find('\n') + 1));
}

// ---- wrong use

TEST_F(CommandTest, HelpShowsExamplesFirst) {
  const ProcessResult help = gemmc({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_TRUE(has(help.out, "Examples:"));
  EXPECT_LT(help.out.find("Examples:"), help.out.find("Usage:")) << help.out;
  EXPECT_EQ(gemmc({"build", "--help"}).status, 0);
}

TEST_F(CommandTest, WrongUseExitsWithTwo) {
  const std::string p = "gemm f32 m=2 n=3 k=4";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"frobnicate"},
                                             {"list"},
                                             {"list", p, "--frobnicate"},
                                             {"list", p, p},
                                             {"build", p},
                                             {"build", p, "-o", path("out"), "--threads", "many"},
                                             {"run", p}}) {
    const ProcessResult result = gemmc(arguments);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_TRUE(result.err.starts_with("gemmc: error: ")) << result.err;
  }
}

// What is unknown is told before what is missing, and each word as it was written.
TEST_F(CommandTest, UnknownOptionsAreNamed) {
  const std::string p = "gemm f32 m=2 n=3 k=4";
  EXPECT_EQ(
      failure({"run", p, "-i", "A=a.npy", "-o", "Y=y.npy"}).find("2: gemmc: error: unknown option '-i'; allowed: "),
      0u);
  EXPECT_TRUE(has(failure({"run", p, "-i", "A=a.npy"}), "--input, --output"));
  EXPECT_EQ(failure({"build", p, "-O", "out"}).find("2: gemmc: error: unknown option '-O'; allowed: "), 0u);
  EXPECT_EQ(failure({"list", p, "--nod", "fc1"}).find("2: gemmc: error: unknown option '--nod'; allowed: "), 0u);
  EXPECT_EQ(failure({"list", p, "second", "third"}).find("2: gemmc: error: unexpected word 'second' ("), 0u);
  EXPECT_EQ(failure({"--frob"}).find("2: gemmc: error: unknown option '--frob'; allowed: --help, --version "), 0u);
  EXPECT_EQ(failure({"build", p}).find("2: gemmc: error: --output is required"), 0u);
}

TEST_F(CommandTest, WhatIsNotBuiltYetIsRefusedByName) {
  for (const char* verb : {"bench", "tune", "cache", "db"}) {
    EXPECT_EQ(failure({verb, "anything"}), std::string("2: gemmc: error: verb '") + verb +
                                               "' is not built yet; allowed: list, build, run, explain, version");
  }
  const std::string p = "gemm f32 m=2 n=3 k=4", out = path("out");
  EXPECT_EQ(failure({"build", p, "-o", out, "--threads", "4"}),
            "2: gemmc: error: --threads 4: not built yet; allowed: 1");
  const char* several =
      "2: gemmc: error: --target x86-64-v3,x86-64-v4: several CPUs in one build are not built yet; allowed: one target";
  EXPECT_EQ(failure({"build", p, "-o", out, "--target", "x86-64-v3,x86-64-v4"}), several);
  EXPECT_EQ(failure({"build", p, "-o", out, "--target", "x86-64-v3", "--target", "x86-64-v4"}), several);
  EXPECT_TRUE(has(failure({"build", p, "-o", out, "--target", "aarch64"}), "not built yet"));
  EXPECT_TRUE(has(failure({"build", p + " epi=relu", "-o", out}), "not built yet"));
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(CommandTest, WrongValuesAreNamedWithWhatIsAllowed) {
  const std::string p = "gemm f32 m=?rows n=3 k=4", out = path("out");
  EXPECT_EQ(failure({"list", "nonsense"}).substr(0, 45), "2: gemmc: error: 'nonsense' is not a source; ");
  EXPECT_TRUE(has(failure({"list", "gemm f32 m=2 n=3 k=4 frob=1"}), "frob"));
  EXPECT_EQ(failure({"list", p, "--dim", "seq=3"}),
            "2: gemmc: error: --dim seq: no run-time dimension has this name; allowed: rows");
  EXPECT_EQ(
      failure({"list", p, "--dim", "rows=-3"}),
      "2: gemmc: error: --dim rows=-3; allowed: one NAME=SIZE, the size an integer from 0 to 2^63-1; repeat --dim "
      "for more names");
  for (const char* wrong : {"rows=1e9", "rows=9223372036854775808"}) {
    EXPECT_EQ(failure({"list", p, "--dim", wrong}).find(std::string("2: gemmc: error: --dim ") + wrong + "; allowed: "),
              0u);
  }
  EXPECT_EQ(failure({"list", p, "--dim", "rows=2,seq=8"}),
            "2: gemmc: error: --dim rows=2,seq: no run-time dimension has this name; allowed: rows");
  for (const char* wrong : {"many", "0", "-1", "", "99999999999999999999"}) {
    EXPECT_EQ(failure({"build", p, "-o", out, "--threads", wrong}),
              std::string("2: gemmc: error: --threads '") + wrong + "'; allowed: 1 and more, up to 2^63-1");
  }
  EXPECT_EQ(failure({"list", p, "--dim", "rows"}), "2: gemmc: error: --dim rows; allowed: --dim NAME=VALUE");
  EXPECT_TRUE(has(failure({"list", model(), "--dim", "nothing=3"}), "nothing"));
  EXPECT_EQ(failure({"list", model(), "--node", "fc9"}),
            "2: gemmc: error: no node 'fc9' in " + path("tiny.onnx") + "; allowed: fc1, fc2, quantized");
  EXPECT_TRUE(has(failure({"build", p, "-o", out, "--target", "pentium"}), "pentium"));
  EXPECT_EQ(
      failure({"build", p, "-o", out, "--name", "a b"}),
      "2: gemmc: error: --name: name 'a b' is not a C identifier; allowed: letters, digits and '_', no digit first");
  EXPECT_TRUE(has(failure({"list", write("bad.onnx", "no model")}), path("bad.onnx")));
  EXPECT_TRUE(failure({"list", write("bad.json", "{\"op_type\": ")})
                  .starts_with("2: gemmc: error: " + path("bad.json") + ": not valid JSON"));
  EXPECT_EQ(failure({"list", write("field.json", R"({"name": "fc1", "transB": 1})")})
                .find("2: gemmc: error: " + path("field.json") + ": unknown field 'transB'; allowed: name, "),
            0u);
}

TEST_F(CommandTest, FilesThatCannotBeUsedExitWithOneAndAreNamed) {
  for (const char* name : {"missing.onnx", "missing.json"}) {
    const std::string error = failure({"list", path(name)});
    EXPECT_TRUE(error.starts_with("1: gemmc: error: ") && has(error, path(name))) << error;
  }
  fs::create_directory(path("folder.json"));
  EXPECT_EQ(failure({"list", path("folder.json")}),
            "1: gemmc: error: cannot read " + path("folder.json") + ": not a regular file");
  const std::string in_a_file = write("file", "x") + "/out";
  const std::string error = failure({"build", "gemm f32 m=2 n=3 k=4", "-o", in_a_file});
  EXPECT_TRUE(error.starts_with("1: gemmc: error: cannot create directory ") && has(error, in_a_file)) << error;
  const ProcessResult full = run_shell("exec \"$1\" version > /dev/full", {GEMMC_COMMAND});
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(full.err, "gemmc: error: cannot write to standard output\n");
  // Longer than the stream's buffer, so that writing fails before the end.
  const ProcessResult piped = run_shell("\"$1\" explain 'gemm f32 m=64 n=64 k=64' --all > /dev/full", {GEMMC_COMMAND});
  EXPECT_EQ(piped.status, 1);
  EXPECT_EQ(piped.err, "gemmc: error: cannot write to standard output\n");
  const std::string m = array("m.npy", {1, 1}, {1});
  const ProcessResult pipe =
      run_shell("\"$1\" run 'matmul f32 a=1x1 b=1x1' --input A=\"$2\" --input B=\"$2\" --output Y=/dev/stdout | cat",
                {GEMMC_COMMAND, m});
  EXPECT_EQ(pipe.err, "gemmc: error: /dev/stdout: cannot be written: not a file\n");
}

TEST_F(CommandTest, AnEmptyWordIsNotAMissingOption) {
  const std::string p = "gemm f32 m=2 n=3 k=4";
  EXPECT_TRUE(failure({"build", p, "-o", path("out"), "--name", ""}).starts_with("2: gemmc: error: --name: name ''"));
  EXPECT_TRUE(failure({"explain", p, "--schedule", ""}).starts_with("2: gemmc: error: schedule is empty"));
  EXPECT_TRUE(failure({"list", model(), "--node", ""}).starts_with("2: gemmc: error: no node '' in "));
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(CommandTest, AnUnknownVerbIsNamed) {
  EXPECT_EQ(failure({"frob"}),
            "2: gemmc: error: verb 'frob'; allowed: list, build, run, explain, version (gemmc "
            "--help shows examples)");
  EXPECT_TRUE(failure({""}).starts_with("2: gemmc: error: verb ''; allowed: list, "));
}

TEST_F(CommandTest, NamesFromModelsCannotAddLines) {
  const std::string json = R"({"name": "a\nb\u001b[31m", "op_type": "MatMul", "inputs": [
    {"name": "A", "dtype": "float32", "shape": [3, 4]}, {"name": "B", "dtype": "float32", "shape": [5, 2]}]})";
  const ProcessResult result = gemmc({"build", json, "-o", path("out")});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_FALSE(has(result.err, "\x1b"));
}

}  // namespace
}  // namespace gemmc::testing
