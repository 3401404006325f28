// Nodes that ONNX does not allow, or that gemmc does not build: one clear line that names the node, the value found and
// what is allowed.
#include <gtest/gtest.h>

#include <limits>

#include "compiler/node.h"

namespace gemmc {
namespace {

NodeInput input(DType dtype, const std::vector<int64_t>& extents) {
  NodeInput result;
  result.dtype = dtype;
  result.shape.emplace();
  for (int64_t extent : extents) result.shape->push_back(Dim::fixed(extent));
  return result;
}

NodeInput absent() {
  NodeInput result;
  result.is_absent = true;
  return result;
}

NodeAttribute float_attribute(const std::string& name, float value) {
  return {name, NodeAttribute::Kind::kFloat, 0, value};
}
NodeAttribute int_attribute(const std::string& name, int64_t value) {
  return {name, NodeAttribute::Kind::kInt, value, 0};
}

class NodeError : public ::testing::Test {
 protected:
  NodeError() {
    gemm_.op_type = "Gemm";
    gemm_.inputs = {input(DType::kFloat32, {2, 4}), input(DType::kFloat32, {4, 3}), input(DType::kFloat32, {3})};
    matmul_.op_type = "MatMul";
    matmul_.inputs = {input(DType::kFloat32, {2, 4}), input(DType::kFloat32, {4, 3})};
    gemm_.name = matmul_.name = "fc1";
  }

  static void expect_error(const Node& node, const std::string& part, StatusCode code = StatusCode::kInvalidArgument) {
    const Expected<Problem> problem = node_to_problem(node);
    ASSERT_FALSE(problem) << "no error; expected " << part;
    const std::string& message = problem.status().message();
    EXPECT_EQ(problem.status().code(), code) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message << "; expected " << part;
    EXPECT_TRUE(message.ends_with(" (node 'fc1')")) << message;
  }

  Node gemm_, matmul_;
};

TEST_F(NodeError, TheNodesAreRight) {
  EXPECT_TRUE(node_to_problem(gemm_));
  EXPECT_TRUE(node_to_problem(matmul_));
}

TEST_F(NodeError, Operator) {
  gemm_.op_type = "Conv";
  expect_error(gemm_, "op_type 'Conv'; allowed: Gemm, MatMul");
  gemm_.op_type = "gemm";
  expect_error(gemm_, "op_type 'gemm'");
  gemm_.op_type = "MatMulInteger";
  expect_error(gemm_, "op_type 'MatMulInteger': not built yet", StatusCode::kUnsupported);
  matmul_.domain = "com.microsoft";
  expect_error(matmul_, "domain 'com.microsoft'; allowed: '', 'ai.onnx'");
}

TEST_F(NodeError, Opset) {
  for (int64_t opset : {int64_t{6}, int64_t{1}, int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    gemm_.opset = opset;
    expect_error(gemm_, "opset " + std::to_string(opset) + "; allowed: 7 and later", StatusCode::kUnsupported);
  }
  matmul_.opset = 12;
  for (NodeInput& operand : matmul_.inputs) operand.dtype = DType::kBFloat16;
  expect_error(matmul_, "dtype bfloat16 at opset 12; allowed for MatMul: from opset 13 on");
  matmul_.opset = 8;
  for (NodeInput& operand : matmul_.inputs) operand.dtype = DType::kUInt64;
  expect_error(matmul_, "dtype uint64 at opset 8; allowed for MatMul: from opset 9 on");
}

TEST_F(NodeError, NumberOfInputsAndOutputs) {
  Node node = gemm_;
  node.inputs.push_back(input(DType::kFloat32, {3}));
  expect_error(node, "4 inputs; allowed for Gemm: 2 or 3");
  node.inputs.resize(1);
  expect_error(node, "1 inputs; allowed for Gemm: 2 or 3");
  node.inputs.clear();
  expect_error(node, "0 inputs");
  for (int64_t opset : {7, 9, 10}) {
    node = gemm_;
    node.opset = opset;
    node.inputs[2] = absent();
    expect_error(node, "input C is absent at opset " + std::to_string(opset) + "; allowed: absent from opset 11 on");
    node.inputs.resize(2);
    expect_error(node, "input C is absent");
  }
  node = gemm_;
  node.inputs[1] = absent();
  expect_error(node, "input B is absent; allowed: only C of Gemm may be");
  matmul_.inputs.push_back(absent());
  expect_error(matmul_, "3 inputs; allowed for MatMul: 2");
  gemm_.outputs = {"Y", "Z"};
  expect_error(gemm_, "2 outputs; allowed: 1");
  gemm_.outputs = {""};
  expect_error(gemm_, "the output has an empty name");
}

TEST_F(NodeError, Types) {
  Node node = gemm_;
  node.inputs[2].dtype = DType::kFloat64;
  expect_error(node, "dtype mismatch: A has float32, C has float64; allowed: one type");
  node.inputs[0].dtype.reset();
  expect_error(node, "dtype mismatch: B has float32, C has float64");
  for (NodeInput& operand : node.inputs) operand.dtype.reset();
  expect_error(node, "no input has a known dtype");
}

TEST_F(NodeError, Attributes) {
  Node node = gemm_;
  node.attributes = {int_attribute("broadcast", 1)};
  expect_error(node, "unknown attribute 'broadcast'; allowed for Gemm: alpha, beta, transA, transB");
  node.attributes = {float_attribute("Alpha", 1)};
  expect_error(node, "unknown attribute 'Alpha'");
  node.attributes = {int_attribute("alpha", 1)};
  expect_error(node, "attribute 'alpha' is an integer; allowed: a float");
  node.attributes = {float_attribute("transA", 1)};
  expect_error(node, "attribute 'transA' is a float; allowed: an integer");
  node.attributes = {{"transB", NodeAttribute::Kind::kOther, 0, 0}};
  expect_error(node, "attribute 'transB' is neither an integer nor a float");
  node.attributes = {float_attribute("beta", 1), float_attribute("beta", 2)};
  expect_error(node, "attribute 'beta' stands twice");
  for (const char* name : {"alpha", "beta", "transA", "transB"}) {
    matmul_.attributes = {float_attribute(name, 1)};
    expect_error(matmul_, "unknown attribute '" + std::string(name) + "'; allowed for MatMul: none");
  }
}

TEST_F(NodeError, FactorsOfIntegersAreFinite) {
  for (NodeInput& operand : gemm_.inputs) operand.dtype = DType::kInt32;
  for (float value : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (const char* name : {"alpha", "beta"}) {
      gemm_.attributes = {float_attribute(name, value)};
      expect_error(gemm_, "for type int32; allowed: finite values");
    }
  }
}

TEST_F(NodeError, Ranks) {
  Node node = gemm_;
  node.inputs[0] = input(DType::kFloat32, {4});
  expect_error(node, "Gemm operand A has shape (4); allowed: rank 2");
  node = gemm_;
  node.inputs[1] = input(DType::kFloat32, {1, 4, 3});
  expect_error(node, "Gemm operand B has shape (1, 4, 3); allowed: rank 2");
  node.inputs[0].shape.reset();
  expect_error(node, "Gemm operand B has shape (1, 4, 3)");
  node = gemm_;
  node.inputs[2] = input(DType::kFloat32, {1, 2, 3});
  expect_error(node, "C has shape (1, 2, 3); allowed: anything that broadcasts to (M, N) = (2, 3)");
  matmul_.inputs[0] = input(DType::kFloat32, {});
  expect_error(matmul_, "rank 0");
}

TEST_F(NodeError, Sizes) {
  Node node = gemm_;
  node.inputs[1] = input(DType::kFloat32, {5, 3});
  expect_error(node, "K dimension mismatch: 4 in A (2, 4), 5 in B (5, 3)");
  node = gemm_;
  node.inputs[2] = input(DType::kFloat32, {2});
  expect_error(node, "broadcasts to (M, N) = (2, 3)");
  node = gemm_;
  node.attributes = {float_attribute("beta", 0)};
  node.inputs[2] = input(DType::kFloat32, {2});
  expect_error(node, "broadcasts to (M, N) = (2, 3)");
  node = gemm_;
  node.inputs[2].shape = Shape{Dim::runtime("c"), Dim::fixed(4)};
  expect_error(node, "broadcasts to (M, N) = (2, 3)");
  node = gemm_;
  node.inputs[0].shape = Shape{Dim::runtime("m"), Dim::fixed(-4)};
  expect_error(node, "a dimension of -4; allowed: 0 and more");
  matmul_.inputs[0] = input(DType::kFloat32, {5, 2, 4});
  matmul_.inputs[1] = input(DType::kFloat32, {6, 4, 3});
  expect_error(matmul_, "batch dimension mismatch: 5 in A (5, 2, 4), 6 in B (6, 4, 3)");
}

TEST_F(NodeError, NamesStayOneSize) {
  Node node = gemm_;
  node.inputs[0].shape = Shape{Dim::runtime("s"), Dim::runtime("s")};
  node.inputs[2].shape = Shape{Dim::fixed(5), Dim::fixed(3)};
  expect_error(node, "broadcasts to (M, N) = (4, 3)");
  Dim range = Dim::runtime("s");
  range.max = 9;
  Dim other_range = range;
  other_range.max = 8;
  node = matmul_;
  node.inputs[0].shape = Shape{range, Dim::fixed(4)};
  node.inputs[1].shape = Shape{Dim::fixed(4), other_range};
  expect_error(node, "dimension 's' has two different ranges");
  range.min = 10;
  node.inputs[0].shape = Shape{range, Dim::fixed(4)};
  node.inputs[1].shape = Shape{Dim::fixed(4), Dim::fixed(3)};
  expect_error(node, "range 10..9");
}

TEST_F(NodeError, Strides) {
  Node node = gemm_;
  node.inputs[0].strides = {Stride::fixed(1)};
  expect_error(node, "operand A has 1 strides for rank 2");
  node = gemm_;
  node.inputs[2].shape = Shape{Dim::runtime("c")};
  node.inputs[2].strides = {Stride::fixed(1)};
  expect_error(node, "C has strides, and a run-time dimension that may broadcast", StatusCode::kUnsupported);
  node.inputs[2].shape.reset();
  expect_error(node, "operand C of unknown rank has a shape or strides");
  node = gemm_;
  node.y_strides = {Stride::fixed(0), Stride::fixed(1)};
  expect_error(node, "stride of 0");
}

TEST_F(NodeError, OddNamesStayOnOneLine) {
  gemm_.name = "fc\n1";
  gemm_.op_type = "Conv\r\n";
  const Expected<Problem> problem = node_to_problem(gemm_);
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.status().message(), "op_type 'Conv\\x0d\\x0a'; allowed: Gemm, MatMul (node 'fc\\x0a1')");
}

}  // namespace
}  // namespace gemmc
