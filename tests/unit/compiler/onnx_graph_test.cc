// Which nodes are found, where, and what surrounds them: bodies, functions, names, versions, readers, bindings.
#include "compiler/onnx_graph.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/compiler/onnx_builder.h"

namespace gemmc::testing {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::TensorProto;

constexpr auto kFloat = TensorProto::FLOAT;

// "path|name|operand; operand" of each node; or the failure's message.
Names lines(const Expected<Model>& model) {
  if (!model) return {model.status().message()};
  Names result;
  for (const ModelNode& node : model->nodes) {
    Names texts;
    for (size_t position = 0; position < node.node.inputs.size(); ++position) texts.push_back(text(node, position));
    result.push_back(fmt::format("{}|{}|{}", node.graph_path, node.node.name, fmt::join(texts, "; ")));
  }
  return result;
}

Names names(const Expected<Model>& model) {
  if (!model) return {model.status().message()};
  Names result;
  for (const ModelNode& node : model->nodes) result.push_back(node.node.name);
  return result;
}

GraphProto body(const Names& outputs, const std::vector<::onnx::NodeProto>& nodes) {
  GraphProto graph;
  for (const ::onnx::NodeProto& node : nodes) *graph.add_node() = node;
  for (const std::string& name : outputs) graph.add_output()->set_name(name);
  return graph;
}

// Inputs A: m,4 and cond; initializer B: 4 x 5.
ModelProto base(int64_t opset = 17) {
  ModelProto made = model(opset);
  *made.mutable_graph()->add_input() = value_info("A", kFloat, "m,4");
  *made.mutable_graph()->add_input() = value_info("cond", TensorProto::BOOL, "");
  *made.mutable_graph()->add_initializer() = float_zeros("B", {4, 5});
  return made;
}

TEST(OnnxGraph, BodiesSeeTheNamesAroundThem) {
  ModelProto made = base();
  const GraphProto inner = body({"q"}, {node("MatMul", {"A", "B"}, {"q"}, {}, "deep")});
  const GraphProto then_body = body({"p"}, {node("Relu", {"A"}, {"r"}), node("MatMul", {"r", "B"}, {"p"}),
                                            node("Loop", {"", "cond"}, {"l"}, {attribute("body", inner)}, "loop_2")});
  GraphProto else_body = body({"p"}, {node("MatMul", {"A", "C"}, {"p"}, {}, "other")});
  *else_body.add_initializer() = float_zeros("C", {4, 3});
  *made.mutable_graph()->add_node() =
      node("If", {"cond"}, {"y"}, {attribute("then_branch", then_body), attribute("else_branch", else_body)}, "if_1");
  EXPECT_EQ(lines(load(made)), (Names{"if_1/then_branch|MatMul_1|float32[m,4]; float32[4,5] initializer =",
                                      "if_1/then_branch/loop_2/body|deep|float32[m,4]; float32[4,5] initializer =",
                                      "if_1/else_branch|other|float32[m,4]; float32[4,3] initializer ="}));
}

TEST(OnnxGraph, AnIfIsKnownAsFarAsItsBranchesAgree) {
  const auto joined = [](const std::string& other) {
    ModelProto made = base();
    *made.mutable_graph()->add_input() = value_info("C", kFloat, other);
    *made.mutable_graph()->add_node() = node(
        "If", {"cond"}, {"x"}, {attribute("then_branch", body({"A"}, {})), attribute("else_branch", body({"C"}, {}))});
    *made.mutable_graph()->add_node() = node("MatMul", {"x", "B"}, {"y"}, {}, "fc");
    return operands(load(made));
  };
  EXPECT_EQ(joined("m,4"), "float32[m,4]; float32[4,5] initializer =");
  EXPECT_EQ(joined("n,4"), "float32[*]; float32[4,5] initializer =");
}

TEST(OnnxGraph, BodyInputsAreKnownAsFarAsDeclared) {
  ModelProto made = base();
  GraphProto scan = body({"s_out", "y"}, {node("MatMul", {"row", "B"}, {"y"}), node("Identity", {"s"}, {"s_out"})});
  *scan.add_input() = value_info("s", kFloat, "?");
  scan.add_input()->set_name("row");
  *made.mutable_graph()->add_node() = node("Scan", {"A", "A"}, {"Y", "Z"}, {attribute("body", scan)});
  EXPECT_EQ(lines(load(made)), Names{"Scan_0/body|MatMul_0|[*]; float32[4,5] initializer ="});
}

TEST(OnnxGraph, ACallOfAFunctionHasTheCallersOperandsAndAttributes) {
  ModelProto made = base();
  ::onnx::FunctionProto linear =
      function("my", "Linear", {"x", "w"}, {"y"},
               {node("Transpose", {"w"}, {"t"}), node("Gemm", {"x", "t"}, {"y"},
                                                      {attribute_reference("alpha", "scale", AttributeProto::FLOAT),
                                                       attribute_reference("beta", "offset", AttributeProto::FLOAT)},
                                                      "gemm")});
  linear.add_attribute("scale");
  *linear.add_attribute_proto() = attribute("offset", 0.25f);
  *made.add_functions() = linear;
  *made.mutable_graph()->add_initializer() = float_zeros("W", {7, 4});
  *made.mutable_graph()->add_initializer() = float_zeros("W2", {9, 7});
  auto call = node("Linear", {"A", "W"}, {"y1"}, {attribute("scale", 2.0f)}, "call_1");
  call.set_domain("my");
  *made.mutable_graph()->add_node() = call;
  *made.mutable_graph()->add_node() = node("Relu", {"y1"}, {"z"});
  auto second = node("Linear", {"z", "W2"}, {"y2"}, {}, "call_2");
  second.set_domain("my");
  *made.mutable_graph()->add_node() = second;

  const Expected<Model> loaded = load(made);
  EXPECT_EQ(lines(loaded),
            (Names{"call_1/function my:Linear|gemm|float32[m,4]; float32[4,7] initializer > Transpose =",
                   "call_2/function my:Linear|gemm#2|float32[m,7]; float32[7,9] initializer > Transpose ="}));
  ASSERT_TRUE(loaded);
  const Node& first = loaded->nodes[0].node;
  EXPECT_EQ(first.opset, 18) << "the function's own import";
  ASSERT_EQ(first.attributes.size(), 2u);
  EXPECT_EQ(first.attributes[0].name, "alpha");
  EXPECT_EQ(first.attributes[0].kind, NodeAttribute::Kind::kFloat);
  EXPECT_EQ(first.attributes[0].float_value, 2.0f);
  EXPECT_EQ(first.attributes[1].float_value, 0.25f) << "the function's default";
  EXPECT_EQ(loaded->nodes[0].consumers, Names{"Relu"}) << "read outside the function";
  // No scale in the second call: then the Gemm has no alpha, which is ONNX's default.
  const Node& second_gemm = loaded->nodes[1].node;
  ASSERT_EQ(second_gemm.attributes.size(), 1u);
  EXPECT_EQ(second_gemm.attributes[0].name, "beta");
  EXPECT_EQ(second_gemm.attributes[0].float_value, 0.25f);
  const Expected<Problem> problem = node_to_problem(second_gemm);
  ASSERT_TRUE(problem) << problem.status().message();
  EXPECT_EQ(problem->alpha, 1.0f);
}

TEST(OnnxGraph, AttributesThatNoCallGivesAreUnknown) {
  // Nothing calls Outer: what its scale would be is open, and Inner's default may not take its place.
  ModelProto made = base();
  ::onnx::FunctionProto inner =
      function("my", "Inner", {"x"}, {"y"},
               {node("Gemm", {"x", "x"}, {"y"}, {attribute_reference("alpha", "a", AttributeProto::FLOAT)}, "gemm")});
  *inner.add_attribute_proto() = attribute("a", 0.5f);
  auto call = node("Inner", {"x"}, {"y"}, {attribute_reference("a", "scale", AttributeProto::FLOAT)}, "call");
  call.set_domain("my");
  *made.add_functions() = function("my", "Outer", {"x"}, {"y"}, {call});
  *made.add_functions() = inner;
  const Expected<Model> loaded = load(made);
  EXPECT_EQ(lines(loaded), Names{"function my:Outer/call/function my:Inner|gemm|[*]; [*]"});
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->nodes[0].node.attributes.size(), 1u);
  EXPECT_EQ(loaded->nodes[0].node.attributes[0].kind, NodeAttribute::Kind::kOther);

  // Called without a scale, Outer gives none on, and the default applies.
  call = node("Outer", {"A"}, {"z"}, {}, "outer");
  call.set_domain("my");
  *made.mutable_graph()->add_node() = call;
  const Expected<Model> called = load(made);
  ASSERT_TRUE(called) << called.status().message();
  ASSERT_EQ(called->nodes.size(), 1u);
  ASSERT_EQ(called->nodes[0].node.attributes.size(), 1u);
  EXPECT_EQ(called->nodes[0].node.attributes[0].float_value, 0.5f);
}

TEST(OnnxGraph, ResultsOfNodesWithUnknownAttributesAreUnknown) {
  ModelProto made = base();
  ::onnx::FunctionProto turned =
      function("my", "Turned", {"x", "w"}, {"y"},
               {node("Transpose", {"w"}, {"t"}, {attribute_reference("perm", "order", AttributeProto::INTS)}),
                node("MatMul", {"x", "t"}, {"y"}, {}, "mm")});
  *turned.mutable_node()->Add() = node("Constant", {}, {"c"}, {attribute("value", float_zeros("", {3, 4}))});
  *turned.mutable_node()->Add() =
      node("Transpose", {"c"}, {"ct"}, {attribute_reference("perm", "order", AttributeProto::INTS)});
  *turned.mutable_node()->Add() = node("MatMul", {"c", "ct"}, {"z"}, {}, "mm2");
  *made.add_functions() = turned;
  EXPECT_EQ(lines(load(made)),
            (Names{"function my:Turned|mm|[*]; [*]", "function my:Turned|mm2|float32[3,4] Constant =; [*]"}));
}

TEST(OnnxGraph, DimensionNamesInAFunctionAreNotTheModels) {
  ModelProto made = base();
  GraphProto branch = body({"p"}, {node("Foo", {"x"}, {"f"}), node("MatMul", {"f", "x"}, {"p"}, {}, "mm")});
  *branch.add_value_info() = value_info("f", kFloat, "m,7");
  *made.add_functions() =
      function("my", "F", {"x"}, {"y"}, {node("If", {"x"}, {"y"}, {attribute("then_branch", branch)}, "if_1")});
  auto call = node("F", {"A"}, {"y"}, {}, "call");
  call.set_domain("my");
  *made.mutable_graph()->add_node() = call;
  EXPECT_EQ(lines(load(made)), Names{"call/function my:F/if_1/then_branch|mm|float32[f_0,7]; float32[m,4]"});
}

TEST(OnnxGraph, FunctionsThatNothingCallsAreListedOnce) {
  ModelProto made = base();
  *made.add_functions() = function("my", "Inner", {"x", "y"}, {"z"}, {node("MatMul", {"x", "y"}, {"z"}, {}, "mm")});
  EXPECT_EQ(lines(load(made)), Names{"function my:Inner|mm|[*]; [*]"});
}

TEST(OnnxGraph, FunctionsCallFunctionsAndMayLeaveInputsOut) {
  ModelProto made = base();
  auto inner_call = node("Inner", {"x"}, {"z"}, {}, "again");
  inner_call.set_domain("my");
  *made.add_functions() = function("my", "Outer", {"x", "y"}, {"z"}, {inner_call});
  *made.add_functions() = function("my", "Inner", {"x", "c"}, {"z"}, {node("Gemm", {"x", "x", "c"}, {"z"}, {}, "g")});
  auto call = node("Outer", {"A", "B"}, {"y"}, {}, "call");
  call.set_domain("my");
  *made.mutable_graph()->add_node() = call;
  EXPECT_EQ(lines(load(made)),
            Names{"call/function my:Outer/again/function my:Inner|g|float32[m,4]; float32[m,4]; absent"});
}

TEST(OnnxGraph, AFunctionMayReplaceAStandardOperator) {
  ModelProto made = base();
  ::onnx::FunctionProto replacement =
      function("", "MatMul", {"x", "y"}, {"z"}, {node("Gemm", {"x", "y"}, {"z"}, {}, "inside")});
  *made.add_functions() = replacement;
  *made.mutable_graph()->add_node() = node("MatMul", {"A", "B"}, {"Y"}, {}, "mm");
  EXPECT_EQ(lines(load(made)), Names{"mm/function ai.onnx:MatMul|inside|float32[m,4]; float32[4,5] initializer ="});
}

TEST(OnnxGraph, NamesAreUniqueAndNotEmpty) {
  ModelProto made = base();
  for (const char* name : {"", "fc", "fc", "fc#2", "", "fc"}) {
    *made.mutable_graph()->add_node() = node("MatMul", {"A", "B"}, {numbered("y", made.graph().node_size())}, {}, name);
  }
  EXPECT_EQ(names(load(made)), (Names{"MatMul_0", "fc", "fc#3", "fc#2", "MatMul_4", "fc#4"}));
}

// A name that the file gives is that node's, wherever it stands.
TEST(OnnxGraph, MadeUpNamesAreNobodyElses) {
  ModelProto made = base();
  for (const char* name : {"", "MatMul_0", "a", "a", "a#2"}) {
    *made.mutable_graph()->add_node() = node("MatMul", {"A", "B"}, {numbered("y", made.graph().node_size())}, {}, name);
  }
  EXPECT_EQ(names(load(made)), (Names{"MatMul_0#2", "MatMul_0", "a", "a#3", "a#2"}));
}

TEST(OnnxGraph, OnlyOnnxsOwnProductsAreListed) {
  ModelProto made = base();
  auto custom = node("MatMul", {"A", "B"}, {"y1"});
  custom.set_domain("my");
  auto spelled_out = node("MatMul", {"A", "B"}, {"y2"}, {}, "standard");
  spelled_out.set_domain("ai.onnx");
  *made.mutable_graph()->add_node() = custom;
  *made.mutable_graph()->add_node() = spelled_out;
  *made.mutable_graph()->add_node() = node("Conv", {"A", "B"}, {"y3"});
  EXPECT_EQ(names(load(made)), Names{"standard"});
}

TEST(OnnxGraph, IntegerProductsAreListedWithTheirTypes) {
  ModelProto made = base();
  *made.mutable_graph()->add_input() = value_info("Q", TensorProto::UINT8, "m,4");
  *made.mutable_graph()->add_initializer() = raw_tensor<int8_t>("R", TensorProto::INT8, {4, 1}, {1, 2, 3, 4});
  *made.mutable_graph()->add_node() = node("MatMulInteger", {"Q", "R"}, {"y"});
  const Expected<Model> loaded = load(made);
  EXPECT_EQ(lines(loaded), Names{"|MatMulInteger_0|uint8[m,4]; int8[4,1] initializer"});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->nodes[0].node.inputs[0].dtype, std::nullopt);
  EXPECT_EQ(loaded->nodes[0].node.inputs[0].foreign_dtype, "uint8");
  EXPECT_EQ(loaded->nodes[0].node.op_type, "MatMulInteger");
}

TEST(OnnxGraph, ForeignTypesAreRefusedByName) {
  const ModelProto made = matmul_model(value_info("A", TensorProto::UINT8, "m,4"), float_zeros("B", {4, 5}));
  const Expected<Model> loaded = load(made);
  ASSERT_TRUE(loaded) << loaded.status().message();
  const Expected<Problem> problem = node_to_problem(loaded->nodes[0].node);
  EXPECT_EQ(problem.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(problem.status().message().starts_with("dtype uint8 of A; allowed: bfloat16, "))
      << problem.status().message();
}

TEST(OnnxGraph, TheOpsetIsTheImportOfTheDomain) {
  ModelProto made = base(13);
  *made.mutable_graph()->add_node() = node("MatMul", {"A", "B"}, {"y"}, {}, "fc");
  Expected<Model> loaded = load(made);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->nodes[0].node.opset, 13);

  ModelProto aliased = made;
  aliased.mutable_opset_import(0)->set_domain("ai.onnx");
  loaded = load(aliased);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->nodes[0].node.opset, 13);

  const auto ends_with = [](const Expected<Model>& model, const std::string& end) {
    return !model && model.status().code() == StatusCode::kInvalidArgument && model.status().message().ends_with(end);
  };
  ModelProto missing = made;
  missing.clear_opset_import();
  EXPECT_TRUE(ends_with(load(missing), "opset_import has no version for ONNX's own operators, needed by node 'fc'"));
  missing.add_opset_import()->set_version(0);
  EXPECT_TRUE(ends_with(load(missing), "opset_import has version 0 for ONNX's own operators, needed by node 'fc'"));
  aliased.add_opset_import()->set_version(14);
  EXPECT_TRUE(ends_with(load(aliased), "opset_import has domain '' twice, with versions 13 and 14"));
}

TEST(OnnxGraph, ReadersOfTheResult) {
  ModelProto made = base();
  auto& graph = *made.mutable_graph();
  *graph.add_initializer() = float_zeros("bias", {5});
  *graph.add_node() = node("MatMul", {"A", "B"}, {"y"}, {}, "fc");
  *graph.add_node() = node("Add", {"bias", "y"}, {"s"});
  *graph.add_node() = node("Mul", {"y", "s"}, {"t"});
  *graph.add_node() =
      node("If", {"cond"}, {"u"}, {attribute("then_branch", body({"v"}, {node("Tanh", {"y"}, {"v"})}))});
  *graph.add_node() = node("Reshape", {"y", "shape"}, {"w"});
  *graph.add_initializer() = int64s("shape", {-1});
  const Expected<Model> loaded = load(made);
  ASSERT_TRUE(loaded) << loaded.status().message();
  EXPECT_EQ(loaded->nodes[0].consumers, (Names{"Add(constant)", "Mul", "Tanh", "Reshape"}));
  EXPECT_EQ(loaded->nodes[0].node.outputs, Names{"y"});
}

TEST(OnnxGraph, AttributesKeepTheirKinds) {
  ModelProto made = base();
  AttributeProto old;  // without a type, as models of 2017 have it
  old.set_name("beta");
  old.set_f(0.5f);
  AttributeProto word;
  word.set_name("note");
  word.set_type(AttributeProto::STRING);
  word.set_s("x");
  *made.mutable_graph()->add_node() =
      node("Gemm", {"A", "B"}, {"y"}, {attribute("transB", int64_t{1}), attribute("alpha", 2.0f), old, word});
  const Expected<Model> loaded = load(made);
  ASSERT_TRUE(loaded);
  const std::vector<NodeAttribute>& attributes = loaded->nodes[0].node.attributes;
  ASSERT_EQ(attributes.size(), 4u);
  EXPECT_EQ(attributes[0].kind, NodeAttribute::Kind::kInt);
  EXPECT_EQ(attributes[0].int_value, 1);
  EXPECT_EQ(attributes[1].kind, NodeAttribute::Kind::kFloat);
  EXPECT_EQ(attributes[1].float_value, 2.0f);
  EXPECT_EQ(attributes[2].kind, NodeAttribute::Kind::kFloat);
  EXPECT_EQ(attributes[2].float_value, 0.5f);
  EXPECT_EQ(attributes[3].name, "note");
  EXPECT_EQ(attributes[3].kind, NodeAttribute::Kind::kOther);
}

TEST(OnnxGraph, DimensionNamesAreAnyText) {
  const ModelProto made = matmul_model(value_info("A", kFloat, "floor(s 0 / 2) + 1,b,4"), float_zeros("B", {4, 5}));
  Expected<Model> loaded = load(made);
  ASSERT_TRUE(loaded) << loaded.status().message();
  EXPECT_EQ(loaded->name, "model");
  EXPECT_EQ(loaded->runtime_dims, (Names{"b", "floor(s 0 / 2) + 1"}));
  loaded = load(made, {{"floor(s 0 / 2) + 1", 64}});
  EXPECT_EQ(operands(loaded), "float32[64,b,4]; float32[4,5] initializer =");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->runtime_dims, Names{"b"});
}

TEST(OnnxGraph, UnknownSizesGetNamesOfTheirOwn) {
  ModelProto made = matmul_model(value_info("A", kFloat, "?,?,A_0,4"), float_zeros("B", {4, 5}));
  made.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_param("?");
  EXPECT_EQ(operands(load(made)), "float32[A_0_2,A_1,A_0,4]; float32[4,5] initializer =");
}

TEST(OnnxGraph, BindingsThatFollowFromOthersHaveToAgree) {
  ModelProto made = model();
  auto& graph = *made.mutable_graph();
  *graph.add_input() = value_info("A", kFloat, "b,s,4");
  *graph.add_initializer() = int64s("to", {-1, 4});
  *graph.add_initializer() = float_zeros("B", {4, 5});
  *graph.add_node() = node("Reshape", {"A", "to"}, {"rows"});
  *graph.add_node() = node("MatMul", {"rows", "B"}, {"y"}, {}, "fc");
  EXPECT_EQ(operands(load(made)), "float32[rows_0,4]; float32[4,5] initializer =");
  const std::string bound = "float32[6,4]; float32[4,5] initializer =";
  EXPECT_EQ(operands(load(made, {{"rows_0", 6}})), bound);
  EXPECT_EQ(operands(load(made, {{"b", 2}, {"s", 3}})), bound);
  EXPECT_EQ(operands(load(made, {{"b", 2}, {"s", 3}, {"rows_0", 6}})), bound);
  EXPECT_TRUE(operands(load(made, {{"b", 2}, {"s", 3}, {"rows_0", 7}}))
                  .ends_with("dimension 'rows_0' is bound to 7, but the other bound ones make it 6 (node 'fc')"));
}

TEST(OnnxGraph, BindingsHaveToNameADimension) {
  const ModelProto made = matmul_model(value_info("A", kFloat, "batch,seq,?"), float_zeros("B", {4, 5}));
  EXPECT_TRUE(operands(load(made, {{"sequence", 1}}))
                  .ends_with("no dimension is named 'sequence'; the model has 'A_2', 'batch', 'seq'"));
  EXPECT_TRUE(operands(load(made, {{"seq", -1}})).ends_with("dimension 'seq' is bound to -1; allowed: 0 and more"));
  EXPECT_TRUE(
      operands(load(model(), {{"x", 1}})).ends_with("no dimension is named 'x'; the model has no named dimensions"));
  EXPECT_EQ(operands(load(made, {{"seq", 7}, {"A_2", 4}})), "float32[batch,7,4]; float32[4,5] initializer =");
}

}  // namespace
}  // namespace gemmc::testing
