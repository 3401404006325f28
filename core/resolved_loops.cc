#include "core/resolved_loops.h"

#include <fmt/format.h>

#include "core/problem_shapes.h"

namespace gemmc {
namespace {

int64_t evaluate(const SizeExpr& expr, std::span<const int64_t> dims) {
  int64_t value = expr.factor;
  for (int dim : expr.dims) {
    if (dims[dim] == 0) return 0;
    value = saturating_product(value, dims[dim]);
  }
  return value;
}

}  // namespace

Expected<ResolvedLoops> resolve(const LoopForm& form, std::span<const int64_t> dims, std::span<const int64_t> strides) {
  for (int64_t dim : dims) {
    if (dim < 0) return Status::invalid(fmt::format("a run-time dimension is {}; allowed: 0 and more", dim));
  }
  const auto number = [&](const StrideExpr& stride) {
    return stride.is_runtime() ? strides[stride.runtime_index] : evaluate(stride.size, dims);
  };
  ResolvedLoops loops;
  loops.m = evaluate(form.m, dims);
  loops.n = evaluate(form.n, dims);
  loops.k = evaluate(form.k, dims);
  for (const BatchAxis& axis : form.batch) {
    const int64_t in_a = evaluate(axis.a_extent, dims);
    const int64_t in_b = evaluate(axis.b_extent, dims);
    if (in_a != in_b && in_a != 1 && in_b != 1) {
      return Status::invalid(
          fmt::format("batch dimension mismatch: {} in A, {} in B; allowed: equal, or one of them 1", in_a, in_b));
    }
    loops.batch.push_back({in_a == 1 ? in_b : in_a, in_a == 1 ? 0 : number(axis.a), in_b == 1 ? 0 : number(axis.b), 0});
  }
  int64_t dense = saturating_product(loops.m, loops.n);
  for (size_t i = loops.batch.size(); i-- > 0;) {
    loops.batch[i].y = form.y_batch.empty() ? dense : number(form.y_batch[i]);
    dense = saturating_product(dense, loops.batch[i].extent);
  }
  loops.a_row = number(form.a.row);
  loops.a_col = number(form.a.col);
  loops.b_row = number(form.b.row);
  loops.b_col = number(form.b.col);
  if (form.has_c) {
    loops.c_row = number(form.c.row);
    loops.c_col = number(form.c.col);
  }
  loops.y_row = number(form.y.row);
  loops.y_col = number(form.y.col);
  return loops;
}

}  // namespace gemmc
