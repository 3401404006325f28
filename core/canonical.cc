// Problem -> CanonicalProblem: see core/problem.h for what changes and why.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/dim_names.h"
#include "core/loop_form.h"
#include "core/problem.h"
#include "core/problem_shapes.h"
#include "core/text.h"

namespace gemmc {
namespace {

void drop_what_changes_no_code(Problem& p) {
  if (p.beta == 0.0f) p.c.reset();
  if (!p.c) p.beta = 1.0f;
  if (is_integer(p.dtype)) p.order = SummationOrder::kAny;  // sums modulo 2^bits have one value
  p.a.is_constant = false;
  if (p.c) p.c->is_constant = false;
  for (EpilogueStep& step : p.epilogue) {
    step.name.clear();
    if (step.op == "residual") step = {.op = "bias", .axis = "mn", .name = ""};
  }
  for_each_dim(p, [](Dim& dim) {
    std::vector<int64_t> likely = std::move(dim.likely);
    std::sort(likely.begin(), likely.end());
    likely.erase(std::unique(likely.begin(), likely.end()), likely.end());
    dim = dim.is_static() ? Dim::fixed(dim.size) : Dim::runtime(dim.name);
    dim.likely = std::move(likely);
  });
}

bool is_known_matrix(const Operand& operand) {
  return operand.has_known_rank && operand.shape.size() == 2 && operand.shape[0].is_static() &&
         operand.shape[1].is_static() &&
         std::none_of(operand.strides.begin(), operand.strides.end(),
                      [](const Stride& stride) { return stride.kind == Stride::Kind::kRuntime; });
}

bool is_matrix_or_less(const Operand& operand) { return operand.has_known_rank && operand.shape.size() <= 2; }

void one_dimensional_to_matrix(Problem& p) {
  if (p.a.has_known_rank && p.a.shape.size() == 1) {
    p.a.shape.insert(p.a.shape.begin(), Dim::fixed(1));
    if (!p.a.strides.empty()) p.a.strides.insert(p.a.strides.begin(), Stride::fixed(0));
    if (!p.y_strides.empty()) {
      const bool b_is_vector = p.b.shape.size() == 1;
      p.y_strides.insert(p.y_strides.end() - (b_is_vector ? 0 : 1), Stride::fixed(0));
    }
  }
  if (p.b.has_known_rank && p.b.shape.size() == 1) {
    p.b.shape.push_back(Dim::fixed(1));
    if (!p.b.strides.empty()) p.b.strides.push_back(Stride::fixed(1));
    if (!p.y_strides.empty()) p.y_strides.push_back(Stride::fixed(1));
  }
}

void give_shapes_to_unknown_ranks(Problem& p) {
  if (p.a.has_known_rank && p.b.has_known_rank) return;
  const Dim m = p.a.has_known_rank ? p.a.shape[p.a.shape.size() - 2] : Dim::runtime(fresh_dim_name(p, "m"));
  const Dim n = p.b.has_known_rank ? p.b.shape.back() : Dim::runtime(fresh_dim_name(p, "n"));
  const Dim k = p.b.has_known_rank   ? p.b.shape[p.b.shape.size() - 2]
                : p.a.has_known_rank ? p.a.shape.back()
                                     : Dim::runtime(fresh_dim_name(p, "k"));
  if (!p.a.has_known_rank && is_matrix_or_less(p.b)) {
    p.a = Operand{.shape = {m, k}};
    return;
  }
  const Dim batch = Dim::runtime(fresh_dim_name(p, "batch"));
  if (!p.b.has_known_rank && is_matrix_or_less(p.a)) {
    p.b = Operand{.shape = {batch, k, n}, .storage = p.b.storage};
    return;
  }
  // The caller flattens the batches of both operands; a batch stride of 0 broadcasts.
  const Strides batch_stride_given = {Stride::runtime(), Stride{}, Stride{}};
  p.a = Operand{.shape = {batch, m, k}, .strides = batch_stride_given};
  p.b = Operand{.shape = {batch, k, n}, .strides = batch_stride_given, .storage = p.b.storage};
}

void unify_k(Problem& p) { unify_dims(p, p.a.shape.back(), p.b.shape[p.b.shape.size() - 2]); }

// Removes the batch axes in which neither operand has more than one item, and each operand's outermost ones of size 1.
void drop_unit_batches(Problem& p) {
  const auto is_unit = [](const Operand& operand, size_t from_right) {
    return from_right > operand.shape.size() || operand.shape[operand.shape.size() - from_right].is(1);
  };
  const auto drop = [](auto& list, size_t from_right) {
    if (from_right <= list.size()) list.erase(list.end() - static_cast<std::ptrdiff_t>(from_right));
  };
  for (size_t from_right = std::max(p.a.shape.size(), p.b.shape.size()); from_right > 2; --from_right) {
    if (!is_unit(p.a, from_right) || !is_unit(p.b, from_right)) continue;
    for (Operand* operand : {&p.a, &p.b}) {
      drop(operand->shape, from_right);
      drop(operand->strides, from_right);
    }
    drop(p.y_strides, from_right);
  }
  for (Operand* operand : {&p.a, &p.b}) {
    while (operand->shape.size() > 2 && operand->shape.front().is(1)) {
      drop(operand->strides, operand->shape.size());
      operand->shape.erase(operand->shape.begin());
    }
  }
}

// Strides that say of each dimension what would be so without them.
bool are_dense(const Shape& shape, const Strides& strides) {
  for (size_t i = 0; i < strides.size(); ++i) {
    if (strides[i].kind == Stride::Kind::kRuntime) return false;
    if (strides[i].kind == Stride::Kind::kStatic && !shape[i].is(1) && strides[i].value != known_stride(shape, {}, i))
      return false;
  }
  return true;
}

void drop_dense_strides(Problem& p) {
  for (Operand* operand : {&p.a, &p.b, p.c ? &*p.c : nullptr}) {
    if (operand != nullptr && are_dense(operand->shape, operand->strides)) operand->strides.clear();
  }
  if (!p.y_strides.empty() && are_dense(output_shape(p), p.y_strides)) p.y_strides.clear();
}

// (2, 3, s, K) x (K, N) is (6, s, K) x (K, N), and (2, 3, 5, K) x (K, N) is (30, K) x (K, N): the elements of a dense A
// and Y stand in the same order.
void fold_static_batches_into_m(Problem& p) {
  const bool is_dense = p.a.strides.empty() && p.y_strides.empty();
  if (p.b.shape.size() != 2 || p.a.shape.size() < 3 || !is_dense || reads_rows(p.epilogue)) return;
  int64_t folded = 1;
  Shape runtime_batches;
  for (size_t i = 0; i + 2 < p.a.shape.size(); ++i) {
    if (!p.a.shape[i].is_static())
      runtime_batches.push_back(p.a.shape[i]);
    else if (__builtin_mul_overflow(folded, p.a.shape[i].size, &folded))
      return;
  }
  Dim m = p.a.shape[p.a.shape.size() - 2];
  if (runtime_batches.empty() && m.is_static()) {
    if (__builtin_mul_overflow(m.size, folded, &m.size)) return;
    folded = 1;
  }
  Shape shape;
  if (folded != 1) shape.push_back(Dim::fixed(folded));
  shape.insert(shape.end(), runtime_batches.begin(), runtime_batches.end());
  shape.push_back(m);
  shape.push_back(p.a.shape.back());
  p.a.shape = std::move(shape);
}

void simplify_c(Problem& p) {
  if (!p.c) return;
  const GemmDims dims = gemm_dims(p);
  if (!p.c->has_known_rank) {
    p.c = Operand{.shape = {dims.m, dims.n}, .strides = {Stride::runtime(), Stride::runtime()}};
    return;
  }
  if (!p.c->strides.empty()) return;
  Shape& c = p.c->shape;
  const bool all_one = std::all_of(c.begin(), c.end(), [](const Dim& dim) { return dim.is(1); });
  if (all_one)
    c.clear();
  else if (c.size() == 2 && c[0].is(1))
    c.erase(c.begin());
}

std::vector<std::string> rename_dims(Problem& p) {
  std::vector<std::string> names;
  for_each_dim(p, [&](Dim& dim) {
    if (dim.is_static()) return;
    const auto found = std::find(names.begin(), names.end(), dim.name);
    const size_t index = static_cast<size_t>(found - names.begin());
    if (found == names.end()) names.push_back(dim.name);
    dim.name = fmt::format("d{}", index);
  });
  return names;
}

// No schedule depends on how many items a batch has.
void drop_likely_values_of_batches(Problem& p) {
  const LoopForm form = loop_form(p);
  std::set<int> kept = dims_of_widths(form);
  kept.insert(form.m.dims.begin(), form.m.dims.end());
  for_each_dim(p, [&](Dim& dim) {
    if (!dim.likely.empty() && !kept.contains(static_cast<int>(dim_index(dim.name)))) dim.likely.clear();
  });
}

}  // namespace

CanonicalProblem canonical(const Problem& problem) {
  Problem p = problem;
  drop_what_changes_no_code(p);
  if (p.op == Operator::kMatMul) {
    one_dimensional_to_matrix(p);
    give_shapes_to_unknown_ranks(p);
    unify_k(p);
    drop_unit_batches(p);
    drop_dense_strides(p);
    fold_static_batches_into_m(p);
  } else {
    drop_dense_strides(p);
    simplify_c(p);
  }
  p.b.is_constant = p.b.is_constant && is_known_matrix(p.b);
  std::vector<std::string> names = rename_dims(p);
  drop_likely_values_of_batches(p);
  return {std::move(p), std::move(names)};
}

size_t dim_index(std::string_view canonical_name) {
  return static_cast<size_t>(parse_int64(canonical_name.substr(1)).value_or(0));
}

}  // namespace gemmc
