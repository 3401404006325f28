// Real models: every node of tests/data/workloads/nodes.jsonl is found with its operator, shapes, constants and
// readers. The files come from tools/fetch-models; a missing one fails its test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "compiler/onnx_model.h"

namespace gemmc {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kWorkloads = fs::path(GEMMC_TEST_DATA) / "workloads";

fs::path model_path(const std::string& name) { return fs::path(GEMMC_MODELS) / (name + ".onnx"); }

std::vector<json> known_models() {
  std::ifstream stream(kWorkloads / "models.json");
  if (!stream) throw std::runtime_error("no " + (kWorkloads / "models.json").string());
  return json::parse(stream);
}

std::vector<json> known_nodes(const std::string& model) {
  std::ifstream stream(kWorkloads / "nodes.jsonl");
  std::vector<json> nodes;
  for (std::string line; std::getline(stream, line);) {
    json node = json::parse(line);
    if (node["model"] == model) nodes.push_back(std::move(node));
  }
  return nodes;
}

Expected<Model> load_known(const std::string& model, const std::map<std::string, int64_t>& bindings,
                           ConstantValues values) {
  Expected<Model> loaded = load_model(model_path(model), bindings, values);
  EXPECT_TRUE(loaded) << loaded.status().message() << "\nrun: tools/fetch-models build/models " << model;
  return loaded;
}

std::string dtype_name(std::string word) { return word == "FLOAT" ? "float32" : word; }

std::string constant_word(const std::string& origin) {
  const size_t last = origin.rfind("> ");
  return last == std::string::npos ? origin : "folded:" + origin.substr(last + 2);
}

// One node against the record of it. `sizes` collects what each run-time dimension was in the recorded run.
void check_node(const ModelNode& found, const json& known, std::map<std::string, int64_t>& sizes) {
  const Node& node = found.node;
  SCOPED_TRACE(node.name);
  EXPECT_EQ(node.op_type, known["op"]);
  EXPECT_EQ(node.opset, known["opset"]);
  std::map<std::string, double> attributes;
  for (const NodeAttribute& attribute : node.attributes) {
    const bool is_int = attribute.kind == NodeAttribute::Kind::kInt;
    attributes[attribute.name] = is_int ? static_cast<double>(attribute.int_value) : double{attribute.float_value};
  }
  EXPECT_EQ(attributes, (known["attrs"].get<std::map<std::string, double>>()));

  std::vector<std::string> consumers = found.consumers;
  for (std::string& consumer : consumers) consumer = consumer.substr(0, consumer.find('('));
  EXPECT_EQ(consumers, known["consumers"].get<std::vector<std::string>>());
  const bool has_bias = known["epilogue"].get<std::string>().starts_with("BiasAdd");
  EXPECT_EQ(has_bias, found.consumers == std::vector<std::string>{"Add(constant)"});

  ASSERT_EQ(node.inputs.size(), known["inputs"].size());
  // Not recorded for nodes inside If branches.
  std::vector<std::string> dynamic_axes;
  if (!known["dynamic_axes"].is_null()) dynamic_axes = known["dynamic_axes"].get<std::vector<std::string>>();
  for (size_t position = 0; position < node.inputs.size(); ++position) {
    const NodeInput& input = node.inputs[position];
    const json& recorded = known["inputs"][position];
    SCOPED_TRACE(input.name);
    EXPECT_EQ(input.dtype ? std::string(name(*input.dtype)) : input.foreign_dtype, dtype_name(recorded["dtype"]));
    const std::string constant = recorded["const"].is_null() ? "" : recorded["const"];
    EXPECT_EQ(constant_word(found.constant_origin[position]), constant);
    EXPECT_EQ(input.is_constant, !constant.empty());

    const auto shape = recorded["shape"].get<std::vector<int64_t>>();
    ASSERT_TRUE(input.shape);
    ASSERT_EQ(input.shape->size(), shape.size());
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const Dim& dim = (*input.shape)[axis];
      const std::string label = fmt::format("{}[{}]", "ABC"[std::min<size_t>(position, 2)], axis);
      const bool is_dynamic = std::find(dynamic_axes.begin(), dynamic_axes.end(), label) != dynamic_axes.end();
      if (dim.is_static()) {
        EXPECT_EQ(dim.size, shape[axis]);
        EXPECT_FALSE(is_dynamic) << label;
      } else {
        // Equal names have to be equal sizes.
        EXPECT_EQ(sizes.emplace(dim.name, shape[axis]).first->second, shape[axis]) << dim.name;
      }
    }
    if (input.is_constant && node.op_type != "MatMulInteger") {
      ASSERT_NE(input.data, nullptr);
      EXPECT_EQ(input.data->shape, shape);
      size_t bytes = size_bytes(input.data->dtype);
      for (const int64_t extent : shape) bytes *= static_cast<size_t>(extent);
      EXPECT_EQ(input.data->bytes.size(), bytes);
    }
  }
}

class RealModel : public ::testing::TestWithParam<std::string> {};

TEST_P(RealModel, NodesAreFoundWithTheirShapesAndConstants) {
  const std::vector<json> models = known_models();
  const auto model = std::find_if(models.begin(), models.end(), [](const json& m) { return m["model"] == GetParam(); });
  const Expected<Model> loaded = load_known(GetParam(), {}, ConstantValues::kRead);
  if (!loaded) return;

  std::map<std::string, int> counts;
  for (const ModelNode& node : loaded->nodes) ++counts[node.node.op_type];
  EXPECT_EQ(counts, ((*model)["node_counts"].get<std::map<std::string, int>>()));

  const std::vector<json> nodes = known_nodes(GetParam());
  ASSERT_EQ(nodes.size(), loaded->nodes.size());
  std::map<std::string, int64_t> sizes;
  for (const json& known : nodes) {
    const auto found = std::find_if(loaded->nodes.begin(), loaded->nodes.end(),
                                    [&](const ModelNode& node) { return node.node.name == known["node"]; });
    ASSERT_NE(found, loaded->nodes.end()) << known["node"];
    check_node(*found, known, sizes);
  }
  std::vector<std::string> names;
  for (const auto& [name, size] : sizes) names.push_back(name);
  EXPECT_EQ(loaded->runtime_dims, names);
}

TEST_P(RealModel, EveryRunTimeDimensionCanBeBound) {
  const Expected<Model> free = load_known(GetParam(), {}, ConstantValues::kSkip);
  if (!free) return;
  for (const std::string& name : free->runtime_dims) {
    const Expected<Model> bound = load_known(GetParam(), {{name, 8}}, ConstantValues::kSkip);
    ASSERT_TRUE(bound) << name;
    EXPECT_EQ(bound->nodes.size(), free->nodes.size());
    EXPECT_EQ(std::count(bound->runtime_dims.begin(), bound->runtime_dims.end(), name), 0) << name;
  }
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const json& model : known_models()) names.push_back(model["model"]);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, RealModel, ::testing::ValuesIn(model_names()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

TEST(RealModelBound, MiniLmWithBatchAndSequence) {
  const Expected<Model> loaded = load_known("minilm-l6-int8", {{"batch", 1}, {"sequence", 128}}, ConstantValues::kSkip);
  if (!loaded) return;
  const std::vector<json> nodes = known_nodes("minilm-l6-int8");
  ASSERT_EQ(nodes.size(), loaded->nodes.size());
  // The exporter left the sizes of some attention operands unnamed; those of all weights' partners are known.
  for (size_t index = 0; index < nodes.size(); ++index) {
    if (!loaded->nodes[index].node.inputs[1].is_constant) continue;
    std::vector<int64_t> shape;
    for (const Dim& dim : *loaded->nodes[index].node.inputs[0].shape) shape.push_back(dim.is_static() ? dim.size : -1);
    EXPECT_EQ(shape, nodes[index]["inputs"][0]["shape"].get<std::vector<int64_t>>()) << nodes[index]["node"];
  }
}

}  // namespace
}  // namespace gemmc
