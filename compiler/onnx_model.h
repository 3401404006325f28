// An .onnx file -> the Gemm, MatMul and MatMulInteger nodes in it. See docs/models.md.
//
// Nodes inside If, Loop and Scan bodies and in local functions are found too. Operand shapes and constants come from
// initializers, Constant nodes, value_info, graph inputs, and constants followed through Cast, Mul, Transpose, Reshape,
// Unsqueeze, Identity and DequantizeLinear (evaluated, so that their values can be used). What stays unknown is a
// run-time dimension or an unknown rank. External data is read from files beside the model only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/node.h"
#include "core/status.h"

namespace gemmc {

struct ModelNode {
  // The name is unique and not empty: "MatMul_12" where the model gives none, "fc1#2" for the second "fc1".
  // op_type may be "MatMulInteger", which node_to_problem refuses by name.
  Node node;
  // "" for the main graph, else the steps to the node's graph, e.g. "if_1/then_branch", or "call_3/function
  // my.domain:Name"; without the call for a function that nothing calls.
  std::string graph_path;
  // How each operand's constant was stored: "", "initializer", "Constant", or the chain "initializer > Cast > Mul".
  std::vector<std::string> constant_origin;
  // What the product's epilogue can take in of the nodes behind it.
  struct Fusable {
    std::vector<EpilogueStep> epilogue;                        // operands are named as their tensors
    std::vector<std::shared_ptr<const Tensor>> epilogue_data;  // see Node
    std::vector<std::string> replaces;                         // the names of the nodes
    std::string output;                                        // the tensor that the product computes then
    std::string end;                                           // why no more is taken in, "Softmax"
  };
  Fusable fusable;
  // How B is stored where that is narrower than it is computed, see onnx_narrow.h.
  struct Narrow {
    DType storage = DType::kInt8;
    std::string tensor;                      // the name of the stored one
    std::shared_ptr<const Tensor> values;    // null: not asked for or not known
    std::optional<EpilogueStep> scale_step;  // the first step of the epilogue then
    std::shared_ptr<const Tensor> scale;     // its operand's values
  };
  std::optional<Narrow> narrow;
  // Operator types that read the result, in the model's order: "Add(constant)" where the other operand is one.
  std::vector<std::string> consumers;
};

struct Model {
  std::string name;  // the file's stem
  std::vector<ModelNode> nodes;
  std::vector<std::string> runtime_dims;  // every symbolic dimension that occurs in the nodes' shapes, sorted
};

// Whether NodeInput::data, Fusable::epilogue_data and Narrow's values are filled. Without it the weights are neither
// read nor evaluated (only numbers that decide what can be fused are): the time and the memory of what only asks for
// shapes.
enum class ConstantValues { kRead, kSkip };

// `bindings`: symbolic dimension -> size, for the whole model. A binding whose name occurs nowhere in the model is
// refused with the names that do. Errors: invalid argument (malformed or hostile file), environment (unreadable).
// Never throws; never reads outside the model's folder.
Expected<Model> load_model(const std::filesystem::path& path, const std::map<std::string, int64_t>& bindings,
                           ConstantValues values = ConstantValues::kRead);

}  // namespace gemmc
