// Constants followed through the graph: their values, against sums done by hand here.
#include "compiler/onnx_constant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/compiler/onnx_builder.h"

namespace gemmc::testing {
namespace {

using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

// MatMul(A, T), where nodes make T from initializers.
Expected<Model> load_chain(const std::vector<TensorProto>& initializers, const std::vector<NodeProto>& nodes,
                           int64_t opset = 17) {
  ModelProto made = model(opset);
  *made.mutable_graph()->add_input() = value_info("A", TensorProto::FLOAT, "m,k");
  for (const TensorProto& tensor : initializers) *made.mutable_graph()->add_initializer() = tensor;
  for (const NodeProto& node : nodes) *made.mutable_graph()->add_node() = node;
  *made.mutable_graph()->add_node() = node("MatMul", {"A", "T"}, {"Y"});
  return load(made);
}

std::string shown(const Expected<Model>& model) { return model ? text(model->nodes[0], 1) : model.status().message(); }

template <typename T = float>
std::vector<T> data(const Expected<Model>& model) {
  return model ? values<T>(model->nodes[0].node.inputs[1]) : std::vector<T>{};
}

NodeProto cast(const std::string& from, const std::string& to, int64_t type) {
  return node("Cast", {from}, {to}, {attribute("to", type)});
}

TEST(OnnxConstant, Int8WeightsThroughCastAndMul) {
  const auto loaded = load_chain({raw_tensor<int8_t>("W", TensorProto::INT8, {2, 3}, {-128, -1, 0, 1, 2, 127}),
                                  floats("scale", {3}, {0.5f, 2.0f, 0.1f})},
                                 {cast("W", "F", TensorProto::FLOAT), node("Mul", {"F", "scale"}, {"T"})});
  EXPECT_EQ(shown(loaded), "float32[2,3] initializer > Cast > Mul =");
  EXPECT_EQ(data(loaded), (std::vector<float>{-64.0f, -2.0f, 0.0f, 0.5f, 4.0f, 127 * 0.1f}));
}

TEST(OnnxConstant, MulFollowsTheLargerOperandAndBroadcastsBoth) {
  const auto loaded = load_chain({floats("row", {3}, {1, 2, 3}), floats("column", {2, 1}, {10, 100})},
                                 {node("Identity", {"row"}, {"R"}), node("Mul", {"column", "R"}, {"T"})});
  EXPECT_EQ(shown(loaded), "float32[2,3] initializer > Identity > Mul =");
  EXPECT_EQ(data(loaded), (std::vector<float>{10, 20, 30, 100, 200, 300}));
}

TEST(OnnxConstant, TransposeReshapeUnsqueeze) {
  const std::vector<float> counted = {0, 1, 2, 3, 4, 5};
  const auto transposed = load_chain({floats("W", {2, 3}, counted)}, {node("Transpose", {"W"}, {"T"})});
  EXPECT_EQ(shown(transposed), "float32[3,2] initializer > Transpose =");
  EXPECT_EQ(data(transposed), (std::vector<float>{0, 3, 1, 4, 2, 5}));

  const auto permuted = load_chain({floats("W", {1, 2, 3}, counted)},
                                   {node("Transpose", {"W"}, {"T"}, {integers_attribute("perm", {2, 0, 1})})});
  EXPECT_EQ(shown(permuted), "float32[3,1,2] initializer > Transpose =");
  EXPECT_EQ(data(permuted), (std::vector<float>{0, 3, 1, 4, 2, 5}));

  const auto reshaped = load_chain({floats("W", {2, 3}, counted), int64s("to", {-1, 2}), int64s("at", {0})},
                                   {node("Reshape", {"W", "to"}, {"R"}), node("Unsqueeze", {"R", "at"}, {"T"})});
  EXPECT_EQ(shown(reshaped), "float32[1,3,2] initializer > Reshape > Unsqueeze =");
  EXPECT_EQ(data(reshaped), counted);

  const auto old = load_chain({floats("W", {2, 3}, counted)},
                              {node("Unsqueeze", {"W"}, {"T"}, {integers_attribute("axes", {0})})}, 11);
  EXPECT_EQ(shown(old), "float32[1,2,3] initializer > Unsqueeze =");
}

TEST(OnnxConstant, DequantizeLinear) {
  const auto weights = raw_tensor<uint8_t>("W", TensorProto::UINT8, {2, 3}, {0, 1, 2, 3, 4, 255});
  const auto dequantize = [](const std::vector<TensorProto>& tensors, const Names& inputs,
                             const std::vector<::onnx::AttributeProto>& attributes = {}, int64_t opset = 17) {
    return load_chain(tensors, {node("DequantizeLinear", inputs, {"T"}, attributes)}, opset);
  };
  const auto per_tensor = dequantize(
      {weights, floats("s", {}, {0.5f}), raw_tensor<uint8_t>("z", TensorProto::UINT8, {}, {128})}, {"W", "s", "z"});
  EXPECT_EQ(shown(per_tensor), "float32[2,3] initializer > DequantizeLinear =");
  EXPECT_EQ(data(per_tensor), (std::vector<float>{-64, -63.5f, -63, -62.5f, -62, 63.5f}));

  const auto per_column =
      dequantize({weights, floats("s", {3}, {1, 2, 4}), raw_tensor<uint8_t>("z", TensorProto::UINT8, {3}, {1, 0, 0})},
                 {"W", "s", "z"});
  EXPECT_EQ(data(per_column), (std::vector<float>{-1, 2, 8, 2, 8, 1020}));

  const auto per_row = dequantize({weights, floats("s", {2}, {1, 10})}, {"W", "s"}, {attribute("axis", int64_t{-2})});
  EXPECT_EQ(data(per_row), (std::vector<float>{0, 1, 2, 30, 40, 2550}));

  const auto blocked = dequantize({weights, floats("s", {2, 2}, {1, 2, 3, 4})}, {"W", "s"},
                                  {attribute("axis", int64_t{1}), attribute("block_size", int64_t{2})}, 21);
  EXPECT_EQ(data(blocked), (std::vector<float>{0, 1, 4, 9, 12, 1020}));

  EXPECT_NE(shown(dequantize({weights, floats("s", {2}, {1, 10})}, {"W", "s"}))
                .find("scale of shape [2] does not fit [2, 3] on axis 1"),
            std::string::npos);
  EXPECT_NE(shown(dequantize({weights, floats("s", {}, {1}), raw_tensor<int8_t>("z", TensorProto::INT8, {}, {1})},
                             {"W", "s", "z"}))
                .find("zero point is int8 []; allowed: uint8 []"),
            std::string::npos);
}

TEST(OnnxConstant, FourBitIntegersAreUnpackedLowHalfFirst) {
  TensorProto weights = raw_tensor<uint8_t>("W", TensorProto::INT4, {1, 3}, {0x8f, 0x07});
  EXPECT_EQ(data(load_chain({weights, floats("s", {}, {1})}, {node("DequantizeLinear", {"W", "s"}, {"T"})}, 21)),
            (std::vector<float>{-1, -8, 7}));
  weights.set_data_type(TensorProto::UINT4);
  EXPECT_EQ(data(load_chain({weights}, {cast("W", "T", TensorProto::FLOAT)}, 21)), (std::vector<float>{15, 8, 7}));
}

TEST(OnnxConstant, CastsRoundOnceToNearestEven) {
  const auto half = load_chain({floats("W", {1, 4}, {1.00048828125f, 65520.0f, 65519.0f, std::nanf("")})},
                               {cast("W", "T", TensorProto::FLOAT16)});
  EXPECT_EQ(shown(half), "float16[1,4] initializer > Cast =");
  ASSERT_EQ(data<uint16_t>(half).size(), 4u);
  EXPECT_EQ(data<uint16_t>(half)[0], 0x3c00);  // a tie, to even
  EXPECT_EQ(data<uint16_t>(half)[1], 0x7c00);
  EXPECT_EQ(data<uint16_t>(half)[2], 0x7bff);
  EXPECT_EQ(data<uint16_t>(half)[3] & 0x7e00, 0x7e00);

  // 1 + 2^-8 is a tie of bfloat16; a little more in the float64 must not be lost on the way through float32.
  const double tie = 1 + std::ldexp(1.0, -8);
  const auto narrow =
      load_chain({raw_tensor<double>("W", TensorProto::DOUBLE, {1, 4},
                                     {tie, tie + std::ldexp(1.0, -40), -tie - std::ldexp(1.0, -40), NAN})},
                 {cast("W", "T", TensorProto::BFLOAT16)});
  ASSERT_EQ(data<uint16_t>(narrow).size(), 4u);
  EXPECT_EQ(data<uint16_t>(narrow)[0], 0x3f80);
  EXPECT_EQ(data<uint16_t>(narrow)[1], 0x3f81);
  EXPECT_EQ(data<uint16_t>(narrow)[2], 0xbf81);
  EXPECT_EQ(data<uint16_t>(narrow)[3] & 0x7fc0, 0x7fc0);
}

TEST(OnnxConstant, IntegersWrapAndAreNotRounded) {
  const int64_t big = (int64_t{1} << 53) + 1;
  EXPECT_EQ(
      data<int64_t>(load_chain({raw_tensor<int64_t>("W", TensorProto::INT64, {1, 2}, {big, -big}), int64s("f", {3})},
                               {node("Mul", {"W", "f"}, {"T"})})),
      (std::vector<int64_t>{3 * big, -3 * big}));
  EXPECT_EQ(data<int32_t>(load_chain({raw_tensor<int32_t>("W", TensorProto::INT32, {1, 1}, {1 << 30}),
                                      raw_tensor<int32_t>("f", TensorProto::INT32, {}, {4})},
                                     {node("Mul", {"W", "f"}, {"T"})})),
            std::vector<int32_t>{0});
  EXPECT_EQ(data<uint32_t>(load_chain({raw_tensor<int64_t>("W", TensorProto::INT64, {1, 1}, {-1})},
                                      {cast("W", "T", TensorProto::UINT32)})),
            std::vector<uint32_t>{0xffffffffu});
}

TEST(OnnxConstant, WhatOnnxLeavesOpenIsConstantWithoutValues) {
  EXPECT_EQ(shown(load_chain({floats("W", {1, 2}, {1, 3e9f})}, {cast("W", "T", TensorProto::INT32)})),
            "int32[1,2] initializer > Cast");
  EXPECT_EQ(shown(load_chain({floats("W", {1, 2}, {1, -2147483648.0f})}, {cast("W", "T", TensorProto::INT32)})),
            "int32[1,2] initializer > Cast =");
  EXPECT_EQ(shown(load_chain({floats("W", {1}, {NAN})}, {cast("W", "T", TensorProto::INT64)})),
            "int64[1] initializer > Cast");
  EXPECT_EQ(
      shown(load_chain({raw_tensor<uint8_t>("W", TensorProto::FLOAT8E4M3FN, {1, 2}, {1, 2}), floats("s", {}, {1})},
                       {node("DequantizeLinear", {"W", "s"}, {"T"})}, 19)),
      "float32[1,2] initializer > DequantizeLinear");
}

TEST(OnnxConstant, OtherOperatorsAreNotFollowed) {
  EXPECT_EQ(shown(load_chain({floats("W", {1, 2}, {1, 2})}, {node("Add", {"W", "W"}, {"T"})})), "float32[1,2]");
  std::vector<NodeProto> nodes;
  for (int index = 0; index <= kMaxConstantDepth; ++index) {
    const std::string from = index == 0 ? "W" : numbered("t", index);
    nodes.push_back(node("Identity", {from}, {index == kMaxConstantDepth ? "T" : numbered("t", index + 1)}));
  }
  EXPECT_EQ(shown(load_chain({floats("W", {1, 2}, {1, 2})}, nodes)), "float32[1,2]") << "deeper than allowed";
}

TEST(OnnxConstant, EveryFormOfTheConstantOperator) {
  const auto constant = [](const ::onnx::AttributeProto& value) {
    return load_chain({}, {node("Constant", {}, {"T"}, {value})});
  };
  EXPECT_EQ(shown(constant(attribute("value", floats("", {1, 2}, {1, 2})))), "float32[1,2] Constant =");
  const auto one_float = constant(attribute("value_float", 1.5f));
  EXPECT_EQ(shown(one_float), "float32[] Constant =");
  EXPECT_EQ(data(one_float), std::vector<float>{1.5f});
  const auto one_int = constant(attribute("value_int", int64_t{-7}));
  EXPECT_EQ(shown(one_int), "int64[] Constant =");
  EXPECT_EQ(data<int64_t>(one_int), std::vector<int64_t>{-7});
  const auto ints = constant(integers_attribute("value_ints", {3, 4}));
  EXPECT_EQ(shown(ints), "int64[2] Constant =");
  EXPECT_EQ(data<int64_t>(ints), (std::vector<int64_t>{3, 4}));

  ::onnx::AttributeProto floats_value;
  floats_value.set_name("value_floats");
  floats_value.add_floats(0.5f);
  floats_value.add_floats(2.0f);
  EXPECT_EQ(data(constant(floats_value)), (std::vector<float>{0.5f, 2.0f}));
  ::onnx::AttributeProto words;
  words.set_name("value_strings");
  words.add_strings("a");
  EXPECT_EQ(shown(constant(words)), "string[1] Constant");
  ::onnx::AttributeProto sparse;
  sparse.set_name("sparse_value");
  sparse.mutable_sparse_tensor()->add_dims(4);
  sparse.mutable_sparse_tensor()->add_dims(5);
  *sparse.mutable_sparse_tensor()->mutable_values() = floats("", {1}, {1});
  EXPECT_EQ(shown(constant(sparse)), "float32[4,5] Constant");
  EXPECT_NE(shown(load_chain({}, {node("Constant", {}, {"T"})})).find("Constant 'Constant_0': no value"),
            std::string::npos);
}

TEST(OnnxConstant, OneTensorForAllNodesThatUseIt) {
  ModelProto made = matmul_model(value_info("A", TensorProto::FLOAT, "m,2"), floats("B", {2, 1}, {1, 2}));
  *made.mutable_graph()->add_node() = node("MatMul", {"A", "B"}, {"Y2"});
  const Expected<Model> loaded = load(made);
  ASSERT_TRUE(loaded) << loaded.status().message();
  ASSERT_NE(loaded->nodes[0].node.inputs[1].data, nullptr);
  EXPECT_EQ(loaded->nodes[0].node.inputs[1].data, loaded->nodes[1].node.inputs[1].data);
}

TEST(OnnxConstant, ValuesCanBeLeftOut) {
  const ModelProto made = matmul_model(value_info("A", TensorProto::FLOAT, "m,2"), floats("B", {2, 1}, {1, 2}));
  EXPECT_EQ(operands(load(made, {}, ConstantValues::kSkip)), "float32[m,2]; float32[2,1] initializer");
}

TEST(OnnxConstant, AnInputWithADefaultIsNoConstantSinceVersion4) {
  ModelProto made = matmul_model(value_info("A", TensorProto::FLOAT, "m,2"), floats("B", {2, 1}, {1, 2}));
  *made.mutable_graph()->add_input() = value_info("B", TensorProto::FLOAT, "2,n");
  EXPECT_EQ(operands(load(made)), "float32[m,2]; float32[2,n]");
  made.set_ir_version(3);
  EXPECT_EQ(operands(load(made)), "float32[m,2]; float32[2,1] initializer =");
}

}  // namespace
}  // namespace gemmc::testing
