#include "compiler/node_json.h"

#include <gtest/gtest.h>

#include "compiler/npy.h"
#include "tests/support/temporary_folder.h"

namespace gemmc {
namespace {

Node parsed(const std::string& text, const std::filesystem::path& directory = ".") {
  Expected<Node> node = parse_node_json(text, directory);
  if (!node) {
    ADD_FAILURE() << node.status().message() << " in " << text;
    return {};
  }
  return *node;
}

Dim hinted(const std::string& name, int64_t min, int64_t max, std::vector<int64_t> likely) {
  Dim dim = Dim::runtime(name);
  dim.min = min;
  dim.max = max;
  dim.likely = std::move(likely);
  return dim;
}

TEST(NodeJson, TheExampleOfTheDocument) {
  const Node node = parsed(R"({"name": "fc1", "op_type": "Gemm", "domain": "", "opset": 13,
      "inputs": [{"name": "A", "dtype": "float32", "shape": ["batch", 784]},
                 {"name": "B", "dtype": "float32", "shape": [512, 784]},
                 {"name": "C", "dtype": "float32", "shape": [512]}],
      "outputs": ["Y"],
      "attributes": {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 1},
      "training": false, "lda_coeff": 1.0})");
  EXPECT_EQ(node.name, "fc1");
  EXPECT_EQ(node.op_type, "Gemm");
  EXPECT_EQ(node.domain, "");
  EXPECT_EQ(node.opset, 13);
  ASSERT_EQ(node.inputs.size(), 3u);
  EXPECT_EQ(node.inputs[0].name, "A");
  EXPECT_EQ(node.inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(node.inputs[0].shape, (Shape{Dim::runtime("batch"), Dim::fixed(784)}));
  EXPECT_EQ(node.inputs[2].shape, Shape{Dim::fixed(512)});
  for (const NodeInput& input : node.inputs) {
    EXPECT_FALSE(input.is_absent || input.is_constant || input.data || input.storage || !input.strides.empty());
  }
  EXPECT_EQ(node.outputs, std::vector<std::string>{"Y"});
  ASSERT_EQ(node.attributes.size(), 4u);
  EXPECT_EQ(node.attributes[0].name, "alpha");
  EXPECT_EQ(node.attributes[0].kind, NodeAttribute::Kind::kFloat);
  EXPECT_EQ(node.attributes[3].name, "transB");
  EXPECT_EQ(node.attributes[3].kind, NodeAttribute::Kind::kInt);
  EXPECT_EQ(node.attributes[3].int_value, 1);
  EXPECT_FALSE(node.wants_training);
  EXPECT_EQ(node.lda_coeff, 1.0);
}

TEST(NodeJson, EveryOtherField) {
  const Node node = parsed(R"({"op_type": "MatMul", "domain": "ai.onnx", "opset": 21,
      "inputs": [{"name": "x", "dtype": "double", "strides": ["?", -3, 0],
                  "shape": [{"name": "seq", "min": 1, "max": 512, "likely": [128, 256]}, {"name": "b"}, 9223372036854775807]},
                 {"dtype": "float64", "constant": true, "storage": "float32"}],
      "outputs": [{"name": "out", "strides": [5, "?"]}],
      "epilogue": [{"op": "bias", "axis": "n", "name": "b1"}, {"op": "gelu"}],
      "order": "k", "training": true, "lda_coeff": 0.5, "doc_string": "text", "metadata_props": {"a": "b"}})");
  EXPECT_EQ(node.domain, "ai.onnx");
  EXPECT_EQ(node.opset, 21);
  EXPECT_EQ(node.inputs[0].dtype, DType::kFloat64);
  EXPECT_EQ(node.inputs[0].shape, (Shape{hinted("seq", 1, 512, {128, 256}), Dim::runtime("b"), Dim::fixed(INT64_MAX)}));
  EXPECT_EQ(node.inputs[0].strides, (Strides{Stride::runtime(), Stride::fixed(-3), Stride::fixed(0)}));
  EXPECT_EQ(node.inputs[1].name, "B") << "the position's name where none is given";
  EXPECT_FALSE(node.inputs[1].shape) << "no shape: unknown rank";
  EXPECT_TRUE(node.inputs[1].is_constant);
  EXPECT_EQ(node.inputs[1].storage, DType::kFloat32);
  EXPECT_EQ(node.outputs, std::vector<std::string>{"out"});
  EXPECT_EQ(node.y_strides, (Strides{Stride::fixed(5), Stride::runtime()}));
  EXPECT_EQ(node.epilogue, (std::vector<EpilogueStep>{{"bias", "n", "b1"}, {"gelu", "", ""}}));
  EXPECT_EQ(node.order, SummationOrder::kByK);
  EXPECT_TRUE(node.wants_training);
  EXPECT_EQ(node.lda_coeff, 0.5);
}

TEST(NodeJson, Defaults) {
  const Node node = parsed(R"({"op_type": "MatMul", "inputs": [{}, {}]})");
  EXPECT_EQ(node.name, "");
  EXPECT_EQ(node.opset, 13);
  EXPECT_TRUE(node.outputs.empty());
  EXPECT_TRUE(node.attributes.empty());
  EXPECT_EQ(node.order, SummationOrder::kAny);
  EXPECT_FALSE(node.wants_training);
  EXPECT_FALSE(node.inputs[0].is_absent);
  EXPECT_FALSE(node.inputs[0].dtype || node.inputs[0].shape || node.inputs[0].is_constant);
}

TEST(NodeJson, AbsentInputs) {
  for (const char* absent : {"null", R"("")", R"({"name": ""})"}) {
    const Node node = parsed(std::string(R"({"op_type": "Gemm", "inputs": [{}, {}, )") + absent + "]}");
    ASSERT_EQ(node.inputs.size(), 3u);
    EXPECT_FALSE(node.inputs[1].is_absent);
    EXPECT_TRUE(node.inputs[2].is_absent) << absent;
  }
}

TEST(NodeJson, GraphToolsKeys) {
  const Node node = parsed(R"({"op_type": "Gemm", "inputs": [{}, {}, {"constant": false}],
      "specified_outputs_name": ["out"], "lda coeff": 0.25})");
  EXPECT_EQ(node.outputs, std::vector<std::string>{"out"});
  EXPECT_EQ(node.lda_coeff, 0.25);
  EXPECT_TRUE(node.wants_training) << "the tools' default";
  EXPECT_FALSE(node.inputs[0].is_constant);
  EXPECT_TRUE(node.inputs[1].is_constant) << "the tools' default for B and C of Gemm";
  EXPECT_FALSE(node.inputs[2].is_constant) << "said otherwise";
  EXPECT_FALSE(parsed(R"({"op_type": "Gemm", "inputs": [{}, {}], "training?": false})").wants_training);
  EXPECT_FALSE(parsed(R"({"op_type": "Gemm", "inputs": [{}, {}], "lda coeff": 1, "training": false})").wants_training);
  EXPECT_TRUE(parsed(R"({"op_type": "Gemm", "inputs": [{}, {}], "training?": true})").wants_training);
  EXPECT_FALSE(parsed(R"({"op_type": "MatMul", "inputs": [{}, {}], "training?": true})").inputs[1].is_constant);
  EXPECT_FALSE(parsed(R"({"op_type": "Gemm", "inputs": [{}, {}, null], "training?": true})").inputs[2].is_constant);
}

TEST(NodeJson, AttributesKeepTheirKind) {
  const Node node = parsed(R"({"op_type": "Gemm", "inputs": [{}, {}], "attributes": {
      "alpha": 2, "beta": 0.1, "transA": true, "transB": -9223372036854775808, "x": 1.5, "y": "s", "z": [1]}})");
  using Kind = NodeAttribute::Kind;
  const NodeAttribute expected[] = {{"alpha", Kind::kFloat, 0, 2.0f}, {"beta", Kind::kFloat, 0, 0.1f},
                                    {"transA", Kind::kInt, 1, 0},     {"transB", Kind::kInt, INT64_MIN, 0},
                                    {"x", Kind::kFloat, 0, 1.5f},     {"y", Kind::kOther, 0, 0},
                                    {"z", Kind::kOther, 0, 0}};
  ASSERT_EQ(node.attributes.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(node.attributes[i].name, expected[i].name);
    EXPECT_EQ(node.attributes[i].kind, expected[i].kind) << expected[i].name;
    EXPECT_EQ(node.attributes[i].int_value, expected[i].int_value) << expected[i].name;
    EXPECT_EQ(node.attributes[i].float_value, expected[i].float_value) << expected[i].name;
  }
}

TEST(NodeJson, DataGivesTypeShapeAndSizes) {
  const testing::TemporaryFolder folder;
  const Tensor weights{DType::kFloat32, {3, 2}, std::vector<uint8_t>(24, 1)};
  ASSERT_TRUE(write_npy(folder.path() / "w.npy", weights).is_ok());
  const Node node = parsed(R"({"op_type": "MatMul", "inputs": [{"dtype": "float32", "shape": ["m", "k"]},
                                                               {"data": "w.npy"}]})",
                           folder.path());
  EXPECT_TRUE(node.inputs[1].is_constant);
  EXPECT_EQ(node.inputs[1].dtype, DType::kFloat32);
  EXPECT_EQ(node.inputs[1].shape, (Shape{Dim::fixed(3), Dim::fixed(2)}));
  ASSERT_NE(node.inputs[1].data, nullptr);
  EXPECT_EQ(node.inputs[1].data->bytes, weights.bytes);

  const Node bound = parsed(R"({"op_type": "MatMul", "inputs": [{"dtype": "float32", "shape": ["m", "k"]},
      {"data": "w.npy", "dtype": "float32", "constant": true, "shape": ["k", 2]}]})",
                            folder.path());
  EXPECT_EQ(bound.inputs[0].shape, (Shape{Dim::runtime("m"), Dim::fixed(3)})) << "k is known from the file";
  EXPECT_EQ(bound.inputs[1].shape, (Shape{Dim::fixed(3), Dim::fixed(2)}));

  const std::string absolute = (folder.path() / "w.npy").string();
  EXPECT_NE(parsed(R"({"op_type": "MatMul", "inputs": [{}, {"data": ")" + absolute + R"("}]})").inputs[1].data,
            nullptr);
}

TEST(NodeJson, DataMayBeStoredNarrower) {
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(write_npy(folder.path() / "w.npy", {DType::kBFloat16, {1, 2}, {1, 2, 3, 4}}).is_ok());
  const Node node = parsed(R"({"op_type": "MatMul", "inputs": [{"dtype": "float32"},
      {"data": "w.npy", "dtype": "float32", "storage": "bfloat16"}]})",
                           folder.path());
  EXPECT_EQ(node.inputs[1].dtype, DType::kFloat32);
  EXPECT_EQ(node.inputs[1].storage, DType::kBFloat16);

  ASSERT_TRUE(write_npy(folder.path() / "q.npy", {DType::kInt8, {1, 2}, {1, 255}}).is_ok());
  const Node int8 = parsed(R"({"op_type": "MatMul", "inputs": [{"dtype": "float32"},
      {"data": "q.npy", "storage": "int8"}]})",
                           folder.path());
  EXPECT_EQ(int8.inputs[1].storage, DType::kInt8);
  EXPECT_EQ(int8.inputs[1].data->bytes, (std::vector<uint8_t>{1, 255}));
  const Expected<Node> computed =
      parse_node_json(R"({"op_type": "MatMul", "inputs": [{"dtype": "float32"}, {"data": "q.npy"}]})", folder.path());
  ASSERT_FALSE(computed);
  EXPECT_NE(computed.status().message().find("allowed: \"storage\": \"int8\""), std::string::npos)
      << computed.status().message();
}

}  // namespace
}  // namespace gemmc
