#include "core/problem_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace gemmc {

int64_t saturating_product(int64_t left, int64_t right) {
  int64_t product = 0;
  return __builtin_mul_overflow(left, right, &product) ? std::numeric_limits<int64_t>::max() : product;
}

std::string dim_text(const Dim& dim) {
  return dim.is_static() ? std::to_string(dim.size) : fmt::format("?{}", dim.name);
}

std::string shape_text(const Shape& shape) {
  std::vector<std::string> dims;
  for (const Dim& dim : shape) dims.push_back(dim_text(dim));
  return fmt::format("({})", fmt::join(dims, ", "));
}

std::string shape_text(std::span<const int64_t> shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

bool same_size(const Dim& left, const Dim& right) {
  return left.name == right.name && (!left.is_static() || left.size == right.size);
}

GemmDims gemm_dims(const Problem& p) {
  return {.m = p.a.shape[p.trans_a ? 1 : 0],
          .n = p.b.shape[p.trans_b ? 0 : 1],
          .k = p.a.shape[p.trans_a ? 0 : 1],
          .k_of_b = p.b.shape[p.trans_b ? 1 : 0]};
}

Shape output_shape(const Problem& p) {
  if (p.op == Operator::kGemm) {
    const GemmDims dims = gemm_dims(p);
    return {dims.m, dims.n};
  }
  const Shape& a = p.a.shape;
  const Shape& b = p.b.shape;
  Shape y;
  const size_t batch_rank = std::max<size_t>(std::max(a.size(), b.size()), 2) - 2;
  for (size_t from_right = batch_rank + 2; from_right > 2; --from_right) {
    const bool in_a = from_right <= a.size();
    const bool in_b = from_right <= b.size();
    const Dim one = Dim::fixed(1);
    const Dim& of_a = in_a ? a[a.size() - from_right] : one;
    const Dim& of_b = in_b ? b[b.size() - from_right] : one;
    if (of_a.is(1) || same_size(of_a, of_b)) {
      y.push_back(of_b);
    } else if (of_b.is(1)) {
      y.push_back(of_a);
    } else if (of_a.is_static() || of_b.is_static()) {
      // A static size other than 1 meets a run-time one, which must then be 1 or the same.
      y.push_back(of_a.is_static() ? of_a : of_b);
    } else {
      y.push_back(Dim::runtime(fmt::format("max({},{})", of_a.name, of_b.name)));
    }
  }
  if (a.size() > 1) y.push_back(a[a.size() - 2]);
  if (b.size() > 1) y.push_back(b[b.size() - 1]);
  return y;
}

std::optional<int64_t> known_stride(const Shape& shape, const Strides& strides, size_t dimension) {
  const Stride given = strides.empty() ? Stride{} : strides[dimension];
  if (given.kind == Stride::Kind::kStatic) return given.value;
  if (given.kind == Stride::Kind::kRuntime) return std::nullopt;
  int64_t dense = 1;
  for (size_t later = dimension + 1; later < shape.size(); ++later) {
    if (!shape[later].is_static()) return std::nullopt;
    dense = saturating_product(dense, shape[later].size);
  }
  return dense;
}

Status check_y_elements_apart(const Shape& y, const Strides& strides) {
  if (std::any_of(y.begin(), y.end(), [](const Dim& dim) { return dim.is(0); })) return Status::ok();
  struct Axis {
    __int128 extent, stride;
  };
  std::vector<Axis> axes;
  for (size_t i = 0; i < y.size(); ++i) {
    const std::optional<int64_t> stride = known_stride(y, strides, i);
    if (y[i].is(1) || !stride) continue;
    if (*stride == 0) return Status::invalid("Y has a stride of 0; allowed: strides that keep its elements apart");
    if (y[i].is_static()) axes.push_back({y[i].size, *stride < 0 ? -static_cast<__int128>(*stride) : *stride});
  }
  std::sort(axes.begin(), axes.end(), [](const Axis& l, const Axis& r) { return l.stride < r.stride; });
  __int128 span = 0;  // from the first to the last place that the axes so far reach
  for (const Axis& axis : axes) {
    if (axis.stride <= span) {
      return Status::invalid("Y has strides under which its elements overlap; allowed: strides that keep them apart");
    }
    span += (axis.extent - 1) * axis.stride;
  }
  return Status::ok();
}

}  // namespace gemmc
