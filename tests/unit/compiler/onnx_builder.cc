#include "tests/unit/compiler/onnx_builder.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace gemmc::testing {

using ::onnx::AttributeProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

std::string numbered(const std::string& stem, int number) { return fmt::format("{}{}", stem, number); }

::onnx::ValueInfoProto value_info(const std::string& name, int32_t type, const std::string& dims) {
  ::onnx::ValueInfoProto info;
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto* shape = info.mutable_type()->mutable_tensor_type()->mutable_shape();
  std::istringstream stream(dims);
  for (std::string word; std::getline(stream, word, ',');) {
    auto* dim = shape->add_dim();
    if (word == "?") continue;
    if (word.find_first_not_of("-0123456789") == std::string::npos)
      dim->set_dim_value(std::stoll(word));
    else
      dim->set_dim_param(word);
  }
  return info;
}

TensorProto floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
  return raw_tensor(name, TensorProto::FLOAT, dims, values);
}

TensorProto int64s(const std::string& name, const std::vector<int64_t>& values) {
  return raw_tensor(name, TensorProto::INT64, {static_cast<int64_t>(values.size())}, values);
}

TensorProto float_zeros(const std::string& name, const std::vector<int64_t>& dims) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  return floats(name, dims, std::vector<float>(count));
}

AttributeProto attribute(const std::string& name, int64_t value) {
  AttributeProto result;
  result.set_name(name);
  result.set_type(AttributeProto::INT);
  result.set_i(value);
  return result;
}

AttributeProto attribute(const std::string& name, float value) {
  AttributeProto result;
  result.set_name(name);
  result.set_type(AttributeProto::FLOAT);
  result.set_f(value);
  return result;
}

AttributeProto integers_attribute(const std::string& name, const std::vector<int64_t>& values) {
  AttributeProto result;
  result.set_name(name);
  result.set_type(AttributeProto::INTS);
  *result.mutable_ints() = {values.begin(), values.end()};
  return result;
}

AttributeProto attribute(const std::string& name, const TensorProto& value) {
  AttributeProto result;
  result.set_name(name);
  result.set_type(AttributeProto::TENSOR);
  *result.mutable_t() = value;
  return result;
}

AttributeProto attribute(const std::string& name, const ::onnx::GraphProto& value) {
  AttributeProto result;
  result.set_name(name);
  result.set_type(AttributeProto::GRAPH);
  *result.mutable_g() = value;
  return result;
}

AttributeProto attribute_reference(const std::string& name, const std::string& caller_name,
                                   AttributeProto::AttributeType type) {
  AttributeProto result;
  result.set_name(name);
  result.set_type(type);
  result.set_ref_attr_name(caller_name);
  return result;
}

NodeProto node(const std::string& op_type, const Names& inputs, const Names& outputs,
               const std::vector<AttributeProto>& attributes, const std::string& name) {
  NodeProto result;
  result.set_op_type(op_type);
  *result.mutable_input() = {inputs.begin(), inputs.end()};
  *result.mutable_output() = {outputs.begin(), outputs.end()};
  for (const AttributeProto& attribute : attributes) *result.add_attribute() = attribute;
  result.set_name(name);
  return result;
}

::onnx::FunctionProto function(const std::string& domain, const std::string& name, const Names& inputs,
                               const Names& outputs, const std::vector<NodeProto>& nodes) {
  ::onnx::FunctionProto result;
  result.set_domain(domain);
  result.set_name(name);
  *result.mutable_input() = {inputs.begin(), inputs.end()};
  *result.mutable_output() = {outputs.begin(), outputs.end()};
  for (const NodeProto& node : nodes) *result.add_node() = node;
  for (const char* imported : {"", "my"}) {
    auto* import = result.add_opset_import();
    import->set_domain(imported);
    import->set_version(18);
  }
  return result;
}

ModelProto model(int64_t opset) {
  ModelProto result;
  result.set_ir_version(8);
  result.add_opset_import()->set_version(opset);
  auto* import = result.add_opset_import();
  import->set_domain("my");
  import->set_version(1);
  result.mutable_graph()->set_name("main");
  return result;
}

ModelProto matmul_model(const ::onnx::ValueInfoProto& a, const TensorProto& b) {
  ModelProto result = model();
  *result.mutable_graph()->add_input() = a;
  *result.mutable_graph()->add_initializer() = b;
  *result.mutable_graph()->add_node() = node("MatMul", {a.name(), b.name()}, {"Y"});
  return result;
}

Expected<Model> load(const ModelProto& model, const TemporaryFolder& folder,
                     const std::map<std::string, int64_t>& bindings, ConstantValues values) {
  const std::filesystem::path path = folder.path() / "model.onnx";
  {
    std::ofstream stream(path, std::ios::binary);
    model.SerializeToOstream(&stream);
  }
  return load_model(path, bindings, values);
}

Expected<Model> load(const ModelProto& model, const std::map<std::string, int64_t>& bindings, ConstantValues values) {
  const TemporaryFolder folder;
  return load(model, folder, bindings, values);
}

std::string text(const ModelNode& node, size_t position) {
  const NodeInput& input = node.node.inputs.at(position);
  if (input.is_absent) return "absent";
  std::string result = input.dtype ? std::string(name(*input.dtype)) : input.foreign_dtype;
  if (input.shape) {
    Names dims;
    for (const Dim& dim : *input.shape) dims.push_back(dim.is_static() ? std::to_string(dim.size) : dim.name);
    result += fmt::format("[{}]", fmt::join(dims, ","));
  } else {
    result += "[*]";
  }
  const std::string& origin = node.constant_origin.at(position);
  if (!origin.empty()) result += " " + origin;
  if (input.is_constant != !origin.empty()) result += " (is_constant disagrees)";
  if (input.data != nullptr) result += " =";
  return result;
}

std::string operands(const Expected<Model>& model) {
  if (!model) return model.status().message();
  if (model->nodes.size() != 1) return fmt::format("{} nodes", model->nodes.size());
  Names texts;
  for (size_t position = 0; position < model->nodes[0].node.inputs.size(); ++position) {
    texts.push_back(text(model->nodes[0], position));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace gemmc::testing
