// What a node means, as the problem string of its problem.
#include <gtest/gtest.h>

#include "compiler/node.h"
#include "compiler/node_json.h"
#include "core/key.h"
#include "core/problem_shapes.h"
#include "core/problem_string.h"
#include "tests/support/cases.h"

namespace gemmc {
namespace {

// The problem of a description, or its error.
std::string problem_of(const std::string& json) {
  Expected<Node> node = parse_node_json(json, ".");
  if (!node) return "description: " + node.status().message();
  Expected<Problem> problem = node_to_problem(*node);
  if (!problem) return problem.status().message();
  EXPECT_TRUE(validate(*problem).is_ok());
  return print_problem(*problem);
}

std::string input(const std::string& shape) { return R"({"dtype": "float32", "shape": )" + shape + "}"; }

// A description of float32 inputs with these shapes; "" for unknown.
std::string gemm(const std::vector<std::string>& shapes, const std::string& attributes = "{}") {
  std::string inputs;
  for (const std::string& shape : shapes) {
    inputs += (inputs.empty() ? "" : ", ") + (shape.empty() ? R"({"dtype": "float32"})" : input(shape));
  }
  return R"({"op_type": "Gemm", "attributes": )" + attributes + R"(, "inputs": [)" + inputs + "]}";
}
std::string matmul(const std::string& a, const std::string& b) {
  std::string json = gemm({a, b});
  return json.replace(json.find("Gemm"), 4, "MatMul");
}

TEST(NodeToProblem, TheCaseFiles) {
  size_t count = 0;
  for (const char* folder : {"worked", "reported"}) {
    for (const testing::Case& test_case : testing::read_cases(folder)) {
      SCOPED_TRACE(test_case.id);
      ++count;
      const Expected<Problem> problem = node_to_problem(testing::to_node(test_case));
      if (test_case.expect.is_ok) {
        ASSERT_TRUE(problem) << problem.status().message();
        Shape y;
        for (int64_t extent : test_case.expect.y.shape) y.push_back(Dim::fixed(extent));
        EXPECT_EQ(output_shape(*problem), y);
        EXPECT_EQ(problem->dtype, test_case.expect.y.dtype);
        const Expected<Problem> again = parse_problem(print_problem(*problem));
        EXPECT_TRUE(again && *again == *problem) << print_problem(*problem);
        continue;
      }
      ASSERT_FALSE(problem) << print_problem(*problem);
      const std::string& message = problem.status().message();
      EXPECT_EQ(problem.status().code(), StatusCode::kInvalidArgument) << message;
      EXPECT_NE(message.find("(node '" + test_case.id + "')"), std::string::npos) << message;
      bool has_word = false;
      for (const std::string& word : test_case.expect.error_contains_any)
        has_word |= message.find(word) != std::string::npos;
      EXPECT_TRUE(has_word) << message;
    }
  }
  EXPECT_EQ(count, 164u);
}

TEST(NodeToProblem, EveryFieldArrives) {
  EXPECT_EQ(
      problem_of(R"({"op_type": "Gemm", "attributes": {"alpha": 0.5, "beta": 2, "transA": true, "transB": -1},
      "inputs": [{"dtype": "float32", "shape": ["k", {"name": "m", "min": 1, "max": 8, "likely": [4]}], "strides": ["?", 1]},
                 {"dtype": "float32", "shape": [3, "k"], "constant": true, "storage": "bfloat16"},
                 {"shape": [1, 3], "strides": [0, 1]}],
      "outputs": [{"name": "Y", "strides": [-3, 1]}], "order": "k", "epilogue": [{"op": "bias", "axis": "n"}]})"),
      "gemm f32 m=?1..8~4 n=3 k=? ta tb c=1n alpha=0.5 beta=2 sa=?x1 sc=0x1 sy=-3x1 const=b storage=b:bf16 epi=bias:n "
      "order=k");
  EXPECT_EQ(problem_of(R"({"op_type": "MatMul", "order": "k", "outputs": [{"name": "Y", "strides": ["?", "?"]}],
      "inputs": [{"dtype": "int64", "shape": [2, 3]}, {"shape": [3, 4], "constant": true, "strides": [1, 3]}]})"),
            "matmul i64 a=2x3 b=3x4 sb=1x3 sy=?x? const=b order=k");
  EXPECT_EQ(problem_of(R"({"op_type": "Gemm", "domain": "ai.onnx", "inputs": [{"dtype": "float32"}, {}, null]})"),
            "gemm f32 m=? n=? k=?");
}

TEST(NodeToProblem, AnythingButZeroTransposes) {
  for (const char* value : {"1", "2", "-1", "true", "9223372036854775807"}) {
    EXPECT_EQ(problem_of(gemm({"[4, 2]", "[4, 3]"}, std::string(R"({"transA": )") + value + "}")),
              "gemm f32 m=2 n=3 k=4 ta");
  }
  EXPECT_EQ(problem_of(gemm({"[2, 4]", "[3, 4]"}, R"({"transA": false, "transB": true})")), "gemm f32 m=2 n=3 k=4 tb");
}

TEST(NodeToProblem, TypesByOpset) {
  const auto is_allowed = [](const char* op, DType dtype, int opset) {
    const std::string c = op == std::string("Gemm") ? ", {\"shape\": []}" : "";
    const std::string message =
        problem_of(R"({"op_type": ")" + std::string(op) + R"(", "opset": )" + std::to_string(opset) +
                   R"(, "inputs": [{"dtype": ")" + std::string(name(dtype)) +
                   R"(", "shape": [2, 4]}, {"shape": [4, 3]})" + c + "]}");
    const bool is_ok = message.starts_with("gemm") || message.starts_with("matmul");
    EXPECT_TRUE(is_ok || message.find("dtype " + std::string(name(dtype))) != std::string::npos) << message;
    return is_ok;
  };
  for (const char* op : {"Gemm", "MatMul"}) {
    for (DType dtype : kAllDTypes) {
      const int first = dtype == DType::kBFloat16 ? 13 : is_integer(dtype) ? 9 : 7;
      for (int opset : {7, 8, 9, 10, 11, 12, 13, 14, 21, 1000000}) {
        EXPECT_EQ(is_allowed(op, dtype, opset), opset >= first) << op << " " << name(dtype) << " at opset " << opset;
      }
    }
  }
}

TEST(NodeToProblem, KnownTypesDecideUnknownOnes) {
  EXPECT_EQ(
      problem_of(R"({"op_type": "MatMul", "inputs": [{"shape": [2, 4]}, {"dtype": "float16", "shape": [4, 3]}]})"),
      "matmul f16 a=2x4 b=4x3");
}

TEST(NodeToProblem, BothKAreOneDimension) {
  EXPECT_EQ(problem_of(gemm({R"(["m", "x1"])", "[64, 3]"})), "gemm f32 m=? n=3 k=64");
  EXPECT_EQ(problem_of(gemm({"[2, 64]", R"(["x1", "n"])"})), "gemm f32 m=2 n=? k=64");
  EXPECT_EQ(problem_of(gemm({R"(["m", "in"])", R"(["out", "n"])"})), "gemm f32 m=? n=? k=?in");
  EXPECT_EQ(problem_of(gemm({R"(["s", "s"])", R"([64, "n"])"})), "gemm f32 m=64 n=? k=64")
      << "wherever the name stands";
  EXPECT_EQ(problem_of(gemm({R"(["m", "in"])", R"(["n", "n"])"})), "gemm f32 m=? n=?in k=?in");
  EXPECT_EQ(problem_of(gemm({R"(["m", "in"])", R"(["out", "n"])", R"(["m", "out"])"})), "gemm f32 m=? n=? k=?in c=*");
  EXPECT_EQ(problem_of(gemm({R"(["m", {"name": "in", "min": 1}])", R"(["in", "n"])"})), "gemm f32 m=? n=? k=?in:1..");
  EXPECT_EQ(problem_of(matmul(R"(["m", "in"])", R"(["out", "n"])")), "matmul f32 a=?mx?in b=?outx?n")
      << "MatMul keeps shapes";
}

TEST(NodeToProblem, UnknownShapesOfGemmGetNames) {
  EXPECT_EQ(problem_of(gemm({"", ""})), "gemm f32 m=? n=? k=?");
  EXPECT_EQ(problem_of(gemm({"", "[64, 3]"})), "gemm f32 m=? n=3 k=64");
  EXPECT_EQ(problem_of(gemm({"", R"(["hidden", "m"])"})), "gemm f32 m=?m_ n=?m k=?hidden");
  EXPECT_EQ(problem_of(gemm({"[2, 64]", ""}, R"({"transB": 1})")), "gemm f32 m=2 n=? k=64 tb");
  EXPECT_EQ(problem_of(gemm({"", ""}, R"({"transA": 1, "transB": 1})")), "gemm f32 m=? n=? k=? ta tb");
  EXPECT_EQ(problem_of(gemm({"", "", R"(["k", "n"])"})), "gemm f32 m=? n=?n_ k=?k_ c=*") << "C's n may be 1";
  EXPECT_EQ(problem_of(gemm({"", "", "[5, 7]"})), "gemm f32 m=5 n=7 k=? c=mn");
}

TEST(NodeToProblem, UnknownRanksOfMatMulStay) {
  EXPECT_EQ(problem_of(matmul("", "[64, 3]")), "matmul f32 a=* b=64x3");
  EXPECT_EQ(problem_of(matmul("", "")), "matmul f32 a=* b=*");
  EXPECT_EQ(problem_of(matmul(R"(["b", 1, "s", 64])", "[64]")), "matmul f32 a=?bx1x?sx64 b=64");
}

TEST(NodeToProblem, FormsOfC) {
  const auto form = [](const std::string& c) { return problem_of(gemm({R"(["m", 4])", R"([4, "n"])", c})); };
  EXPECT_EQ(form("[]"), "gemm f32 m=? n=? k=4 c=s");
  EXPECT_EQ(form("[1]"), "gemm f32 m=? n=? k=4 c=1");
  EXPECT_EQ(form(R"(["n"])"), "gemm f32 m=? n=? k=4 c=n");
  EXPECT_EQ(form(R"([1, "n"])"), "gemm f32 m=? n=? k=4 c=1n");
  EXPECT_EQ(form(R"(["m", 1])"), "gemm f32 m=? n=? k=4 c=m1");
  EXPECT_EQ(form("[1, 1]"), "gemm f32 m=? n=? k=4 c=11");
  EXPECT_EQ(form(R"(["m", "n"])"), "gemm f32 m=? n=? k=4 c=mn");
}

TEST(NodeToProblem, ADimensionOfCThatMayBroadcastIsLeftToTheCall) {
  const auto form = [](const std::string& c) { return problem_of(gemm({R"(["m", 4])", R"([4, "n"])", c})); };
  EXPECT_EQ(form(""), "gemm f32 m=? n=? k=4 c=*");
  EXPECT_EQ(form(R"(["c"])"), "gemm f32 m=? n=? k=4 c=*");
  EXPECT_EQ(form(R"(["m"])"), "gemm f32 m=? n=? k=4 c=*") << "M's name in N's place";
  EXPECT_EQ(form(R"(["n", "m"])"), "gemm f32 m=? n=? k=4 c=*");
  EXPECT_EQ(form(R"(["c", 1])"), "gemm f32 m=? n=? k=4 c=*");
  EXPECT_EQ(problem_of(gemm({"[2, 4]", "[4, 3]", R"(["c"])"})), "gemm f32 m=2 n=3 k=4 c=*");
  EXPECT_EQ(problem_of(gemm({"[2, 4]", "[4, 1]", R"(["c"])"})), "gemm f32 m=2 n=1 k=4 c=1") << "N = 1 leaves no choice";
}

TEST(NodeToProblem, ASizeOfCDecidesMAndN) {
  EXPECT_EQ(problem_of(gemm({R"(["m", 4])", R"([4, "n"])", "[7]"})), "gemm f32 m=? n=7 k=4 c=n");
  EXPECT_EQ(problem_of(gemm({R"(["m", "n"])", R"(["n", "n"])", "[5, 7]"})), "gemm f32 m=5 n=7 k=7 c=mn");
  EXPECT_EQ(problem_of(gemm({R"(["m", 4])", R"([4, "n"])", R"([5, "c"])"})), "gemm f32 m=5 n=? k=4 c=*");
}

TEST(NodeToProblem, AbsentAndZeroC) {
  EXPECT_EQ(problem_of(R"({"op_type": "Gemm", "opset": 11, "inputs": [{"dtype": "float32", "shape": [2, 4]},
      {"shape": [4, 3]}, ""]})"),
            "gemm f32 m=2 n=3 k=4");
  EXPECT_EQ(problem_of(gemm({"[2, 4]", "[4, 3]", "[3]"}, R"({"beta": 0})")), "gemm f32 m=2 n=3 k=4 c=n beta=0");
}

TEST(NodeToProblem, IntegersTakeFractionalFactors) {
  EXPECT_EQ(
      problem_of(R"({"op_type": "Gemm", "attributes": {"alpha": 0.5}, "inputs": [{"dtype": "uint32", "shape": [2, 4]},
      {"shape": [4, 3]}]})"),
      "gemm u32 m=2 n=3 k=4 alpha=0.5");
}

TEST(NodeToProblem, DataMakesAConstant) {
  Node node = testing::to_node(testing::read_cases("worked").front());
  node.inputs[1].data = std::make_shared<Tensor>();
  const Expected<Problem> problem = node_to_problem(node);
  ASSERT_TRUE(problem);
  EXPECT_TRUE(problem->b.is_constant);
}

// What asks for backward kernels is no part of the forward one, nor of its key.
TEST(NodeToProblem, TrainingChangesNothing) {
  const std::string node =
      R"({"op_type": "Gemm", "inputs": [{"dtype": "float32", "shape": [2, 4]}, {"shape": [4, 3]}])";
  const std::string expected = problem_of(node + "}");
  EXPECT_EQ(expected, "gemm f32 m=2 n=3 k=4");
  EXPECT_EQ(problem_of(node + R"(, "training": true, "lda_coeff": 0.25})"), expected);
  const Expected<Node> tool_node = parse_node_json(node + R"(, "training?": true, "lda coeff": 0.25})", ".");
  ASSERT_TRUE(tool_node) << tool_node.status().message();
  EXPECT_TRUE(tool_node->wants_training);
  EXPECT_EQ(print_problem(canonical(*node_to_problem(*tool_node)).problem), expected);
}

// The text of which a kernel's key is made.
std::string key_of(const std::string& json) {
  const Expected<Node> node = parse_node_json(json, ".");
  EXPECT_TRUE(node) << node.status().message();
  const Expected<Problem> problem = node ? node_to_problem(*node) : node.status();
  EXPECT_TRUE(problem) << problem.status().message();
  return problem ? key_text(canonical(*problem).problem, *parse_target("x86-64-v3"), "schedule", "compiler") : "";
}

TEST(NodeToProblem, NamesAndSpellingsDoNotChangeTheKey) {
  const std::string rest = R"("op_type": "Gemm", "inputs": [{"dtype": "float32", "shape": [4, 2]},
      {"dtype": "float32", "shape": [4, 3]}], "attributes": {"transA": )";
  const std::string key = key_of("{" + rest + "1}}");
  EXPECT_EQ(key.find("format 1:1\nproblem 23:gemm f32 m=2 n=3 k=4 ta\n"), 0u) << key;
  for (const char* names : {R"("domain": "", )", R"("domain": "ai.onnx", )", R"("name": "fc1", )",
                            R"("outputs": ["y"], )", R"("name": "fc2", "outputs": ["z"], )"}) {
    EXPECT_EQ(key_of("{" + (names + rest) + "1}}"), key) << names;
  }
  for (const char* trans_a : {"2", "-1", "true"}) EXPECT_EQ(key_of("{" + rest + trans_a + "}}"), key) << trans_a;
  EXPECT_NE(key_of(R"({"op_type": "Gemm", "inputs": [{"dtype": "float32", "shape": [2, 4]},
      {"dtype": "float32", "shape": [4, 3]}], "attributes": {"transA": 0}})"),
            key);
}

TEST(BindDim, BindsTheNameEverywhere) {
  Expected<Node> node = parse_node_json(gemm({R"(["s", 4])", R"([4, "s"])", R"(["s", 1])"}), ".");
  ASSERT_TRUE(node);
  EXPECT_FALSE(bind_dim(*node, "t", 5));
  EXPECT_FALSE(bind_dim(*node, "", 5)) << "static dimensions have no name";
  EXPECT_TRUE(bind_dim(*node, "s", 5));
  EXPECT_EQ(print_problem(*node_to_problem(*node)), "gemm f32 m=5 n=5 k=4 c=m1");
  EXPECT_FALSE(bind_dim(*node, "s", 6));
}

}  // namespace
}  // namespace gemmc
