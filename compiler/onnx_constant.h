// Constants of a graph as expressions, evaluated only where a node uses the values.
//
// An expression is a stored tensor, or one of a few operators applied to expressions. Its shape and type are known from
// the start; the values are computed by evaluate(), as ONNX defines the operators.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/onnx_file.h"
#include "compiler/onnx_tensor.h"
#include "core/status.h"

namespace gemmc {

struct ConstantExpr;
using Constant = std::shared_ptr<const ConstantExpr>;

struct ConstantExpr {
  enum class Kind {
    kStored,   // `stored`, in the model or in external data
    kLiteral,  // `literal`, from an attribute such as value_ints
    kOpaque,   // constant, but its values are not read (sparse tensors)
    kRelabel,  // the same values under another shape: Identity, Reshape, Unsqueeze
    kCast,
    kMul,
    kTranspose,
    kDequantizeLinear,
  };
  Kind kind = Kind::kOpaque;
  std::string_view origin;  // "initializer", "Constant" or the operator; lives as long as the model
  std::string label;        // the tensor's name, for messages
  ElementType type = 0;
  std::vector<int64_t> dims;
  std::vector<Constant> inputs;  // null: an optional input that is absent
  size_t main_input = 0;         // the one that a chain is followed through

  const ::onnx::TensorProto* stored = nullptr;
  OnnxTensor literal;
  std::vector<int64_t> permutation;  // kTranspose
  size_t axis = 0;                   // kDequantizeLinear: the axis of a scale that is not one number
  int64_t block_size = 0;            // kDequantizeLinear: 0: one scale per index of the axis
  int depth = 0;                     // operators below

  // "initializer > Cast > Mul".
  std::string chain() const;
};

// Operators are followed this deep; what lies behind more is not a constant.
inline constexpr int kMaxConstantDepth = 32;

// The values. Unsupported: they cannot be known (types that are not read, a cast whose result ONNX leaves open).
Expected<OnnxTensor> evaluate(const ConstantExpr& constant, ModelFiles& files);

// The values, where they decide how a node is seen and not what is computed: nothing where they cannot be known, and
// where external data is not there, which what only lists a model does not need. Invalid argument: the file is wrong.
Expected<std::optional<OnnxTensor>> known_values(const ConstantExpr& constant, ModelFiles& files);

// known_values() of a constant of one element; nothing for others, and for null.
Expected<std::optional<double>> scalar_value(const Constant& constant, ModelFiles& files);

// The values of a tensor of up to kMaxRank int32 or int64 elements, such as a target shape; nothing for other tensors.
Expected<std::optional<std::vector<int64_t>>> small_integers(const ConstantExpr& constant, ModelFiles& files);

}  // namespace gemmc
