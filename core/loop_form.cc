#include "core/loop_form.h"

#include <algorithm>
#include <map>

#include "core/problem_shapes.h"

namespace gemmc {
namespace {

class Builder {
 public:
  explicit Builder(const Problem& p) : p_(p) {}

  LoopForm build() {
    const std::vector<StrideExpr> a = strides(p_.a);
    const std::vector<StrideExpr> b = strides(p_.b);
    form_.a = matrix_strides(a, p_.trans_a);
    form_.b = matrix_strides(b, p_.trans_b);
    const Shape& sa = p_.a.shape;
    const Shape& sb = p_.b.shape;
    form_.m = size(sa[sa.size() - (p_.trans_a ? 1 : 2)]);
    form_.k = size(sa[sa.size() - (p_.trans_a ? 2 : 1)]);
    form_.n = size(sb[sb.size() - (p_.trans_b ? 2 : 1)]);
    add_batches(a, b);
    add_c();
    fold_batches_into_m();
    add_y();
    add_epilogue();
    form_.dim_count = static_cast<int>(dim_index_.size());
    return std::move(form_);
  }

 private:
  SizeExpr size(const Dim& dim) {
    if (dim.is_static()) return SizeExpr::fixed(dim.size);
    const int index = dim_index_.emplace(dim.name, static_cast<int>(dim_index_.size())).first->second;
    return {1, {index}};
  }

  StrideExpr stride(const Stride& given, const SizeExpr& dense) {
    switch (given.kind) {
      case Stride::Kind::kStatic:
        return {-1, SizeExpr::fixed(given.value)};
      case Stride::Kind::kRuntime:
        return {form_.stride_count++, {}};
      case Stride::Kind::kDense:
        break;
    }
    return {-1, dense};
  }

  // One per dimension. Dimensions get their argument numbers here, outermost first.
  std::vector<StrideExpr> strides(const Operand& operand) {
    std::vector<SizeExpr> sizes;
    for (const Dim& dim : operand.shape) sizes.push_back(size(dim));
    std::vector<SizeExpr> dense(sizes.size(), SizeExpr::fixed(1));
    for (size_t i = sizes.size(); i-- > 1;) dense[i - 1] = dense[i] * sizes[i];
    std::vector<StrideExpr> result;
    for (size_t i = 0; i < sizes.size(); ++i) {
      result.push_back(stride(operand.strides.empty() ? Stride{} : operand.strides[i], dense[i]));
    }
    return result;
  }

  static MatrixStrides matrix_strides(const std::vector<StrideExpr>& all, bool transposed) {
    const StrideExpr& outer = all[all.size() - 2];
    const StrideExpr& inner = all[all.size() - 1];
    return transposed ? MatrixStrides{inner, outer} : MatrixStrides{outer, inner};
  }

  void add_batches(const std::vector<StrideExpr>& a, const std::vector<StrideExpr>& b) {
    const size_t rank = std::max(a.size(), b.size());
    for (size_t from_right = rank; from_right > 2; --from_right) {
      BatchAxis axis;
      const auto fill = [&](const Operand& operand, const std::vector<StrideExpr>& of, SizeExpr& extent,
                            StrideExpr& to) {
        const bool exists = from_right <= of.size();
        extent = exists ? size(operand.shape[of.size() - from_right]) : SizeExpr::fixed(1);
        to = exists ? of[of.size() - from_right] : StrideExpr{-1, SizeExpr::fixed(0)};
      };
      fill(p_.a, a, axis.a_extent, axis.a);
      fill(p_.b, b, axis.b_extent, axis.b);
      form_.batch.push_back(axis);
    }
  }

  // Where B is one matrix and A and Y are dense, all items of the batch are rows of one product.
  void fold_batches_into_m() {
    const bool a_is_dense = std::all_of(p_.a.strides.begin(), p_.a.strides.end(),
                                        [](const Stride& s) { return s.kind == Stride::Kind::kDense; });
    const bool b_is_one = std::all_of(form_.batch.begin(), form_.batch.end(),
                                      [](const BatchAxis& axis) { return axis.b_extent == SizeExpr::fixed(1); });
    if (!a_is_dense || !b_is_one || !p_.y_strides.empty() || reads_rows(p_.epilogue)) return;
    for (const BatchAxis& axis : form_.batch) form_.m = axis.a_extent * form_.m;
    form_.batch.clear();
  }

  void add_c() {
    form_.has_c = p_.c.has_value();
    if (!form_.has_c) return;
    const StrideExpr zero{-1, SizeExpr::fixed(0)};
    form_.c = {zero, zero};
    const std::vector<StrideExpr> c = strides(*p_.c);
    const Shape& shape = p_.c->shape;
    if (!shape.empty() && !shape.back().is(1)) form_.c.col = c.back();
    if (shape.size() == 2 && !shape.front().is(1)) form_.c.row = c.front();
  }

  void add_y() {
    const size_t batch_rank = form_.batch.size();
    const auto given = [&](size_t i) { return p_.y_strides.empty() ? Stride{} : p_.y_strides[i]; };
    const bool batch_is_dense = batch_rank == 0 || given(0).kind == Stride::Kind::kDense;
    if (!batch_is_dense) {
      for (size_t i = 0; i < batch_rank; ++i) form_.y_batch.push_back(stride(given(i), {}));
    }
    form_.y.row = stride(given(batch_rank), form_.n);
    form_.y.col = stride(given(batch_rank + 1), SizeExpr::fixed(1));
  }

  void add_epilogue() {
    const StrideExpr zero{-1, SizeExpr::fixed(0)}, one{-1, SizeExpr::fixed(1)};
    for (const EpilogueStep& step : p_.epilogue) {
      switch (operand_kind(step)) {
        case EpilogueOperandKind::kNone:
          break;
        case EpilogueOperandKind::kScalar:
          form_.epilogue.push_back({{zero, zero}});
          break;
        case EpilogueOperandKind::kColumns:
          form_.epilogue.push_back({{zero, one}});
          break;
        case EpilogueOperandKind::kRows:
          form_.epilogue.push_back({{one, zero}});
          break;
        case EpilogueOperandKind::kFull:
          form_.epilogue.push_back({form_.y, true});
          break;
      }
    }
  }

  const Problem& p_;
  LoopForm form_;
  std::map<std::string, int> dim_index_;
};

}  // namespace

SizeExpr operator*(const SizeExpr& left, const SizeExpr& right) {
  SizeExpr product{saturating_product(left.factor, right.factor), left.dims};
  if (product.factor == 0) return SizeExpr::fixed(0);
  product.dims.insert(product.dims.end(), right.dims.begin(), right.dims.end());
  return product;
}

LoopForm loop_form(const Problem& canonical_problem) { return Builder(canonical_problem).build(); }

bool may_be_y(const LoopForm& form, const EpilogueOperandForm& operand) {
  const bool has_rows = operand.strides.row.static_value() != 0 || form.m.static_value() == 1;
  const bool has_cols = operand.strides.col.static_value() != 0 || form.n.static_value() == 1;
  return has_rows && has_cols && (operand.has_batch || form.batch.empty());
}

std::set<int> dims_of_widths(const LoopForm& form) {
  std::set<int> dims;
  const auto add = [&](const SizeExpr& size) { dims.insert(size.dims.begin(), size.dims.end()); };
  add(form.n);
  add(form.k);
  for (const MatrixStrides& matrix : {form.a, form.b, form.c, form.y}) {
    add(matrix.row.size);
    add(matrix.col.size);
  }
  return dims;
}

}  // namespace gemmc
