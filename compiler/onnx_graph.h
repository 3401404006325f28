// Walks the graphs of a model: every node once, in order, with what is known of its operands. Finds the products.
//
// Bodies of If, Loop and Scan see the names around them. A call of a local function walks the function's nodes with the
// caller's operands and attributes, so that each call has its own shapes and constants; a function that nothing calls
// is walked once with unknown ones.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "compiler/onnx_file.h"
#include "compiler/onnx_op.h"
#include "compiler/onnx_value.h"
#include "core/status.h"

namespace onnx {
class ModelProto;
}

namespace gemmc {

// A node of an operator that an epilogue may take in, see onnx_fusion.h.
struct GraphStep {
  OnnxOp op;
  size_t graph = 0;                  // nodes of one list of nodes, walked once, have the same number
  std::vector<const Value*> inputs;  // null: absent
  const Value* output = nullptr;
};

// A Gemm, MatMul or MatMulInteger node.
struct FoundNode {
  OnnxOp op;
  size_t graph = 0;                  // see GraphStep
  std::string graph_path;            // see ModelNode
  std::vector<const Value*> inputs;  // null: absent
  const Value* output = nullptr;     // null: the node has none
};

// Keeps what the found nodes point to: the call attributes and the steps. The model and `table` have to outlive it too.
struct FoundNodes {
  std::vector<FoundNode> nodes;
  std::deque<FunctionAttributes> calls;
  std::deque<GraphStep> steps;
};

// Invalid argument: a graph that is no graph (cycles, undefined or repeated names), or out of proportion.
Expected<FoundNodes> find_nodes(const ::onnx::ModelProto& model, ModelFiles& files, ValueTable& table);

}  // namespace gemmc
