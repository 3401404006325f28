#include "compiler/onnx_declared.h"

#include <fmt/format.h>

#include "compiler/onnx_names.h"
#include "core/text.h"
#include "onnx.pb.h"

namespace gemmc {
namespace {

using ::onnx::TypeProto;

Expected<SymDim> declared_dim(const Value& value, size_t axis, const ::onnx::TensorShapeProto::Dimension& dim,
                              DimNames names, ValueTable& table) {
  const SymDim unknown = ValueTable::unknown(value, axis);
  if (dim.has_dim_param()) {
    // "?" is how some exporters write an unknown size: no name, since two of them need not be equal.
    if (dim.dim_param().empty() || dim.dim_param() == "?") return unknown;
    if (!is_printable_name(dim.dim_param(), kMaxDimNameBytes)) {
      return Status::invalid(
          fmt::format("tensor {} has a dimension named {}; allowed: up to {} bytes of printable UTF-8",
                      in_quotes(value.name), in_quotes(dim.dim_param()), kMaxDimNameBytes));
    }
    return names == DimNames::kFunction ? unknown : table.named(dim.dim_param());
  }
  if (dim.dim_value() < 0) {
    return Status::invalid(
        fmt::format("tensor {} has a dimension of {}; allowed: 0 and more", in_quotes(value.name), dim.dim_value()));
  }
  // Some tools write 0 for "unknown"; a run-time dimension is right for both.
  return dim.dim_value() == 0 ? unknown : SymDim{dim.dim_value()};
}

}  // namespace

Status declare(Value& value, const TypeProto& type, DimNames names, ValueTable& table) {
  if (type.value_case() != TypeProto::kTensorType && type.value_case() != TypeProto::kSparseTensorType) {
    return Status::ok();
  }
  const bool is_sparse = type.value_case() == TypeProto::kSparseTensorType;
  if (value.type == 0) value.type = is_sparse ? type.sparse_tensor_type().elem_type() : type.tensor_type().elem_type();
  if (!(is_sparse ? type.sparse_tensor_type().has_shape() : type.tensor_type().has_shape())) return Status::ok();
  const ::onnx::TensorShapeProto& written = is_sparse ? type.sparse_tensor_type().shape() : type.tensor_type().shape();
  const auto rank = static_cast<size_t>(written.dim_size());
  if (rank > kMaxRank) {
    return Status::invalid(
        fmt::format("tensor {} has rank {}; allowed: up to {}", in_quotes(value.name), rank, kMaxRank));
  }
  if (value.shape && value.shape->size() != rank) return Status::ok();
  SymShape shape;
  for (size_t axis = 0; axis < rank; ++axis) {
    Expected<SymDim> dim = declared_dim(value, axis, written.dim(static_cast<int>(axis)), names, table);
    if (!dim) return dim.status();
    const bool is_unknown = *dim == ValueTable::unknown(value, axis);
    const bool has_better = value.shape && (is_unknown || !is_symbol((*value.shape)[axis]));
    shape.push_back(has_better ? (*value.shape)[axis] : *dim);
  }
  value.shape = std::move(shape);
  return Status::ok();
}

}  // namespace gemmc
