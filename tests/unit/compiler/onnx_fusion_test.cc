// What an epilogue can take in of the nodes behind a product, and where that ends.
#include "compiler/onnx_fusion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/problem_string.h"
#include "tests/unit/compiler/onnx_builder.h"

namespace gemmc::testing {
namespace {

using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr auto kFloat = TensorProto::FLOAT;

// p = MatMul(A: m,4, B: 4 x 5), then `nodes`; `result` is the graph's output. There are a bias b of 5, a row r of 1 x
// 5, numbers one, two, half, root (sqrt 2), six, zero, and an input x: m,5.
ModelProto with(const std::vector<NodeProto>& nodes, const std::string& result, int64_t opset = 20) {
  ModelProto made = model(opset);
  ::onnx::GraphProto& graph = *made.mutable_graph();
  *graph.add_input() = value_info("A", kFloat, "m,4");
  *graph.add_input() = value_info("x", kFloat, "m,5");
  *graph.add_initializer() = float_zeros("B", {4, 5});
  *graph.add_initializer() = float_zeros("b", {5});
  *graph.add_initializer() = float_zeros("r", {1, 5});
  *graph.add_initializer() = float_zeros("column", {3, 1});
  const std::pair<const char*, float> kNumbers[] = {{"one", 1},
                                                    {"two", 2},
                                                    {"half", 0.5f},
                                                    {"root", 1.41421356f},
                                                    {"six", 6},
                                                    {"zero", 0},
                                                    {"minus_twenty", -20},
                                                    {"cubic", 0.044715f},
                                                    {"root_two_over_pi", 0.7978846f},
                                                    {"inverse_root", 0.70710678f}};
  *graph.add_initializer() = raw_tensor<double>("wide_zero", TensorProto::DOUBLE, {}, {0.0});
  for (const auto& [name, value] : kNumbers) *graph.add_initializer() = floats(name, {}, {value});
  *graph.add_node() = node("MatMul", {"A", "B"}, {"p"}, {}, "product");
  for (const NodeProto& entry : nodes) *graph.add_node() = entry;
  *graph.add_output() = value_info(result, kFloat, "m,5");
  return made;
}

// "epilogue|nodes|output|end" of the first product.
std::string fusable(const ModelProto& made) {
  const Expected<Model> loaded = load(made);
  if (!loaded) return loaded.status().message();
  const ModelNode::Fusable& found = loaded->nodes.at(0).fusable;
  return fmt::format("{}|{}|{}|{}", print_epilogue(found.epilogue), fmt::join(found.replaces, " "), found.output,
                     found.end);
}

NodeProto named(const std::string& name, const std::string& op_type, const Names& inputs, const std::string& output) {
  return node(op_type, inputs, {output}, {}, name);
}

TEST(OnnxFusion, BiasActivationResidual) {
  EXPECT_EQ(fusable(with({named("n1", "Add", {"p", "b"}, "q"), named("n2", "Relu", {"q"}, "s"),
                          named("n3", "Add", {"x", "s"}, "y"), named("n4", "Softmax", {"y"}, "z")},
                         "z")),
            "bias:n:b,relu,residual::x|n1 n2 n3|y|Softmax");
}

TEST(OnnxFusion, OneOperandOfEachKind) {
  const auto pair = [](const std::string& op_type, const std::string& operand) {
    return fusable(with({named("n1", op_type, {operand, "p"}, "y")}, "y"));
  };
  const std::string end = "|n1|y|it is a result of the graph";
  EXPECT_EQ(pair("Add", "b"), "bias:n:b" + end);
  EXPECT_EQ(pair("Add", "r"), "bias:n:r" + end);
  EXPECT_EQ(pair("Add", "one"), "bias::one" + end);
  EXPECT_EQ(pair("Add", "x"), "residual::x" + end);
  EXPECT_EQ(pair("Mul", "b"), "scale:n:b" + end);
  EXPECT_EQ(pair("Mul", "two"), "scale::two" + end);
  EXPECT_EQ(pair("Mul", "x"), "scale:mn:x" + end);
  EXPECT_EQ(pair("Add", "column"), "||p|Add of another shape");
  EXPECT_EQ(pair("Div", "two"), "||p|Div");
}

TEST(OnnxFusion, OneOperatorOfEachKind) {
  const auto single = [](NodeProto step, int64_t opset = 20) {
    step.set_name("n1");
    return fusable(with({step}, "y", opset));
  };
  const std::string end = "|n1|y|it is a result of the graph";
  EXPECT_EQ(single(node("Sigmoid", {"p"}, {"y"})), "sigmoid" + end);
  EXPECT_EQ(single(node("Tanh", {"p"}, {"y"})), "tanh" + end);
  EXPECT_EQ(single(node("HardSwish", {"p"}, {"y"})), "hard_swish" + end);
  EXPECT_EQ(single(node("LeakyRelu", {"p"}, {"y"})), "leaky_relu" + end);
  EXPECT_EQ(single(node("LeakyRelu", {"p"}, {"y"}, {attribute("alpha", 0.25f)})), "leaky_relu(0.25)" + end);
  EXPECT_EQ(single(node("Gelu", {"p"}, {"y"})), "gelu" + end);
  ::onnx::AttributeProto bogus;
  bogus.set_name("approximate");
  bogus.set_type(::onnx::AttributeProto::STRING);
  bogus.set_s("bogus");
  EXPECT_EQ(single(node("Gelu", {"p"}, {"y"}, {bogus})), "||p|Gelu of another form");
  EXPECT_EQ(single(node("Clip", {"p", "zero", "six"}, {"y"})), "clip(0;6)" + end);
  EXPECT_EQ(single(node("Clip", {"p", "", "six"}, {"y"})), "clip(-inf;6)" + end);
  EXPECT_EQ(single(node("Clip", {"p"}, {"y"}, {attribute("min", 0.0f), attribute("max", 6.0f)}), 6), "clip(0;6)" + end);
  EXPECT_EQ(single(node("Clip", {"p", "x"}, {"y"})),
            "||p|Clip with bounds that are not known, or are no numbers of float32");
  EXPECT_EQ(single(node("Clip", {"p", "wide_zero"}, {"y"})),
            "||p|Clip with bounds that are not known, or are no numbers of float32")
      << "float64";
  EXPECT_EQ(single(node("Erf", {"p"}, {"y"})), "||p|Erf");
  EXPECT_EQ(single(node("Softmax", {"p"}, {"y"})), "||p|Softmax");
}

TEST(OnnxFusion, SiluOfTwoNodes) {
  EXPECT_EQ(fusable(with({named("n1", "Sigmoid", {"p"}, "s"), named("n2", "Mul", {"s", "p"}, "y")}, "y")),
            "silu|n1 n2|y|it is a result of the graph");
  EXPECT_EQ(fusable(with({named("n1", "Sigmoid", {"p"}, "s"), named("n2", "Mul", {"s", "p"}, "y"),
                          named("n3", "Add", {"y", "s"}, "z")},
                         "z")),
            "||p|2 nodes read it")
      << "the sigmoid is read again";
}

TEST(OnnxFusion, GeluOfFiveNodes) {
  const NodeProto div = named("n1", "Div", {"p", "root"}, "d"), mul = named("n1", "Mul", {"inverse_root", "p"}, "d");
  const NodeProto erf = named("n2", "Erf", {"d"}, "e"), add = named("n3", "Add", {"one", "e"}, "a");
  const std::string end = "|y|it is a result of the graph";
  EXPECT_EQ(
      fusable(with({div, erf, add, named("n4", "Mul", {"p", "a"}, "m"), named("n5", "Mul", {"m", "half"}, "y")}, "y")),
      "gelu|n1 n2 n3 n4 n5" + end);
  EXPECT_EQ(
      fusable(with({mul, erf, add, named("n4", "Mul", {"a", "p"}, "m"), named("n5", "Div", {"m", "two"}, "y")}, "y")),
      "gelu|n1 n2 n3 n4 n5" + end);
  EXPECT_EQ(
      fusable(with({named("n4", "Mul", {"p", "half"}, "h"), div, erf, add, named("n5", "Mul", {"h", "a"}, "y")}, "y")),
      "gelu|n4 n1 n2 n3 n5" + end);
  EXPECT_EQ(
      fusable(with({div, erf, add, named("n4", "Mul", {"a", "half"}, "h"), named("n5", "Mul", {"p", "h"}, "y")}, "y")),
      "gelu|n1 n2 n3 n4 n5" + end);
  // Other numbers make another function.
  EXPECT_EQ(fusable(with({named("n1", "Div", {"p", "two"}, "d"), erf, add, named("n4", "Mul", {"p", "a"}, "m"),
                          named("n5", "Mul", {"m", "half"}, "y")},
                         "y")),
            "||p|2 nodes read it");
  EXPECT_EQ(
      fusable(with({div, erf, add, named("n4", "Mul", {"p", "a"}, "m"), named("n5", "Mul", {"m", "two"}, "y")}, "y")),
      "||p|2 nodes read it");
}

TEST(OnnxFusion, ActivationsInWhateverWayTheyAreWritten) {
  const std::string end = "|y|it is a result of the graph";
  // 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as JAX and TensorFlow write it: x is read five times.
  EXPECT_EQ(fusable(with({named("n1", "Mul", {"cubic", "p"}, "a"), named("n2", "Mul", {"p", "a"}, "b2"),
                          named("n3", "Mul", {"p", "b2"}, "c"), named("n4", "Add", {"p", "c"}, "d"),
                          named("n5", "Mul", {"root_two_over_pi", "d"}, "e"), named("n6", "Tanh", {"e"}, "f"),
                          named("n7", "Add", {"one", "f"}, "g"), named("n8", "Mul", {"half", "g"}, "h"),
                          named("n9", "Mul", {"p", "h"}, "y")},
                         "y")),
            "gelu_tanh|n1 n2 n3 n4 n5 n6 n7 n8 n9" + end);
  EXPECT_EQ(fusable(with({named("n1", "Mul", {"p", "one"}, "s"), named("n2", "Sigmoid", {"s"}, "t"),
                          named("n3", "Mul", {"p", "t"}, "y")},
                         "y")),
            "silu|n1 n2 n3" + end)
      << "swish with a factor of 1";
  EXPECT_EQ(fusable(with({named("n1", "Neg", {"p"}, "a"), named("n2", "Exp", {"a"}, "e"),
                          named("n3", "Add", {"one", "e"}, "s"), named("n4", "Reciprocal", {"s"}, "y")},
                         "y")),
            "sigmoid|n1 n2 n3 n4" + end);
  EXPECT_EQ(fusable(with({node("HardSigmoid", {"p"}, {"h"}, {attribute("alpha", 1 / 6.0f)}, "n1"),
                          named("n2", "Mul", {"p", "h"}, "y")},
                         "y")),
            "hard_swish|n1 n2" + end);
  EXPECT_EQ(fusable(with({named("n1", "Mul", {"p", "two"}, "s"), named("n2", "Sigmoid", {"s"}, "t"),
                          named("n3", "Mul", {"p", "t"}, "y")},
                         "y")),
            "||p|2 nodes read it")
      << "swish with another factor is no known activation";
  EXPECT_EQ(fusable(with({named("n1", "Sigmoid", {"p"}, "s"), named("n2", "Mul", {"p", "x"}, "t"),
                          named("n3", "Mul", {"s", "t"}, "y")},
                         "y")),
            "||p|2 nodes read it")
      << "another tensor takes part";
  // min(relu(p), 20) is relu for a long way.
  EXPECT_EQ(fusable(with({named("n1", "Neg", {"p"}, "a"), named("n2", "Clip", {"a", "minus_twenty", "zero"}, "c"),
                          named("n3", "Neg", {"c"}, "y")},
                         "y")),
            "||p|Neg");
}

TEST(OnnxFusion, EndsBeforeAKernelTakesLongToCompile) {
  std::vector<NodeProto> chain;
  for (int i = 0; i < 100; ++i) {
    chain.push_back(named(numbered("n", i), "Relu", {i == 0 ? "p" : numbered("q", i - 1)}, numbered("q", i)));
  }
  const Expected<Model> loaded = load(with(chain, "q99"));
  ASSERT_TRUE(loaded) << loaded.status().message();
  EXPECT_EQ(loaded->nodes[0].fusable.epilogue.size(), kMostEpilogueSteps - 1);
  EXPECT_EQ(loaded->nodes[0].fusable.end, "31 steps");
}

TEST(OnnxFusion, EndsWhereSomebodyElseReads) {
  const NodeProto bias = named("n1", "Add", {"p", "b"}, "q"), relu = named("n2", "Relu", {"q"}, "y");
  EXPECT_EQ(fusable(with({bias, relu, named("n3", "Tanh", {"q"}, "z")}, "y")), "bias:n:b|n1|q|2 nodes read it");
  ModelProto both = with({bias, relu}, "y");
  *both.mutable_graph()->add_output() = value_info("q", kFloat, "m,5");
  EXPECT_EQ(fusable(both), "bias:n:b|n1|q|it is a result of the graph");
  EXPECT_EQ(fusable(with({}, "x")), "||p|nothing reads it");
}

TEST(OnnxFusion, TheLaterOfTwoProductsTakesTheirSumIn) {
  ModelProto made = with({node("MatMul", {"A", "B"}, {"p2"}, {}, "second"), named("n1", "Add", {"p", "p2"}, "y")}, "y");
  const Expected<Model> loaded = load(made);
  ASSERT_TRUE(loaded) << loaded.status().message();
  EXPECT_EQ(loaded->nodes[0].fusable.end, "Add of a tensor that is computed later");
  EXPECT_TRUE(loaded->nodes[0].fusable.epilogue.empty());
  EXPECT_EQ(print_epilogue(loaded->nodes[1].fusable.epilogue), "residual::p");
}

// The model of with(), in another type; `more`: further initializers.
ModelProto in_type(int32_t type, const std::vector<NodeProto>& nodes, const std::vector<TensorProto>& more = {}) {
  ModelProto made = with(nodes, "y");
  ::onnx::GraphProto& graph = *made.mutable_graph();
  for (auto& input : *graph.mutable_input()) input.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  ::onnx::TensorProto& weights = *graph.mutable_initializer(0);
  weights.set_data_type(type);
  weights.set_raw_data(std::string(4 * 5 * (type == TensorProto::INT32 ? 4 : 8), '\0'));
  for (const TensorProto& tensor : more) *graph.add_initializer() = tensor;
  graph.clear_output();
  *graph.add_output() = value_info("y", static_cast<TensorProto::DataType>(type), "m,5");
  return made;
}

TensorProto wide(const std::string& name, double value) {
  return raw_tensor<double>(name, TensorProto::DOUBLE, {}, {value});
}

TEST(OnnxFusion, KnowsWhatATypeCannotHave) {
  const std::string refusal = "||p|epilogue step 'gelu' for float64: not built yet";
  EXPECT_EQ(fusable(in_type(TensorProto::DOUBLE, {named("n1", "Gelu", {"p"}, "y")})).substr(0, refusal.size()),
            refusal);
  // Written as several nodes it is the same, and no reason to try again.
  const std::vector<NodeProto> gelu = {named("n1", "Div", {"p", "root64"}, "d"), named("n2", "Erf", {"d"}, "e"),
                                       named("n3", "Add", {"e", "one64"}, "a"), named("n4", "Mul", {"p", "a"}, "m"),
                                       named("n5", "Mul", {"m", "half64"}, "y")};
  const std::vector<TensorProto> numbers = {wide("root64", std::sqrt(2.0)), wide("one64", 1), wide("half64", 0.5)};
  EXPECT_EQ(fusable(in_type(TensorProto::DOUBLE, gelu, numbers)).substr(0, refusal.size()), refusal);
}

TEST(OnnxFusion, ConstantsOfFloat64AreTakenAtTheirWord) {
  const auto silu = [](double factor) {
    return fusable(in_type(TensorProto::DOUBLE,
                           {named("n1", "Mul", {"p", "factor"}, "s"), named("n2", "Sigmoid", {"s"}, "t"),
                            named("n3", "Mul", {"p", "t"}, "y")},
                           {wide("factor", factor)}));
  };
  EXPECT_EQ(silu(1), "silu|n1 n2 n3|y|it is a result of the graph");
  EXPECT_EQ(silu(1 + 1e-7), "||p|2 nodes read it") << "near enough for float32 only";
  const auto clip = [](double low, double high) {
    return fusable(in_type(TensorProto::DOUBLE, {named("n1", "Clip", {"p", "low", "high"}, "y")},
                           {wide("low", low), wide("high", high)}));
  };
  EXPECT_EQ(clip(-0.5, 6), "clip(-0.5;6)|n1|y|it is a result of the graph");
  for (const double bound : {0.1, 1e300, 1e-60}) {
    EXPECT_EQ(clip(-1, bound), "||p|Clip with bounds that are not known, or are no numbers of float32") << bound;
  }
}

TEST(OnnxFusion, IntegersAreNoRealNumbers) {
  const TensorProto two = raw_tensor<int32_t>("two32", TensorProto::INT32, {}, {2});
  EXPECT_EQ(fusable(in_type(TensorProto::INT32,
                            {named("n1", "Div", {"p", "two32"}, "d"), named("n2", "Mul", {"d", "two32"}, "m"),
                             named("n3", "Relu", {"m"}, "y")},
                            {two})),
            "||p|Div")
      << "3 / 2 * 2 is 2";
  EXPECT_EQ(fusable(in_type(TensorProto::INT32, {named("n1", "Relu", {"p"}, "y")})),
            "relu|n1|y|it is a result of the graph");
}

// Y has one column: a vector over its rows or items is none over its columns.
TEST(OnnxFusion, OneColumn) {
  const auto added = [](const std::string& a, const std::vector<int64_t>& shape) {
    ModelProto made = model(20);
    ::onnx::GraphProto& graph = *made.mutable_graph();
    *graph.add_input() = value_info("A", kFloat, a + ",4");
    *graph.add_initializer() = float_zeros("B", {4, 1});
    *graph.add_initializer() = float_zeros("w", shape);
    *graph.add_node() = node("MatMul", {"A", "B"}, {"p"}, {}, "product");
    *graph.add_node() = named("n1", "Add", {"p", "w"}, "y");
    *graph.add_output() = value_info("y", kFloat, a + ",1");
    return fusable(made);
  };
  EXPECT_EQ(added("2,7", {7, 1}), "||p|Add of another shape");
  EXPECT_EQ(added("2,7", {2, 1, 1}), "||p|Add of another shape");
  EXPECT_EQ(added("m", {7, 1}), "||p|Add of another shape");
  EXPECT_EQ(added("1", {3, 1}), "||p|Add of another shape") << "the sum would be larger";
  EXPECT_EQ(added("2,7", {1, 1}), "bias::w|n1|y|it is a result of the graph");
  EXPECT_EQ(added("7", {7, 1}), "residual::w|n1|y|it is a result of the graph");
}

}  // namespace
}  // namespace gemmc::testing
