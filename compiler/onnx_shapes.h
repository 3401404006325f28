// What an operator makes of its operands' types, shapes and constants, where that is cheap and unambiguous.
//
// No full shape inference: operators that the table does not have, and operands that are not known well enough, leave
// their outputs unknown. Sources: ONNX Operators.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compiler/onnx_file.h"
#include "compiler/onnx_op.h"
#include "compiler/onnx_value.h"
#include "core/status.h"

namespace gemmc {

// One application of a rule of the table: a node with its operands and results, absent ones null.
struct Inference {
  const OnnxOp& op;
  std::span<Value* const> inputs;
  std::span<Value* const> outputs;
  ModelFiles& files;

  Value* input(size_t position) const { return position < inputs.size() ? inputs[position] : nullptr; }
  const SymShape* shape(size_t position) const;
  ElementType type(size_t position) const { return input(position) != nullptr ? input(position)->type : 0; }
  // The integers in a small tensor, null where they are not known. Fails where the model's data cannot be read.
  Expected<const SymShape*> contents(size_t position) const;

  Value& result() const { return *outputs[0]; }
  void set_result(ElementType type, std::optional<SymShape> shape) const;
  SymDim unknown(size_t axis) const { return ValueTable::unknown(result(), axis); }
  SymShape unknown_shape(size_t rank) const;
};

// Fills type, shape, contents and constant of the outputs. Fails where the node cannot be right (invalid argument), or
// where a constant that it needs cannot be read.
Status infer_outputs(const Inference& inference);

// The operators that work element by element on two operands.
bool is_elementwise_pair(const OnnxOp& op);

// A negative axis counts from the end; nothing outside [-rank, rank).
std::optional<size_t> normal_axis(int64_t axis, size_t rank);
// The product, where it is known: of sizes, or of one symbol and ones.
std::optional<SymDim> product(std::span<const SymDim> dims);
// The shape that operands of these shapes broadcast to. `inference` names what stays unknown.
SymShape broadcast(const Inference& inference, const SymShape& left, const SymShape& right);

}  // namespace gemmc
