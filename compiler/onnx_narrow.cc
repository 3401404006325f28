#include "compiler/onnx_narrow.h"

#include <algorithm>

namespace gemmc {
namespace {

using Kind = ConstantExpr::Kind;

std::optional<DType> storage_of(const Constant& constant) {
  if (constant == nullptr || (constant->kind != Kind::kStored && constant->kind != Kind::kLiteral)) return std::nullopt;
  return parse_storage_dtype(element_type_name(constant->type));
}

// The scale of the whole matrix or of each column, as a step; nothing where it lies otherwise.
std::optional<EpilogueStep> as_step(const ConstantExpr& scale, const ConstantExpr& weights, size_t column_axis) {
  EpilogueStep step{.op = "scale", .axis = "", .name = scale.label};
  if (element_count(scale.dims) == 1) return step;
  step.axis = "n";
  const size_t columns_from_end = weights.dims.size() - 1 - column_axis;
  const bool is_per_column =
      sole_axis_from_end(scale.dims) == columns_from_end && element_count(scale.dims) == weights.dims[column_axis];
  return is_per_column ? std::optional(step) : std::nullopt;
}

bool is_all_zero(const OnnxTensor& tensor) {
  return std::all_of(tensor.bytes.begin(), tensor.bytes.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

Expected<std::optional<NarrowWeights>> find_narrow_weights(const Constant& weights, size_t column_axis,
                                                           ModelFiles& files) {
  std::optional<NarrowWeights> none;
  const std::optional<DType> computed = weights == nullptr ? std::nullopt : to_dtype(weights->type);
  if (!computed || is_integer(*computed) || weights->dims.size() != 2) return none;
  NarrowWeights narrow;
  if (weights->kind == Kind::kCast) {
    narrow.stored = weights->inputs[0];
  } else if (weights->kind == Kind::kMul) {
    const bool is_first = weights->inputs[0]->kind == Kind::kCast;
    const Constant& cast = weights->inputs[is_first ? 0 : 1];
    if (cast->kind != Kind::kCast) return none;
    narrow.stored = cast->inputs[0];
    narrow.scale = weights->inputs[is_first ? 1 : 0];
    narrow.scale_step = as_step(*narrow.scale, *weights, column_axis);
  } else if (weights->kind == Kind::kDequantizeLinear) {
    narrow.stored = weights->inputs[0];
    narrow.scale = weights->inputs[1];
    const bool is_scalar = element_count(narrow.scale->dims) == 1;
    const bool is_per_column = weights->block_size == 0 && weights->axis == column_axis;
    if (!is_scalar && !is_per_column) return none;
    const Constant zero_point = weights->inputs.size() > 2 ? weights->inputs[2] : nullptr;
    if (zero_point != nullptr) {
      const Expected<std::optional<OnnxTensor>> values = known_values(*zero_point, files);
      if (!values) return values.status();
      if (!*values || !is_all_zero(**values)) return none;
    }
    narrow.scale_step = EpilogueStep{.op = "scale", .axis = is_scalar ? "" : "n", .name = narrow.scale->label};
  }
  const std::optional<DType> storage = storage_of(narrow.stored);
  const bool is_narrower =
      storage && size_bytes(*storage) < size_bytes(*computed) && (!is_integer(*storage) || *storage == DType::kInt8);
  // The 16-bit types round Q s before the product, which is more than the documented error.
  const bool keeps_accuracy = storage == DType::kInt8 && size_bytes(*computed) > 2;
  const bool has_odd_scale =
      narrow.scale != nullptr && (!narrow.scale_step || narrow.scale->type != weights->type || !keeps_accuracy);
  if (!is_narrower || has_odd_scale || narrow.stored->dims != weights->dims) return none;
  narrow.storage = *storage;
  return std::optional(std::move(narrow));
}

}  // namespace gemmc
