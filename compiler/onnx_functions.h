// The local functions of a model, and which operator sets a graph or a function asks for.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/onnx_op.h"
#include "core/status.h"

namespace onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace gemmc {

// The version of each domain's operators; ONNX's own domain is "".
using OpsetVersions = std::unordered_map<std::string, int64_t>;
Expected<OpsetVersions> opset_versions(const ::onnx::ModelProto& model);
std::string standard_domain(const std::string& domain);

struct OnnxFunction {
  const ::onnx::FunctionProto* proto = nullptr;
  OpsetVersions opsets;
  bool is_walked = false;
  bool is_open = false;  // being walked now

  // "'my.domain:Name'", for messages.
  std::string quoted_name() const;
};

// The model has to outlive it.
class OnnxFunctions {
 public:
  OnnxFunctions() = default;
  OnnxFunctions(OnnxFunctions&&) = default;  // no copies: they would point into the original
  OnnxFunctions& operator=(OnnxFunctions&&) = default;

  // Invalid argument: two functions of one name, two versions of one domain.
  static Expected<OnnxFunctions> index(const ::onnx::ModelProto& model);

  // The function that the node calls; null where it is an operator.
  OnnxFunction* find(const ::onnx::NodeProto& node);
  const std::vector<OnnxFunction*>& in_file_order() const { return in_file_order_; }

 private:
  std::unordered_map<std::string, OnnxFunction> functions_;
  std::vector<OnnxFunction*> in_file_order_;
};

// What a call gives to the function, by attribute name: its own attributes, and the defaults of those it leaves out.
FunctionAttributes call_attributes(const OnnxOp& call, const ::onnx::FunctionProto& function);

}  // namespace gemmc
