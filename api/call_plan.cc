#include "api/call_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/problem_shapes.h"

namespace gemmc {
namespace {

using Sizes = std::vector<int64_t>;

// Nothing where the product passes 2^63-1. An empty product of sizes is 1; a size of 0 makes the whole 0.
std::optional<int64_t> product(const Sizes& sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  int64_t value = 1;
  for (int64_t size : sizes) {
    if (__builtin_mul_overflow(value, size, &value)) return std::nullopt;
  }
  return value;
}

Sizes without_leading_ones(const Sizes& sizes) {
  return Sizes(std::find_if(sizes.begin(), sizes.end(), [](int64_t size) { return size != 1; }), sizes.end());
}

Layout dense_layout(Sizes extents) {
  Layout layout;
  layout.strides.assign(extents.size(), 1);
  layout.span = product(extents).value_or(0);
  // Strides of an array without elements address nothing, so they need not be right where they would overflow.
  for (size_t i = extents.size(); i-- > 1;) {
    if (__builtin_mul_overflow(layout.strides[i], extents[i], &layout.strides[i - 1])) layout.strides[i - 1] = 0;
  }
  layout.extents = std::move(extents);
  return layout;
}

// Finds `first` and `span`. Fails where the buffer would pass 2^63-1 bytes.
Expected<Layout> strided_layout(Sizes extents, Sizes strides, const std::string& operand, DType dtype) {
  Layout layout;
  if (product(extents) != 0) {
    __int128 lowest = 0, highest = 0;
    for (size_t i = 0; i < extents.size(); ++i) {
      const __int128 reach = static_cast<__int128>(extents[i] - 1) * strides[i];
      (reach < 0 ? lowest : highest) += reach;
    }
    const __int128 span = highest - lowest + 1;
    if (span > std::numeric_limits<int64_t>::max() / static_cast<int64_t>(size_bytes(dtype))) {
      return Status::invalid(fmt::format("{} of shape {} with strides {} spans more than 2^63-1 bytes", operand,
                                         shape_text(extents), shape_text(strides)));
    }
    layout.first = static_cast<int64_t>(-lowest);
    layout.span = static_cast<int64_t>(span);
  }
  layout.extents = std::move(extents);
  layout.strides = std::move(strides);
  return layout;
}

// The strides that `given` describes; each run-time one is chosen to reach just beyond what the inner dimensions span.
Sizes choose_strides(const Strides& given, const Sizes& extents) {
  Sizes dense = dense_layout(extents).strides;
  if (given.empty()) return dense;
  Sizes strides(extents.size());
  __int128 inner_span = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    switch (given[i].kind) {
      case Stride::Kind::kDense:
        strides[i] = dense[i];
        break;
      case Stride::Kind::kStatic:
        strides[i] = given[i].value;
        break;
      case Stride::Kind::kRuntime:
        strides[i] = static_cast<int64_t>(inner_span);
        break;
    }
    const __int128 reach = static_cast<__int128>(std::max<int64_t>(extents[i] - 1, 0)) * strides[i];
    inner_span += reach < 0 ? -reach : reach;
    // Only an operand without elements gets here without being refused by strided_layout().
    if (inner_span > std::numeric_limits<int64_t>::max()) inner_span = 1;
  }
  return strides;
}

// One batch axis of a MatMul: the extents meet from the right, and an operand without the axis has 1 there.
struct BatchExtents {
  int64_t of_a, of_b;
  bool broadcast() const { return of_a == of_b || of_a == 1 || of_b == 1; }
  int64_t of_y() const { return of_a == 1 ? of_b : of_a; }
};

// Outermost first.
std::vector<BatchExtents> batch_extents(const Sizes& a, const Sizes& b) {
  std::vector<BatchExtents> axes;
  const auto extent = [](const Sizes& shape, size_t from_right) {
    return from_right <= shape.size() ? shape[shape.size() - from_right] : 1;
  };
  for (size_t from_right = std::max(a.size(), b.size()); from_right > 2; --from_right) {
    axes.push_back({extent(a, from_right), extent(b, from_right)});
  }
  return axes;
}

// Makes the plan in steps; each step may fail.
class Planner {
 public:
  Planner(const Problem& problem, const ArrayShapes& shapes, std::map<std::string, int64_t> bound)
      : problem_(problem), shapes_(shapes), bound_(std::move(bound)) {}

  Expected<CallPlan> make() {
    GEMMC_RETURN_IF_ERROR(validate(problem_));
    GEMMC_RETURN_IF_ERROR(refuse_unbuilt(problem_));
    GEMMC_RETURN_IF_ERROR(bind_operands());
    GEMMC_RETURN_IF_ERROR(problem_.op == Operator::kGemm ? shape_gemm() : shape_matmul());
    if (const auto elements = product(plan_.y_shape);
        !elements ||
        *elements > std::numeric_limits<int64_t>::max() / static_cast<int64_t>(size_bytes(problem_.dtype))) {
      return Status::invalid(fmt::format("Y of shape {} is larger than 2^63-1 bytes", shape_text(plan_.y_shape)));
    }
    plan_.canonical = canonical(problem_);
    plan_.dims.assign(plan_.canonical.dim_names.size(), 0);
    if (problem_.a.has_known_rank && problem_.b.has_known_rank) {
      for (size_t i = 0; i < plan_.dims.size(); ++i) plan_.dims[i] = bound_.at(plan_.canonical.dim_names[i]);
    } else {
      flatten();
    }
    GEMMC_RETURN_IF_ERROR(lay_out());
    GEMMC_RETURN_IF_ERROR(lay_out_epilogue());
    return std::move(plan_);
  }

 private:
  Status bind_operands() {
    const auto bind = [&](const Operand& operand, const Sizes& actual, const std::string& name) {
      return operand.has_known_rank ? bind_shape(operand.shape, actual, name, bound_) : Status::ok();
    };
    GEMMC_RETURN_IF_ERROR(bind(problem_.a, shapes_.a, "A"));
    GEMMC_RETURN_IF_ERROR(bind(problem_.b, shapes_.b, "B"));
    if (problem_.c.has_value() != shapes_.c.has_value()) {
      return Status::invalid(problem_.c ? "C is not given, but the problem has one"
                                        : "C is given, but the problem has none");
    }
    return problem_.c ? bind(*problem_.c, *shapes_.c, "C") : Status::ok();
  }

  Status shape_gemm() {
    const int64_t m = shapes_.a[problem_.trans_a ? 1 : 0];
    const int64_t n = shapes_.b[problem_.trans_b ? 0 : 1];
    plan_.y_shape = {m, n};
    if (!shapes_.c) return Status::ok();
    const Sizes& c = *shapes_.c;
    const bool fits = c.size() <= 2 && (c.empty() || c.back() == 1 || c.back() == n) &&
                      (c.size() < 2 || c.front() == 1 || c.front() == m);
    if (fits) return Status::ok();
    return Status::invalid(
        fmt::format("C has shape {}; allowed: anything that broadcasts to (M, N) = ({}, {})", shape_text(c), m, n));
  }

  Status shape_matmul() {
    const Sizes& a = shapes_.a;
    const Sizes& b = shapes_.b;
    if (a.empty() || b.empty()) {
      return Status::invalid(
          fmt::format("MatMul operand {} is a scalar; allowed: rank 1 and more", a.empty() ? "A" : "B"));
    }
    const int64_t k = a.back();
    const int64_t k_of_b = b.size() == 1 ? b[0] : b[b.size() - 2];
    if (k != k_of_b) {
      return Status::invalid(fmt::format("K dimension mismatch: {} in A {}, {} in B {}; allowed: equal", k,
                                         shape_text(a), k_of_b, shape_text(b)));
    }
    for (const BatchExtents& axis : batch_extents(a, b)) {
      if (!axis.broadcast()) {
        return Status::invalid(
            fmt::format("batch dimension mismatch: {} in A {}, {} in B {}; allowed: equal, or one of them 1", axis.of_a,
                        shape_text(a), axis.of_b, shape_text(b)));
      }
      plan_.y_shape.push_back(axis.of_y());
    }
    if (a.size() > 1) plan_.y_shape.push_back(a[a.size() - 2]);
    if (b.size() > 1) plan_.y_shape.push_back(b.back());
    return Status::ok();
  }

  // Run-time dimensions, batch strides and outer axes where a rank was unknown; see give_shapes_to_unknown_ranks().
  void flatten() {
    const Sizes& a = shapes_.a;
    const Sizes& b = shapes_.b;
    const int64_t m = a.size() == 1 ? 1 : a[a.size() - 2];
    const int64_t n = b.size() == 1 ? 1 : b.back();
    const int64_t k = a.back();
    const size_t a_rank = plan_.canonical.problem.a.shape.size();
    const size_t b_rank = plan_.canonical.problem.b.shape.size();
    if (b_rank == 2) {
      Sizes rows = a;
      rows.pop_back();
      assign(plan_.canonical.problem.a, {saturated(rows), k});
      assign(plan_.canonical.problem.b, {k, n});
    } else if (a_rank == 2) {
      const Sizes batches(b.begin(), b.end() - std::min<std::ptrdiff_t>(b.size(), 2));
      assign(plan_.canonical.problem.a, {m, k});
      assign(plan_.canonical.problem.b, {saturated(batches), k, n});
    } else {
      flatten_batches(m, n, k);
    }
  }

  // One batch count and one stride per operand for the longest run of inner batch axes that allows it; the axes outside
  // of it are walked by the caller.
  void flatten_batches(int64_t m, int64_t n, int64_t k) {
    struct Axis {
      int64_t extent, a, b, y;
    };
    std::vector<Axis> axes;  // innermost first, those of extent 1 left out
    int64_t a_items = 1, b_items = 1, y_items = 1;
    const std::vector<BatchExtents> all = batch_extents(shapes_.a, shapes_.b);
    for (size_t i = all.size(); i-- > 0;) {
      const auto [of_a, of_b] = all[i];
      const int64_t extent = all[i].of_y();
      if (extent != 1) axes.push_back({extent, of_a == 1 ? 0 : a_items, of_b == 1 ? 0 : b_items, y_items});
      a_items = saturated({a_items, of_a});
      b_items = saturated({b_items, of_b});
      y_items = saturated({y_items, extent});
    }
    int64_t batch = 1;
    size_t inner = 0;
    const int64_t a_stride = axes.empty() ? 0 : axes[0].a;
    const int64_t b_stride = axes.empty() ? 0 : axes[0].b;
    while (inner < axes.size() && axes[inner].a == saturated({a_stride, batch}) &&
           axes[inner].b == saturated({b_stride, batch})) {
      batch = saturated({batch, axes[inner++].extent});
    }
    assign(plan_.canonical.problem.a, {batch, m, k});
    assign(plan_.canonical.problem.b, {batch, k, n});
    const int64_t a_item = saturated({m, k}), b_item = saturated({k, n}), y_item = saturated({m, n});
    batch_strides_ = {saturated({a_stride, a_item}), saturated({b_stride, b_item})};

    for (size_t i = axes.size(); i-- > inner;) {
      plan_.outer.push_back({axes[i].extent, saturated({axes[i].a, a_item}), saturated({axes[i].b, b_item}),
                             saturated({axes[i].y, y_item})});
    }
  }

  // For counts that are too large only where an operand has no elements.
  static int64_t saturated(const Sizes& sizes) { return product(sizes).value_or(std::numeric_limits<int64_t>::max()); }

  void assign(const Operand& operand, const Sizes& actual) {
    for (size_t i = 0; i < actual.size(); ++i) {
      if (!operand.shape[i].is_static()) plan_.dims[dim_index(operand.shape[i].name)] = actual[i];
    }
  }

  Sizes extents_of(const Operand& operand) const {
    Sizes extents;
    for (const Dim& dim : operand.shape)
      extents.push_back(dim.is_static() ? dim.size : plan_.dims[dim_index(dim.name)]);
    return extents;
  }

  // `strides`: for each dimension of the canonical operand. Run-time ones become arguments of the call.
  void pass_strides(const Strides& given, const Sizes& strides) {
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].kind == Stride::Kind::kRuntime) plan_.strides.push_back(strides[i]);
    }
  }

  Status lay_out() {
    const Problem& canonical_problem = plan_.canonical.problem;
    if (batch_strides_.empty()) {
      GEMMC_RETURN_IF_ERROR(lay_out_operand(canonical_problem.a, "A", plan_.a));
      GEMMC_RETURN_IF_ERROR(lay_out_operand(canonical_problem.b, "B", plan_.b));
    } else {
      plan_.a = dense_layout(shapes_.a);
      plan_.b = dense_layout(shapes_.b);
      plan_.strides = batch_strides_;
    }
    if (canonical_problem.c) {
      plan_.c.emplace();
      if (problem_.c->has_known_rank) {
        GEMMC_RETURN_IF_ERROR(lay_out_operand(*canonical_problem.c, "C", *plan_.c));
      } else {
        lay_out_c_of_unknown_rank();
      }
    }
    return lay_out_y();
  }

  Status lay_out_operand(const Operand& operand, const std::string& name, Layout& layout) {
    const Sizes extents = extents_of(operand);
    const Sizes strides = choose_strides(operand.strides, extents);
    pass_strides(operand.strides, strides);
    if (operand.strides.empty()) {
      layout = dense_layout(extents);
      return Status::ok();
    }
    Expected<Layout> made = strided_layout(extents, strides, name, stored_dtype(operand, problem_.dtype));
    if (!made) return made.status();
    layout = *std::move(made);
    return Status::ok();
  }

  void lay_out_c_of_unknown_rank() {
    const Sizes& c = *shapes_.c;
    plan_.c = dense_layout(c);
    const int64_t columns = c.empty() ? 1 : c.back();
    const int64_t rows = c.size() < 2 ? 1 : c.front();
    plan_.strides.push_back(rows == 1 ? 0 : columns);
    plan_.strides.push_back(columns == 1 ? 0 : 1);
  }

  Status lay_out_y() {
    const Problem& canonical_problem = plan_.canonical.problem;
    if (canonical_problem.y_strides.empty()) {
      plan_.y = dense_layout(plan_.y_shape);
      return Status::ok();
    }
    // Y's extents as its strides count them: one per batch axis, then M and N.
    const Sizes a = extents_of(canonical_problem.a);
    const Sizes b = extents_of(canonical_problem.b);
    Sizes extents;
    for (const BatchExtents& axis : batch_extents(a, b)) extents.push_back(axis.of_y());
    extents.push_back(a[a.size() - (canonical_problem.trans_a ? 1 : 2)]);
    extents.push_back(b[b.size() - (canonical_problem.trans_b ? 2 : 1)]);
    const Sizes strides = choose_strides(canonical_problem.y_strides, extents);
    pass_strides(canonical_problem.y_strides, strides);
    Shape fixed_extents;
    Strides fixed_strides;
    for (size_t i = 0; i < extents.size(); ++i) {
      fixed_extents.push_back(Dim::fixed(extents[i]));
      fixed_strides.push_back(Stride::fixed(strides[i]));
    }
    GEMMC_RETURN_IF_ERROR(check_y_elements_apart(fixed_extents, fixed_strides));
    Expected<Layout> made = strided_layout(extents, strides, "Y", problem_.dtype);
    if (!made) return made.status();
    plan_.y = *std::move(made);
    return Status::ok();
  }

  Status lay_out_epilogue() {
    size_t index = 0;
    for (const EpilogueStep& step : problem_.epilogue) {
      const EpilogueOperandKind kind = operand_kind(step);
      if (kind == EpilogueOperandKind::kNone) continue;
      const std::string operand = epilogue_operand_text(problem_.epilogue, index);
      if (index == shapes_.epilogue.size()) return Status::invalid(operand + " is not given");
      if (kind == EpilogueOperandKind::kColumns && shapes_.b.size() == 1) {
        return Status::invalid(
            fmt::format("epilogue step '{}' has axis 'n', but B is a vector; allowed: an axis of Y", step.op));
      }
      const Sizes& actual = shapes_.epilogue[index++];
      const Sizes& y = plan_.y_shape;
      Sizes allowed;
      if (kind == EpilogueOperandKind::kColumns) allowed = {y.back()};
      if (kind == EpilogueOperandKind::kRows) allowed = {y[y.size() - (problem_.b.shape.size() == 1 ? 1 : 2)]};
      if (kind == EpilogueOperandKind::kFull) allowed = y;
      // Models give their constants axes of size 1 in front.
      if (without_leading_ones(actual) != without_leading_ones(allowed)) {
        return Status::invalid(
            fmt::format("{} has shape {}; allowed: {}", operand, shape_text(actual), shape_text(allowed)));
      }
      plan_.epilogue.push_back(kind == EpilogueOperandKind::kFull ? plan_.y : dense_layout(allowed));
    }
    if (index == shapes_.epilogue.size()) return Status::ok();
    return Status::invalid(
        fmt::format("{} operands of the epilogue are given; allowed: {}", shapes_.epilogue.size(), index));
  }

  const Problem& problem_;
  const ArrayShapes& shapes_;
  std::map<std::string, int64_t> bound_;
  Sizes batch_strides_;  // of A and B, where both are flattened
  CallPlan plan_;
};

}  // namespace

int64_t Layout::element_count() const { return product(extents).value_or(0); }

bool Layout::is_dense() const {
  int64_t expected = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    if (extents[i] == 0) return true;
    if (extents[i] != 1 && strides[i] != expected) return false;
    expected *= extents[i];
  }
  return true;
}

Status bind_shape(const Shape& shape, const Sizes& actual, const std::string& operand,
                  std::map<std::string, int64_t>& bound) {
  const auto mismatch = [&](const std::string& why) {
    return Status::invalid(
        fmt::format("{} has shape {}; allowed: {}{}", operand, shape_text(actual), shape_text(shape), why));
  };
  if (shape.size() != actual.size()) return mismatch("");
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].is_static()) {
      if (shape[i].size != actual[i]) return mismatch("");
      continue;
    }
    const auto [place, is_new] = bound.emplace(shape[i].name, actual[i]);
    if (!is_new && place->second != actual[i]) {
      return mismatch(fmt::format(" with '{}' = {}", shape[i].name, place->second));
    }
  }
  return Status::ok();
}

Expected<CallPlan> plan_call(const Problem& problem, const ArrayShapes& shapes, std::map<std::string, int64_t> bound) {
  return Planner(problem, shapes, std::move(bound)).make();
}

}  // namespace gemmc
