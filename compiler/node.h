// A node description: one ONNX Gemm or MatMul node with what is known of its operands. See docs/node-description.md.
//
// Flow: JSON text or ONNX graph -> **Node** -> Problem. Made by compiler/node_json and compiler/onnx_model; turned into
// a Problem by compiler/node_to_problem. A plain value; tensors' bytes are shared, never changed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/problem.h"
#include "core/status.h"

namespace gemmc {

// Values of an operand that are known before the call, dense row-major, little-endian.
struct Tensor {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

struct NodeInput {
  bool is_absent = false;  // null, "" or an empty name; only C may be
  std::string name;
  std::optional<DType> dtype;  // absent: not known (then another operand's decides)
  std::string foreign_dtype;   // a type outside the eight, e.g. "uint8": known, but not a Gemm's or MatMul's
  std::optional<Shape> shape;  // absent: unknown rank
  Strides strides;             // empty: dense
  bool is_constant = false;
  // A graph tool's description that says nothing: no derivative is asked for, but the values may change between calls.
  bool is_constant_by_default = false;
  std::shared_ptr<const Tensor> data;  // the constant's values, where known
  std::optional<DType> storage;
};

// The attributes of Gemm: alpha and beta, which are floats; transA and transB, which are integers.
bool is_scalar_attribute(std::string_view name);
bool is_transposition_attribute(std::string_view name);

struct NodeAttribute {
  std::string name;
  enum class Kind { kInt, kFloat, kOther } kind = Kind::kOther;
  int64_t int_value = 0;
  float float_value = 0;
};

struct Node {
  std::string name;
  std::string op_type;  // "Gemm", "MatMul"; others are refused by node_to_problem, by name
  std::string domain;   // "" and "ai.onnx" are the same
  int64_t opset = 13;
  std::vector<NodeInput> inputs;     // positions A, B, C
  std::vector<std::string> outputs;  // exactly one name, or none, which means "Y"
  Strides y_strides;
  std::vector<NodeAttribute> attributes;
  std::vector<EpilogueStep> epilogue;
  std::vector<std::shared_ptr<const Tensor>> epilogue_data;  // of each step's operand, null where unknown; may be empty
  SummationOrder order = SummationOrder::kAny;
  bool wants_training = false;  // also asks for the backward kernels
  double lda_coeff = 1.0;
};

// Checks the node against its ONNX definition (opset rules, types, attributes, input and output counts) and makes the
// problem. Errors are invalid argument or unsupported, and name the node. Sources: ONNX Operators.md, Gemm and MatMul.
Expected<Problem> node_to_problem(const Node& node);

// What the node asks for beside the kernel that node_to_problem() finds, and does not get; one line for the user, empty
// if nothing.
std::string unbuilt_wishes(const Node& node);

// Binds a run-time dimension everywhere in the node's shapes. Returns whether the name occurs.
bool bind_dim(Node& node, const std::string& name, int64_t size);

}  // namespace gemmc
