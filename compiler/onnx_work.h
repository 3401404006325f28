// What the walk of a model may do. Functions that call functions ask for exponential work of a small file, so every
// visit is charged, and the limit grows with the file.
#pragma once

#include <cstdint>

#include "core/status.h"

namespace onnx {
class FunctionProto;
class GraphProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace gemmc {

class WorkBudget {
 public:
  explicit WorkBudget(const ::onnx::ModelProto& model);

  // One visit, without the nodes inside. Invalid argument: the model asks for more than its size explains.
  Status charge(const ::onnx::NodeProto& node);
  Status charge(const ::onnx::GraphProto& graph);
  Status charge(const ::onnx::FunctionProto& function);

 private:
  Status charge(int64_t amount);

  const int64_t limit_;
  int64_t done_ = 0;
};

}  // namespace gemmc
