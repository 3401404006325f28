// Makes ONNX messages as exporters write them, and loads them through a file.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "compiler/onnx_model.h"
#include "onnx.pb.h"
#include "tests/support/temporary_folder.h"

namespace gemmc::testing {

using Names = std::vector<std::string>;

// "t" and 3 -> "t3".
std::string numbered(const std::string& stem, int number);

// "batch,3,?" -> a name, a size, and a dimension of which the model says nothing; "" is a scalar.
::onnx::ValueInfoProto value_info(const std::string& name, int32_t type, const std::string& dims);

// A tensor with raw data.
template <typename T>
::onnx::TensorProto raw_tensor(const std::string& name, int32_t type, const std::vector<int64_t>& dims,
                               const std::vector<T>& values) {
  ::onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(type);
  *tensor.mutable_dims() = {dims.begin(), dims.end()};
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  tensor.set_raw_data(bytes);
  return tensor;
}
::onnx::TensorProto floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values);
::onnx::TensorProto int64s(const std::string& name, const std::vector<int64_t>& values);
// Zeros.
::onnx::TensorProto float_zeros(const std::string& name, const std::vector<int64_t>& dims);

::onnx::AttributeProto attribute(const std::string& name, int64_t value);
::onnx::AttributeProto attribute(const std::string& name, float value);
::onnx::AttributeProto integers_attribute(const std::string& name, const std::vector<int64_t>& values);
::onnx::AttributeProto attribute(const std::string& name, const ::onnx::TensorProto& value);
::onnx::AttributeProto attribute(const std::string& name, const ::onnx::GraphProto& value);
// The attribute of a node in a function that the call's attribute `caller_name` gives.
::onnx::AttributeProto attribute_reference(const std::string& name, const std::string& caller_name,
                                           ::onnx::AttributeProto::AttributeType type);

::onnx::NodeProto node(const std::string& op_type, const Names& inputs, const Names& outputs,
                       const std::vector<::onnx::AttributeProto>& attributes = {}, const std::string& name = "");

::onnx::FunctionProto function(const std::string& domain, const std::string& name, const Names& inputs,
                               const Names& outputs, const std::vector<::onnx::NodeProto>& nodes);

// Of one opset version of ONNX's own operators; a domain "my" is imported too.
::onnx::ModelProto model(int64_t opset = 17);
// model(), and Y = MatMul(A, B) with these operands in it.
::onnx::ModelProto matmul_model(const ::onnx::ValueInfoProto& a, const ::onnx::TensorProto& b);

// Writes the model into `folder` and loads it.
Expected<Model> load(const ::onnx::ModelProto& model, const TemporaryFolder& folder,
                     const std::map<std::string, int64_t>& bindings = {},
                     ConstantValues values = ConstantValues::kRead);
Expected<Model> load(const ::onnx::ModelProto& model, const std::map<std::string, int64_t>& bindings = {},
                     ConstantValues values = ConstantValues::kRead);

// "float32[batch,3] initializer > Cast =": type, shape ("[*]" for an unknown rank), constant's origin, "=" if its
// values are known. "absent" for an absent operand.
std::string text(const ModelNode& node, size_t position);
// The texts of the operands of the only node, joined with "; "; or the failure's message.
std::string operands(const Expected<Model>& model);

template <typename T>
std::vector<T> values(const NodeInput& input) {
  if (input.data == nullptr) return {};
  std::vector<T> result(input.data->bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), input.data->bytes.data(), input.data->bytes.size());
  return result;
}

}  // namespace gemmc::testing
