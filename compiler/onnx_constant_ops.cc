#include "compiler/onnx_constant_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "core/text.h"
#include "onnx.pb.h"

namespace gemmc {
namespace {

using ::onnx::AttributeProto;
using ::onnx::TensorProto;
using Kind = ConstantExpr::Kind;

Status malformed(const Inference& inference, const std::string& what) {
  return Status::invalid(fmt::format("{} {}: {}", inference.op.node->op_type(), in_quotes(inference.op.name()), what));
}

bool is_static(const SymShape& shape) { return std::none_of(shape.begin(), shape.end(), is_symbol); }

// The result as an operator on the first `operands` inputs, where all that are present are constants and it is not too
// deep; null otherwise. The result's type and shape are known already.
std::shared_ptr<ConstantExpr> follow(const Inference& inference, Kind kind, size_t operands) {
  const Value& result = inference.result();
  if (!result.shape || !is_static(*result.shape) || !element_count(*result.shape)) return nullptr;
  auto expr = std::make_shared<ConstantExpr>();
  expr->kind = kind;
  expr->origin = inference.op.node->op_type();
  expr->label = std::string(result.name);
  expr->type = result.type;
  expr->dims = *result.shape;
  for (size_t position = 0; position < operands; ++position) {
    const Value* input = inference.input(position);
    if (input != nullptr && input->constant == nullptr) return nullptr;
    expr->inputs.push_back(input != nullptr ? input->constant : nullptr);
    if (input != nullptr) expr->depth = std::max(expr->depth, input->constant->depth + 1);
  }
  return expr->inputs[0] != nullptr && expr->depth <= kMaxConstantDepth ? expr : nullptr;
}

template <typename T>
Constant literal(const Inference& inference, ElementType type, std::vector<int64_t> dims, const T* values,
                 size_t count) {
  auto expr = std::make_shared<ConstantExpr>();
  expr->kind = Kind::kLiteral;
  expr->origin = "Constant";
  expr->label = std::string(inference.result().name);
  expr->type = type;
  expr->dims = dims;
  expr->literal = {type, std::move(dims), std::vector<uint8_t>(count * sizeof(T))};
  if (count > 0) std::memcpy(expr->literal.bytes.data(), values, count * sizeof(T));
  return expr;
}

Constant opaque(std::string_view origin, const std::string& label, ElementType type, std::vector<int64_t> dims) {
  auto expr = std::make_shared<ConstantExpr>();
  expr->origin = origin;
  expr->label = label;
  expr->type = type;
  expr->dims = std::move(dims);
  return expr;
}

// Reshape: what -1 stands for, given the other dimensions of the result. Equal symbols on both sides cancel.
std::optional<SymDim> inferred_dim(SymShape from, const SymShape& to) {
  SymShape rest;
  for (const SymDim dim : to) {
    const auto same = is_symbol(dim) ? std::find(from.begin(), from.end(), dim) : from.end();
    if (same != from.end())
      from.erase(same);
    else
      rest.push_back(dim);
  }
  SymShape symbols;
  std::copy_if(from.begin(), from.end(), std::back_inserter(symbols), is_symbol);
  std::erase_if(from, is_symbol);
  const std::optional<SymDim> whole = product(from);
  const std::optional<SymDim> divisor = product(rest);
  if (!whole || !divisor || is_symbol(*divisor) || *divisor == 0 || *whole % *divisor != 0) return std::nullopt;
  symbols.push_back(*whole / *divisor);
  return product(symbols);
}

std::optional<SymShape> reshaped(const Inference& inference, const SymShape* from, const SymShape& target) {
  if (target.size() > kMaxRank) return std::nullopt;
  const bool allows_zero = inference.op.opset >= 14 && inference.op.integer("allowzero", 0) != 0;
  SymShape result, others;
  std::optional<size_t> open_axis;
  for (size_t axis = 0; axis < target.size(); ++axis) {
    SymDim dim = target[axis];
    if (dim == 0 && !allows_zero) {
      dim = from != nullptr && axis < from->size() ? (*from)[axis] : inference.unknown(axis);
    }
    if (dim == -1 && !open_axis) {
      open_axis = axis;
      dim = inference.unknown(axis);
    } else {
      if (dim < 0 && !is_symbol(dim)) return std::nullopt;
      others.push_back(dim);
    }
    result.push_back(dim);
  }
  if (open_axis && from != nullptr) {
    if (const std::optional<SymDim> dim = inferred_dim(*from, others)) result[*open_axis] = *dim;
  }
  return result;
}

// Whether a scale or zero point of these dimensions fits `dims` (see ScaleIndex in onnx_constant.cc).
bool is_scale_shape(const std::vector<int64_t>& scale, const std::vector<int64_t>& dims, size_t axis, int64_t block) {
  if (element_count(scale) == 1) return true;
  if (axis >= dims.size()) return false;
  if (block == 0) return scale.size() == 1 && scale[0] == dims[axis];
  if (block < 0 || scale.size() != dims.size()) return false;
  for (size_t other = 0; other < dims.size(); ++other) {
    const int64_t blocks = dims[other] / block + (dims[other] % block != 0 ? 1 : 0);
    if (scale[other] != (other == axis ? blocks : dims[other])) return false;
  }
  return true;
}

}  // namespace

Expected<Constant> stored_constant(const TensorProto& tensor, std::string_view origin, const std::string& label) {
  Expected<std::vector<int64_t>> dims = check_tensor(tensor, label);
  if (!dims) return dims.status();
  auto expr = std::make_shared<ConstantExpr>();
  expr->kind = Kind::kStored;
  expr->origin = origin;
  expr->label = label;
  expr->type = tensor.data_type();
  expr->dims = *std::move(dims);
  expr->stored = &tensor;
  return Constant(std::move(expr));
}

Expected<Constant> sparse_constant(const ::onnx::SparseTensorProto& tensor, std::string_view origin,
                                   const std::string& label) {
  TensorProto dense;  // for the checks of its dimensions only
  dense.set_data_location(TensorProto::EXTERNAL);
  *dense.mutable_dims() = tensor.dims();
  Expected<std::vector<int64_t>> dims = check_tensor(dense, label);
  if (!dims) return dims.status();
  return opaque(origin, label, tensor.values().data_type(), *std::move(dims));
}

void set_constant(Value& value, Constant constant) {
  value.type = constant->type;
  value.shape = constant->dims;
  value.constant = std::move(constant);
}

bool holds_value(const AttributeProto& attribute) {
  return attribute.name().starts_with("value") || attribute.name() == "sparse_value";
}

Status infer_constant(const Inference& inference) {
  const std::string label(inference.result().name);
  const auto& attributes = inference.op.node->attribute();
  if (std::count_if(attributes.begin(), attributes.end(), holds_value) > 1) {
    return malformed(inference, "more than one value");
  }
  for (const AttributeProto& written : attributes) {
    if (!holds_value(written)) continue;
    const AttributeProto* given = inference.op.resolve(written);
    if (given == nullptr) return Status::ok();  // a function's, which no call gives
    Expected<Constant> constant = Constant();
    if (written.name() == "value") {
      constant = stored_constant(given->t(), "Constant", label);
    } else if (written.name() == "sparse_value") {
      constant = sparse_constant(given->sparse_tensor(), "Constant", label);
    } else if (written.name() == "value_int") {
      const int64_t value = given->i();
      constant = literal(inference, TensorProto::INT64, {}, &value, 1);
    } else if (written.name() == "value_float") {
      const float value = given->f();
      constant = literal(inference, TensorProto::FLOAT, {}, &value, 1);
    } else if (written.name() == "value_ints") {
      constant = literal(inference, TensorProto::INT64, {given->ints_size()}, given->ints().data(),
                         static_cast<size_t>(given->ints_size()));
    } else if (written.name() == "value_floats") {
      constant = literal(inference, TensorProto::FLOAT, {given->floats_size()}, given->floats().data(),
                         static_cast<size_t>(given->floats_size()));
    } else if (written.name() == "value_string") {
      constant = opaque("Constant", label, TensorProto::STRING, {});
    } else if (written.name() == "value_strings") {
      constant = opaque("Constant", label, TensorProto::STRING, {given->strings_size()});
    } else {
      continue;
    }
    if (!constant) return constant.status();
    set_constant(inference.result(), *std::move(constant));
    return Status::ok();
  }
  return malformed(inference, "no value");
}

Status infer_identity(const Inference& inference) {
  const Value* input = inference.input(0);
  if (input == nullptr) return Status::ok();
  inference.set_result(input->type, input->shape);
  inference.result().contents = input->contents;
  inference.result().constant = follow(inference, Kind::kRelabel, 1);
  return Status::ok();
}

Status infer_cast(const Inference& inference) {
  const Value* input = inference.input(0);
  if (input == nullptr) return Status::ok();
  const auto type = static_cast<ElementType>(inference.op.integer("to", 0));
  inference.set_result(type, input->shape);
  if (type == TensorProto::INT64 || type == TensorProto::INT32) inference.result().contents = input->contents;
  inference.result().constant = follow(inference, Kind::kCast, 1);
  return Status::ok();
}

Status infer_multiply(const Inference& inference) {
  const SymShape* left = inference.shape(0);
  const SymShape* right = inference.shape(1);
  const ElementType type = inference.type(0) != 0 ? inference.type(0) : inference.type(1);
  inference.set_result(type, std::nullopt);
  if (left == nullptr || right == nullptr) return Status::ok();
  inference.result().shape = broadcast(inference, *left, *right);
  std::shared_ptr<ConstantExpr> expr = follow(inference, Kind::kMul, 2);
  if (expr == nullptr || expr->inputs[0]->type != expr->inputs[1]->type) return Status::ok();
  if (*element_count(expr->inputs[1]->dims) > *element_count(expr->inputs[0]->dims)) expr->main_input = 1;
  inference.result().constant = std::move(expr);
  return Status::ok();
}

Status infer_transpose(const Inference& inference) {
  inference.set_result(inference.type(0), std::nullopt);
  const SymShape* from = inference.shape(0);
  if (from == nullptr) return Status::ok();
  std::vector<int64_t> reversed(from->size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const std::vector<int64_t> permutation = inference.op.integers("perm").value_or(reversed);
  if (!std::is_permutation(permutation.begin(), permutation.end(), reversed.begin(), reversed.end())) {
    return malformed(
        inference,
        fmt::format("perm [{}] is no order of {} axes",
                    fmt::join(permutation.begin(), permutation.begin() + std::min(permutation.size(), kMaxRank), ", "),
                    from->size()));
  }
  SymShape shape;
  for (const int64_t axis : permutation) shape.push_back((*from)[static_cast<size_t>(axis)]);
  inference.set_result(inference.type(0), std::move(shape));
  if (std::shared_ptr<ConstantExpr> expr = follow(inference, Kind::kTranspose, 1)) {
    expr->permutation = permutation;
    inference.result().constant = std::move(expr);
  }
  return Status::ok();
}

Status infer_reshape(const Inference& inference) {
  const Value* input = inference.input(0);
  if (input == nullptr) return Status::ok();
  inference.set_result(input->type, std::nullopt);
  const Expected<const SymShape*> target = inference.contents(1);
  if (!target) return target.status();
  if (*target == nullptr) {
    // At least the rank may be known.
    const SymShape* rank = inference.shape(1);
    const bool is_known = rank != nullptr && rank->size() == 1 && !is_symbol((*rank)[0]);
    if (is_known && (*rank)[0] <= static_cast<int64_t>(kMaxRank)) {
      inference.result().shape = inference.unknown_shape(static_cast<size_t>((*rank)[0]));
    }
    return Status::ok();
  }
  const SymShape* from = inference.shape(0);
  inference.result().shape = reshaped(inference, from, **target);
  inference.result().contents = input->contents;
  const std::optional<SymShape>& to = inference.result().shape;
  if (from == nullptr || !to || !is_static(*from)) return Status::ok();
  if (!is_static(*to) || element_count(*from) != element_count(*to)) {
    if (!is_static(**target)) return Status::ok();
    return malformed(inference,
                     fmt::format("shape [{}] cannot become [{}]", fmt::join(*from, ", "), fmt::join(**target, ", ")));
  }
  inference.result().constant = follow(inference, Kind::kRelabel, 1);
  return Status::ok();
}

Status infer_unsqueeze(const Inference& inference) {
  const Value* input = inference.input(0);
  if (input == nullptr) return Status::ok();
  inference.set_result(input->type, std::nullopt);
  std::optional<std::vector<int64_t>> axes;
  if (inference.op.opset < 13) {
    axes = inference.op.integers("axes");
  } else {
    const Expected<const SymShape*> given = inference.contents(1);
    if (!given) return given.status();
    if (*given != nullptr) axes = **given;
  }
  if (!axes || !input->shape || axes->size() + input->shape->size() > kMaxRank) return Status::ok();
  const size_t rank = input->shape->size() + axes->size();
  std::vector<bool> is_new(rank, false);
  for (const int64_t axis : *axes) {
    if (is_symbol(axis)) return Status::ok();
    const std::optional<size_t> normal = normal_axis(axis, rank);
    if (!normal || is_new[*normal]) {
      return malformed(inference, fmt::format("axis {} of a result of rank {}, or given twice", axis, rank));
    }
    is_new[*normal] = true;
  }
  SymShape shape;
  for (size_t axis = 0, next = 0; axis < rank; ++axis) shape.push_back(is_new[axis] ? 1 : (*input->shape)[next++]);
  inference.set_result(input->type, std::move(shape));
  inference.result().contents = input->contents;
  inference.result().constant = follow(inference, Kind::kRelabel, 1);
  return Status::ok();
}

Status infer_dequantize(const Inference& inference) {
  const Value* input = inference.input(0);
  if (input == nullptr) return Status::ok();
  const auto named_type = static_cast<ElementType>(inference.op.integer("output_dtype", 0));
  inference.set_result(named_type != 0 ? named_type : inference.type(1), input->shape);
  std::shared_ptr<ConstantExpr> expr = follow(inference, Kind::kDequantizeLinear, 3);
  if (expr == nullptr || expr->inputs[1] == nullptr) return Status::ok();
  const std::optional<size_t> axis = normal_axis(inference.op.integer("axis", 1), expr->dims.size());
  expr->axis = axis.value_or(kMaxRank);
  expr->block_size = inference.op.integer("block_size", 0);
  const ConstantExpr& scale = *expr->inputs[1];
  const ConstantExpr* zero_point = expr->inputs[2].get();
  if (scale.type != expr->type) return Status::ok();
  if (!is_scale_shape(scale.dims, expr->dims, expr->axis, expr->block_size)) {
    return malformed(inference,
                     fmt::format("scale of shape [{}] does not fit [{}] on axis {}", fmt::join(scale.dims, ", "),
                                 fmt::join(expr->dims, ", "), inference.op.integer("axis", 1)));
  }
  const auto is_one_shape = [&] {
    return zero_point->dims == scale.dims || (element_count(zero_point->dims) == 1 && element_count(scale.dims) == 1);
  };
  if (zero_point != nullptr && (!is_one_shape() || zero_point->type != expr->inputs[0]->type)) {
    return malformed(inference, fmt::format("zero point is {} [{}]; allowed: {} [{}]",
                                            element_type_name(zero_point->type), fmt::join(zero_point->dims, ", "),
                                            element_type_name(expr->inputs[0]->type), fmt::join(scale.dims, ", ")));
  }
  inference.result().constant = std::move(expr);
  return Status::ok();
}

}  // namespace gemmc
