// `gemmc bench` as users call it: every kind of source, every output, and each wrong use refused in one line. Figures
// are not looked at, so that nothing here depends on time.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/command_fixture.h"

namespace gemmc::testing {
namespace {

using Json = nlohmann::json;

class BenchTest : public CommandFixture {
 protected:
  // `gemmc bench` without peers, quickly, as JSON.
  Json bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "bench");
    arguments.insert(arguments.end(), {"--quick", "--rounds", "1", "--peers", "none", "--json"});
    const ProcessResult result = gemmc(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    notes_ = result.err;
    return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  }
  // The problems that were timed.
  std::vector<std::string> problems(const std::vector<std::string>& arguments) {
    std::vector<std::string> found;
    const Json run = bench(arguments);
    for (const Json& product : run.at("products")) found.push_back(product.at("problem"));
    return found;
  }

  std::string notes_;
};

using Strings = std::vector<std::string>;

TEST_F(BenchTest, TakesEveryKindOfSource) {
  const std::string suite = write("suite.txt", "# square\n8 8 8 0 0\n# transposed\n4 5 6 0 1\n");
  const std::string table = write("shapes.csv", "M,N,K,dtype\n4,5,6,f32 (col-major)\n4,5,6,u8xi8\n");
  const std::string node = write("node.json", R"({"name": "fc", "op_type": "MatMul",
    "inputs": [{"dtype": "float64", "shape": ["rows", 3]}, {"dtype": "float64", "shape": [3, 4]}]})");
  EXPECT_EQ(
      problems({"gemm f32 m=2 n=3 k=4", suite, table}),
      (Strings{"gemm f32 m=2 n=3 k=4", "gemm f32 m=8 n=8 k=8", "gemm f32 m=4 n=5 k=6 tb", "gemm f32 m=5 n=4 k=6"}));
  EXPECT_TRUE(has(notes_, "gemmc: note: left out: " + table + ": 1 row of type 'u8xi8': not built yet\n")) << notes_;
  EXPECT_EQ(problems({node, "--dim", "rows=2"}), (Strings{"gemm f64 m=2 n=4 k=3"}));
  EXPECT_EQ(problems({suite, "--dtype", "f64,i32"}), (Strings{"gemm f64 m=8 n=8 k=8", "gemm f64 m=4 n=5 k=6 tb",
                                                              "gemm i32 m=8 n=8 k=8", "gemm i32 m=4 n=5 k=6 tb"}));
}

TEST_F(BenchTest, TimesEachProductOfAModelOnceAndNamesWhatItLeavesOut) {
  EXPECT_EQ(problems({model(), "--dim", "batch=2"}), (Strings{"gemm f32 m=2 n=3 k=4"}));
  EXPECT_TRUE(has(notes_, "gemmc: note: left out: tiny: ")) << notes_;
  EXPECT_TRUE(has(notes_, "(node 'quantized')")) << notes_;
  EXPECT_TRUE(has(failure({"bench", model(), "--peers", "none"}),
                  "2: gemmc: error: none of 3 nodes of " + path("tiny.onnx") +
                      " can be timed; the first: unbound run-time dimensions: batch"));
}

TEST_F(BenchTest, HasAContenderForEachThatIsAskedFor) {
  const std::string schedule = "general mr=2 nr=4 lanes=4 mc=4 nc=8 kc=8";
  const Json run = bench({"matmul f32 a=3x4x5 b=3x5x6", "--runtime", "--packed", "--schedule", schedule, "--schedule",
                          "tiled mr=1 nr=4 lanes=4 mc=4 pack=b", "--target", "x86-64-v2"});
  const Json& contenders = run.at("products").at(0).at("contenders");
  Strings names;
  for (const Json& contender : contenders) names.push_back(contender.at("name"));
  EXPECT_EQ(names, (Strings{"gemmc", "gemmc run-time", "gemmc packed", "gemmc " + schedule,
                            "gemmc tiled mr=1 nr=4 lanes=4 mc=4 pack=b"}));
  EXPECT_EQ(contenders.at(3).at("schedule"), schedule);
  EXPECT_EQ(contenders.at(3).at("rounds"), 1);
  EXPECT_GT(contenders.at(3).at("gops"), 0);
  EXPECT_TRUE(run.at("target").get<std::string>().starts_with("x86-64-v2"));
}

TEST_F(BenchTest, TimesSeveralThreadsBesideOne) {
  const Json run = bench({"gemm f32 m=256 n=128 k=64", "--threads", "2", "--target", "x86-64-v2"});
  const Json& contenders = run.at("products").at(0).at("contenders");
  ASSERT_EQ(contenders.size(), 2u) << contenders;
  EXPECT_EQ(contenders.at(1).at("name"), "gemmc, 2 threads");
  EXPECT_GT(contenders.at(1).at("gops"), 0);
}

TEST_F(BenchTest, AScheduleThatDoesNotSuitIsLeftOutWithTheReason) {
  const Json run =
      bench({"gemm f64 m=2 n=3 k=4", "--schedule", "tiled mr=6 nr=16 lanes=8 mc=96", "--target", "x86-64-v3"});
  const Json& contender = run.at("products").at(0).at("contenders").at(1);
  EXPECT_TRUE(has(contender.at("left_out"), "has lanes 8; allowed")) << contender;
  EXPECT_FALSE(contender.contains("gops"));
}

TEST_F(BenchTest, WritesATableAFileOfFiguresAndAReport) {
  const ProcessResult result = gemmc({"bench", "gemm f32 m=2 n=3 k=4", "--quick", "--csv", path("out.csv"), "--report",
                                      path("out.md"), "--python-prefix", path("none"), "--peer-modules", path("none")});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(has(result.out, "\nf32 2x3x4: 104 bytes of operands")) << result.out;
  EXPECT_TRUE(has(result.err, "gemmc: note: skipped OpenBLAS: not installed\n")) << result.err;
  EXPECT_TRUE(read("out.csv").starts_with("# format: gemmc bench 1\n# command: gemmc bench 'gemm f32 m=2 n=3 k=4' "));
  EXPECT_TRUE(has(read("out.csv"), "\n,gemm f32 m=2 n=3 k=4,f32,1,2,3,4,0,0,gemmc,gemmc,0,"));
  EXPECT_TRUE(has(read("out.md"), "| not measured | OpenBLAS: not installed |"));
}

TEST_F(BenchTest, PeaksAreMeasuredAlone) {
  const ProcessResult result = gemmc({"bench", "--peak", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_TRUE(json.contains("cpu"));
  EXPECT_FALSE(json.at("peaks").empty());
  EXPECT_TRUE(json.contains("bandwidths"));
}

TEST_F(BenchTest, WrongUseIsRefusedInOneLine) {
  const std::string p = "gemm f32 m=2 n=3 k=4";
  EXPECT_EQ(failure({"bench"}).find("2: gemmc: error: SOURCE is required: "), 0u);
  EXPECT_EQ(failure({"bench", p, "--peers", "atlas"}).find("2: gemmc: error: --peers 'atlas'; allowed: all or none"),
            0u);
  EXPECT_EQ(failure({"bench", p, "--dtype", "f8"}).find("2: gemmc: error: --dtype 'f8'; allowed: bf16, f16, f32"), 0u);
  EXPECT_EQ(failure({"bench", p, "--rounds", "0"}), "2: gemmc: error: --rounds '0'; allowed: 1 to 1000");
  EXPECT_EQ(failure({"bench", p, "--schedule", "fast"}).find("2: gemmc: error: "), 0u);
  EXPECT_EQ(failure({"bench", p + " c=n"}),
            "2: gemmc: error: C: timing this is not built yet; allowed: dense products without it");
  EXPECT_EQ(failure({"bench", "gemm f32 m=?rows n=3 k=4"}),
            "2: gemmc: error: unbound run-time dimensions: rows; allowed: none, bind each with --dim NAME=SIZE");
  EXPECT_EQ(failure({"bench", p, "--csv", path("no/such/out.csv")}),
            "1: gemmc: error: cannot write '" + path("no/such/out.csv") + "'");
  EXPECT_EQ(failure({"bench", path("suite.txt")}),
            "1: gemmc: error: cannot read the suite '" + path("suite.txt") + "'");
  const std::string suite = write("given.txt", "8 8 8 0 0\n");
  EXPECT_EQ(failure({"bench", suite, "--dim", "seq=2"}),
            "2: gemmc: error: --dim is for problem strings, NODE.json and MODEL.onnx; found only suites and tables");
  EXPECT_EQ(failure({"bench", p, "--dtype", "f64"}),
            "2: gemmc: error: --dtype is for SUITE.txt and SHAPES.csv; found only sources that have a type");
  for (const char* wrong : {"many", "0", "-1", "", "4097", "99999999999999999999"}) {
    EXPECT_EQ(failure({"bench", p, "--threads", wrong}),
              std::string("2: gemmc: error: --threads '") + wrong + "'; allowed: 1 to 4096");
  }
}

}  // namespace
}  // namespace gemmc::testing
