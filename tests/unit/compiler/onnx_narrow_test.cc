// Weights that a model stores in a narrower type, and where their scale goes.
#include "compiler/onnx_narrow.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/problem_string.h"
#include "tests/unit/compiler/onnx_builder.h"

namespace gemmc::testing {
namespace {

using ::onnx::AttributeProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

const std::vector<int8_t> kSix = {-128, -1, 0, 1, 2, 127};

TensorProto int8s(const std::string& name, const std::vector<int64_t>& dims) {
  return raw_tensor<int8_t>(name, TensorProto::INT8, dims, kSix);
}

NodeProto cast(const std::string& from, const std::string& to, int64_t type = TensorProto::FLOAT) {
  return node("Cast", {from}, {to}, {attribute("to", type)});
}

// Y = op_type(A: m,2, T), with T made by `nodes` from `tensors`.
Expected<Model> with(const std::vector<TensorProto>& tensors, const std::vector<NodeProto>& nodes,
                     const NodeProto& product = node("MatMul", {"A", "T"}, {"Y"})) {
  ModelProto made = model(21);
  ::onnx::GraphProto& graph = *made.mutable_graph();
  *graph.add_input() = value_info("A", TensorProto::FLOAT, "m,2");
  *graph.add_initializer() = floats("c", {3}, {1, 2, 3});
  for (const TensorProto& tensor : tensors) *graph.add_initializer() = tensor;
  for (const NodeProto& entry : nodes) *graph.add_node() = entry;
  *graph.add_node() = product;
  *graph.add_output() = value_info("Y", TensorProto::FLOAT, "m,3");
  return load(made);
}

// "int8 scale:n:s 3", with how many values the scale has; "none".
std::string narrow(const Expected<Model>& loaded) {
  if (!loaded) return loaded.status().message();
  const std::optional<ModelNode::Narrow>& found = loaded->nodes.at(0).narrow;
  if (!found) return "none";
  std::string text(name(found->storage));
  if (found->values == nullptr || found->values->dtype != found->storage) text += " without values";
  if (!found->scale_step) return text;
  const size_t count = found->scale == nullptr ? 0 : found->scale->bytes.size() / sizeof(float);
  // As the step's operand has it, whatever shape the model gives it.
  const std::vector<int64_t> shape =
      found->scale_step->axis.empty() ? std::vector<int64_t>() : std::vector{static_cast<int64_t>(count)};
  if (found->scale != nullptr && found->scale->shape != shape) text += " of another shape";
  return fmt::format("{} {} {}", text, print_epilogue(std::span(&*found->scale_step, 1)), count);
}

std::string scaled(const TensorProto& scale) {
  return narrow(with({int8s("W", {2, 3}), scale}, {cast("W", "F"), node("Mul", {"F", "s"}, {"T"})}));
}

TEST(OnnxNarrow, CastAndMul) {
  EXPECT_EQ(scaled(floats("s", {}, {0.5f})), "int8 scale::s 1");
  EXPECT_EQ(scaled(floats("s", {1, 1}, {0.5f})), "int8 scale::s 1");
  EXPECT_EQ(scaled(floats("s", {3}, {1, 2, 3})), "int8 scale:n:s 3");
  EXPECT_EQ(scaled(floats("s", {1, 3}, {1, 2, 3})), "int8 scale:n:s 3");
  EXPECT_EQ(scaled(floats("s", {2, 1}, {1, 2})), "none") << "a scale for each row of B cannot move behind the product";
  EXPECT_EQ(scaled(floats("s", {2, 3}, {1, 2, 3, 4, 5, 6})), "none");
  EXPECT_EQ(narrow(with({int8s("W", {2, 3}), floats("s", {}, {2})}, {cast("W", "F"), node("Mul", {"s", "F"}, {"T"})})),
            "int8 scale::s 1");
}

// The scale of float16 values may make infinities that the scaled ones are not, and 16-bit types round Q s.
TEST(OnnxNarrow, OnlyInt8HasAScaleAndOnlyInWideTypes) {
  const std::vector<uint16_t> bits(6, 0x3c00);
  EXPECT_EQ(narrow(with({raw_tensor("W", TensorProto::FLOAT16, {2, 3}, bits), floats("s", {}, {2})},
                        {cast("W", "F"), node("Mul", {"F", "s"}, {"T"})})),
            "none");
  EXPECT_EQ(narrow(with({int8s("W", {2, 3}), raw_tensor<uint16_t>("s", TensorProto::FLOAT16, {}, {0x3c00})},
                        {cast("W", "F", TensorProto::FLOAT16), node("Mul", {"F", "s"}, {"T"})})),
            "none");
}

TEST(OnnxNarrow, CastAlone) {
  const std::vector<uint16_t> bits(6, 0x3c00);
  EXPECT_EQ(narrow(with({int8s("W", {2, 3})}, {cast("W", "T")})), "int8");
  EXPECT_EQ(narrow(with({raw_tensor("W", TensorProto::FLOAT16, {2, 3}, bits)}, {cast("W", "T")})), "float16");
  EXPECT_EQ(narrow(with({raw_tensor("W", TensorProto::BFLOAT16, {2, 3}, bits)}, {cast("W", "T")})), "bfloat16");
  const std::vector<double> wide(6, 1.0);
  EXPECT_EQ(narrow(with({raw_tensor("W", TensorProto::DOUBLE, {2, 3}, wide)}, {cast("W", "T")})), "none");
  const std::vector<uint8_t> bytes(6, 1);
  EXPECT_EQ(narrow(with({raw_tensor("W", TensorProto::UINT8, {2, 3}, bytes)}, {cast("W", "T")})), "none");
  EXPECT_EQ(narrow(with({floats("T", {2, 3}, {1, 2, 3, 4, 5, 6})}, {})), "none");
}

TEST(OnnxNarrow, DequantizeLinear) {
  const auto dequantized = [](const TensorProto& scale, const std::optional<std::vector<int8_t>>& zero, int64_t axis) {
    std::vector<TensorProto> tensors = {int8s("W", {2, 3}), scale};
    Names inputs = {"W", "s"};
    if (zero) {
      const std::vector<int64_t> dims(scale.dims().begin(), scale.dims().end());
      tensors.push_back(raw_tensor<int8_t>("z", TensorProto::INT8, dims, *zero));
      inputs.push_back("z");
    }
    return narrow(with(tensors, {node("DequantizeLinear", inputs, {"T"}, {attribute("axis", axis)})}));
  };
  EXPECT_EQ(dequantized(floats("s", {}, {2}), std::nullopt, 1), "int8 scale::s 1");
  EXPECT_EQ(dequantized(floats("s", {}, {2}), std::vector<int8_t>{0}, 1), "int8 scale::s 1");
  EXPECT_EQ(dequantized(floats("s", {}, {2}), std::vector<int8_t>{1}, 1), "none") << "a zero point";
  EXPECT_EQ(dequantized(floats("s", {3}, {1, 2, 3}), std::vector<int8_t>{0, 0, 0}, 1), "int8 scale:n:s 3");
  EXPECT_EQ(dequantized(floats("s", {3}, {1, 2, 3}), std::vector<int8_t>{0, 0, 1}, 1), "none");
  EXPECT_EQ(dequantized(floats("s", {2}, {1, 2}), std::nullopt, 0), "none") << "by row";
}

// B has one column: as many scales as rows are none of columns.
TEST(OnnxNarrow, OneColumn) {
  const auto scaled_column = [](const std::vector<int64_t>& shape, const std::vector<float>& values) {
    ModelProto made = model(21);
    ::onnx::GraphProto& graph = *made.mutable_graph();
    *graph.add_input() = value_info("A", TensorProto::FLOAT, "m,6");
    *graph.add_initializer() = int8s("W", {6, 1});
    *graph.add_initializer() = floats("s", shape, values);
    *graph.add_node() = cast("W", "F");
    *graph.add_node() = node("Mul", {"F", "s"}, {"T"});
    *graph.add_node() = node("MatMul", {"A", "T"}, {"Y"});
    *graph.add_output() = value_info("Y", TensorProto::FLOAT, "m,1");
    return narrow(load(made));
  };
  EXPECT_EQ(scaled_column({6, 1}, {1, 2, 3, 4, 5, 6}), "none");
  EXPECT_EQ(scaled_column({1, 1}, {2}), "int8 scale::s 1");
}

TEST(OnnxNarrow, ColumnsOfATransposedB) {
  const auto gemm = [](const Names& inputs, const TensorProto& scale) {
    return narrow(with({int8s("W", {3, 2}), scale}, {cast("W", "F"), node("Mul", {"F", "s"}, {"T"})},
                       node("Gemm", inputs, {"Y"}, {attribute("transB", int64_t{1})})));
  };
  EXPECT_EQ(gemm({"A", "T"}, floats("s", {3, 1}, {1, 2, 3})), "int8 scale:n:s 3");
  EXPECT_EQ(gemm({"A", "T"}, floats("s", {2}, {1, 2})), "none");
  EXPECT_EQ(gemm({"A", "T", "c"}, floats("s", {3, 1}, {1, 2, 3})), "none") << "the scale would scale C too";
  EXPECT_EQ(narrow(with({int8s("W", {3, 2})}, {cast("W", "T")},
                        node("Gemm", {"A", "T", "c"}, {"Y"}, {attribute("transB", int64_t{1})}))),
            "int8");
}

}  // namespace
}  // namespace gemmc::testing
