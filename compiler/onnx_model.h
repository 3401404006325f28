// An .onnx file -> the Gemm, MatMul and MatMulInteger nodes in it.
//
// Nodes inside If, Loop and Scan bodies and in local functions are found too. Operand shapes and constants come from
// initializers, Constant nodes, value_info, graph inputs, and constants followed through Cast, Mul, Transpose, Reshape,
// Unsqueeze, Identity and DequantizeLinear (evaluated, so that their values can be used). What stays unknown is a run-time dimension or an
// unknown rank. External data is read from files beside the model only.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compiler/node.h"
#include "core/status.h"

namespace gemmc {

struct ModelNode {
  Node node;                  // op_type may be "MatMulInteger", which node_to_problem refuses by name
  std::string graph_path;     // "" for the main graph, else "if_1/then_branch" or "function my.domain:Name"
  // How each operand's constant was stored: "", "initializer", "Constant", or the chain "initializer > Cast > Mul".
  std::vector<std::string> constant_origin;
  std::vector<std::string> consumers;  // operator types that read the result, with "(constant)" where the other operand is one
};

struct Model {
  std::string name;  // the file's stem
  std::vector<ModelNode> nodes;
  std::vector<std::string> runtime_dims;  // every symbolic dimension that occurs in the nodes' shapes, sorted
};

// `bindings`: symbolic dimension -> size, for the whole model. A binding whose name occurs nowhere in the model is
// refused with the names that do. Errors: invalid argument (malformed or hostile file), environment (unreadable).
// Never throws; never reads outside the model's folder.
Expected<Model> load_model(const std::filesystem::path& path, const std::map<std::string, int64_t>& bindings);

}  // namespace gemmc
