// The gemmc command as a process: what it prints, which files it leaves, and its exit status: 0 done, 1 the environment
// failed, 2 wrong use or an invalid description. The first line of a failure is always the error.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/command_fixture.h"
#include "tests/integration/tiny_model.h"
#include "tests/support/process.h"

namespace gemmc::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class CommandTest : public CommandFixture {};

// ---- list

TEST_F(CommandTest, ListShowsEveryNodeAndASummary) {
  const ProcessResult result = gemmc({"list", model()});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(has(result.out, "fc1  (MatMul)\n")) << result.out;
  EXPECT_TRUE(has(result.out, "float32 (?batch, 4)  x\n"));
  EXPECT_TRUE(has(result.out, "float32 (4, 3)  w  constant: initializer\n"));
  EXPECT_TRUE(has(result.out, "then     Relu\n"));
  EXPECT_TRUE(has(result.out, "quantized  (MatMulInteger)\n"));
  EXPECT_TRUE(has(result.out, "refused  "));
  EXPECT_TRUE(result.out.ends_with("3 nodes, 1 distinct signature, 1 refused\n"));
}

TEST_F(CommandTest, ListShowsHowBIsStored) {
  const char* problem = "gemm f32 m=2 n=3 k=4 storage=b:i8";
  EXPECT_TRUE(has(gemmc({"list", problem}).out, "  B        float32 stored as int8 (4, 3)\n"));
  const Json inputs = Json::parse(gemmc({"list", problem, "--json"}).out)["nodes"][0]["inputs"];
  EXPECT_EQ(inputs[0]["storage"], Json());
  EXPECT_EQ(inputs[1]["storage"], "int8");
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
  EXPECT_EQ(built["files"].size(), 6u);
  EXPECT_TRUE(has(read("out/second.h"), "#define second_M 5\n"));
}

TEST_F(CommandTest, BuildWithoutTheWeightsOfADescription) {
  array("b.npy", {2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string node = write("node.json", R"({"op_type": "MatMul", "inputs": [
      {"dtype": "float32", "shape": [4, 2]}, {"dtype": "float32", "shape": [2, 3], "data": "b.npy"}]})");
  for (const auto& [weights, count] : {std::pair("embed", 1u), std::pair("none", 0u)}) {
    ASSERT_EQ(gemmc({"build", node, "-o", path("out"), "--weights", weights}).status, 0);
    EXPECT_EQ(Json::parse(read("out/manifest.json"))["weights"].size(), count) << weights;
  }
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

TEST_F(CommandTest, RunMayUseThreads) {
  std::vector<float> rows(300 * 64), columns(64 * 200);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = 1.0f / static_cast<float>(1 + i % 97);
  for (size_t i = 0; i < columns.size(); ++i) columns[i] = 1.0f / static_cast<float>(1 + i % 89);
  const std::string a = array("a.npy", {300, 64}, rows), b = array("b.npy", {64, 200}, columns);
  std::vector<std::vector<float>> results;
  for (const char* threads : {"1", "3"}) {
    const ProcessResult result = gemmc({"run", "gemm f32 m=300 n=200 k=64", "--input", "A=" + a, "--input", "B=" + b,
                                        "--output", "Y=" + path("y.npy"), "--threads", threads});
    EXPECT_EQ(result.status, 0) << result.err;
    results.push_back(values("y.npy", {300, 200}));
  }
  EXPECT_EQ(results[0], results[1]);
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

TEST_F(CommandTest, RunTakesOperandsOfTheEpilogueByPositionOrName) {
  const std::string m = array("m.npy", {1, 1}, {1}), two = array("two.npy", {1}, {2}),
                    five = array("five.npy", {1}, {5});
  const auto run = [&](const std::string& steps, const std::vector<std::string>& operands) {
    std::vector<std::string> words = {
        "run",   "gemm f32 m=1 n=1 k=1 epi=" + steps, "--output", "Y=" + path("y.npy"), "--input", "A=" + m, "--input",
        "B=" + m};
    for (const std::string& operand : operands) words.insert(words.end(), {"--input", operand});
    const ProcessResult result = gemmc(words);
    return result.status == 0 ? std::to_string(static_cast<int>(values("y.npy", {1, 1})[0])) : result.err;
  };
  EXPECT_EQ(run("bias:n:b,scale:n:s", {"e0=" + two, "e1=" + five}), "15");
  EXPECT_EQ(run("bias:n:b,scale:n:s", {"s=" + five, "b=" + two}), "15");
  EXPECT_EQ(run("bias:n:x%3Ay", {"x:y=" + two}), "3") << "as it is";
  EXPECT_EQ(run("bias:n:x%3Ay", {"x%3Ay=" + two}), "3") << "as it is printed";
  EXPECT_EQ(run("bias:n:e0,scale:n:e1", {"e0=" + two, "e1=" + five}), "15");
  // Words that may mean two of them.
  const std::string error = "gemmc: error: --input ";
  EXPECT_EQ(run("bias:n:e1,scale:n:e0", {"e0=" + two, "e1=" + five}),
            error + "e0=" + two + ": 'e0' may mean e0 or e1; allowed: another word for it\n");
  EXPECT_EQ(run("bias:n:x,bias:n:x", {"x=" + two}),
            error + "x=" + two + ": 'x' may mean e0 or e1; allowed: another word for it\n");
  EXPECT_EQ(run("bias:n:A", {"A=" + two}).find(error + "A="), 0u);
  // What is missing or does not fit is named as the problem names it.
  EXPECT_EQ(run("relu,residual::skip", {}),
            "gemmc: error: operand e0 of the epilogue (residual 'skip') is not given; needed: an array of float32\n");
  EXPECT_EQ(run("bias:n:b", {"b=" + array("three.npy", {3}, {1, 2, 3})}),
            "gemmc: error: operand e0 of the epilogue (bias 'b') has shape (3); allowed: (1)\n");
}

TEST_F(CommandTest, RunReportsTheVariantsOfItsKernel) {
  const std::string m = array("m.npy", {2, 2}, {1, 2, 3, 4});
  const ProcessResult result = gemmc({"run", "gemm f32 m=?rows n=?cols:~2 k=2", "--input", "A=" + m, "--input",
                                      "B=" + m, "--output", "Y=" + path("y.npy"), "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json variants = Json::parse(result.out)["variants"];
  ASSERT_EQ(variants.size(), 1u);
  EXPECT_EQ(variants[0]["dims"], Json({{"cols", 2}}));
  EXPECT_EQ(values("y.npy", {2, 2}), (std::vector<float>{7, 10, 15, 22}));
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
            "2: gemmc: error: A has type float32; allowed: float64");
  EXPECT_EQ(run("matmul f32 a=?sx3 b=3x?s", {"--input", "A=" + a, "--input", "B=" + array("b.npy", {3, 1}, {1, 2, 3})}),
            "2: gemmc: error: B has shape (3, 1); allowed: (3, ?s) with 's' = 2");
  EXPECT_EQ(run("matmul f32 a=?sx3 b=3x?s", {"--dim", "s=5", "--input", "A=" + a, "--input", "B=" + a}),
            "2: gemmc: error: A has shape (2, 3); allowed: (5, 3)");
  EXPECT_EQ(run("matmul f32 a=2x3 b=3x2", {"--input", "A=" + a, "--input", "B=" + path("missing.npy")}).substr(0, 17),
            "1: gemmc: error: ");
  EXPECT_EQ(run("matmul f32 a=2x3 b=3x2", {"--input", "D=" + a}),
            "2: gemmc: error: --input D=" + a + ": no operand 'D'; allowed: A, B");
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
  const ProcessResult result = gemmc({"explain", "gemm f32 m=?rows n=?n k=8 c=n", "--target", "x86-64-v3"});
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* part : {"problem    gemm f32 m=?rows n=? k=8 c=n\n", "canonical  gemm f32 m=?d0 n=?d1 k=8 c=n\n",
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
  const std::string p = "gemm f32 m=200 n=100 k=512";
  const ProcessResult text = gemmc({"explain", p, "--target", "x86-64-v3"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(has(text.out, "tiled    takes it, sums in the order of k; a later one is likely faster: ")) << text.out;
  EXPECT_TRUE(has(text.out, "general  takes it, chosen, sums in the order of k\n")) << text.out;
  const Json families = Json::parse(gemmc({"explain", p, "--target", "x86-64-v3", "--json"}).out)["families"];
  EXPECT_EQ(families[0]["family"], "dots");
  EXPECT_TRUE(families[0]["demurral"].is_null());
  EXPECT_EQ(families[2]["family"], "tiled");
  EXPECT_TRUE(has(families[2]["demurral"], "packing pays"));
  EXPECT_TRUE(families[3]["demurral"].is_null());
}

TEST_F(CommandTest, ExplainShowsVariantsForLikelyValues) {
  const std::string p = "gemm f32 m=?m n=?seq:1..512~24~48 k=8";
  const ProcessResult text = gemmc({"explain", p, "--target", "x86-64-v3"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(has(text.out, "canonical  gemm f32 m=?d0 n=?d1:~24~48 k=8\n")) << text.out;
  EXPECT_TRUE(has(text.out, "schedule   general ")) << text.out;
  EXPECT_TRUE(has(text.out, "variant    seq=24: tiled ")) << text.out;
  EXPECT_TRUE(has(text.out, "variant    seq=48: tiled ")) << text.out;
  const Json variants = Json::parse(gemmc({"explain", p, "--target", "x86-64-v3", "--json"}).out)["variants"];
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[1]["dims"], Json({{"seq", 48}}));
  EXPECT_TRUE(has(variants[1]["schedule"], "tiled "));
  EXPECT_TRUE(has(failure({"explain", "gemm f32 m=?m n=?~1~2~3 k=?~1~2~3"}),
                  "lead to 9 variants of the kernel; allowed: up to 8"));
}

TEST_F(CommandTest, ASchedulesLineCanBeForced) {
  const std::string line = "general mr=2 nr=8 lanes=8 mc=8 nc=16 kc=16";
  EXPECT_TRUE(has(gemmc({"explain", "gemm f32 m=16 n=32 k=8", "--schedule", line}).out, "schedule   " + line + "\n"));
  EXPECT_TRUE(
      failure({"explain", "gemm f32 m=16 n=32 k=8", "--schedule", "general mr=2"}).starts_with("2: gemmc: error: "));
  EXPECT_TRUE(
      has(failure({"explain", "gemm f32 m=8 n=?n k=8", "--schedule", "tiled mr=2 nr=8 lanes=8 mc=2"}), "tiled"));
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

}  // namespace
}  // namespace gemmc::testing
