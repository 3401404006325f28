#include "api/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gemmc {
namespace {

struct Axis {
  int64_t extent;
  __int128 stride;  // in bytes
};

// The elements of an operand: first + sum of index * stride. No axis has an extent of 0.
struct Elements {
  __int128 first;
  int64_t bytes;  // of an element
  std::vector<Axis> axes;

  // The byte addresses of the outermost elements: each index at one of its ends.
  std::vector<__int128> corners() const {
    std::vector<__int128> result = {first};
    for (const Axis& axis : axes) {
      if (axis.extent == 1 || axis.stride == 0) continue;
      for (size_t i = result.size(); i-- > 0;) result.push_back(result[i] + (axis.extent - 1) * axis.stride);
    }
    return result;
  }

  // Whether some element of this operand has bytes in [address, address + bytes). Sure only where each stride reaches
  // beyond what the smaller ones span; "no" where it is not.
  bool contains(__int128 address) const {
    std::vector<Axis> by_stride;
    __int128 rest = address - first;
    for (Axis axis : axes) {
      if (axis.extent == 1 || axis.stride == 0) continue;
      if (axis.stride < 0) {  // counted from its other end
        rest -= (axis.extent - 1) * axis.stride;
        axis.stride = -axis.stride;
      }
      by_stride.push_back(axis);
    }
    std::sort(by_stride.begin(), by_stride.end(), [](const Axis& l, const Axis& r) { return l.stride > r.stride; });
    for (const Axis& axis : by_stride) {
      if (rest <= -bytes) return false;
      const __int128 index = std::min<__int128>(rest < 0 ? 0 : rest / axis.stride, axis.extent - 1);
      rest -= index * axis.stride;
    }
    return rest > -bytes && rest < bytes;
  }
};

bool overlap(const Elements& left, const Elements& right) {
  const auto meets = [](const Elements& of, const Elements& with) {
    const std::vector<__int128> corners = of.corners();
    return std::any_of(corners.begin(), corners.end(), [&](__int128 corner) { return with.contains(corner); });
  };
  return meets(left, right) || meets(right, left);
}

bool is_same(const Elements& left, const Elements& right) {
  return left.first == right.first &&
         std::equal(left.axes.begin(), left.axes.end(), right.axes.begin(), right.axes.end(),
                    [](const Axis& l, const Axis& r) { return l.extent == 1 || l.stride == r.stride; });
}

}  // namespace

Status check_buffers(const LoopForm& form, const ResolvedLoops& loops, const gemmc_call& call, ElementBytes bytes,
                     int64_t packed_b_bytes) {
  const auto sized_elements = [&](int64_t size, const void* first, int64_t rows, int64_t row, int64_t cols, int64_t col,
                                  auto batch_stride) {
    Elements result{static_cast<__int128>(reinterpret_cast<uintptr_t>(first)), size, {}};
    for (const ResolvedLoops::Axis& axis : loops.batch) {
      result.axes.push_back({axis.extent, static_cast<__int128>(batch_stride(axis)) * size});
    }
    result.axes.push_back({rows, static_cast<__int128>(row) * size});
    result.axes.push_back({cols, static_cast<__int128>(col) * size});
    return result;
  };
  const auto elements = [&](auto... of) { return sized_elements(bytes.others, of...); };
  using BatchAxisOf = const ResolvedLoops::Axis&;
  const auto of_a = [](BatchAxisOf axis) { return axis.a; };
  const auto of_b = [](BatchAxisOf axis) { return axis.b; };
  const auto of_y = [](BatchAxisOf axis) { return axis.y; };
  const auto of_none = [](BatchAxisOf) { return int64_t{0}; };
  const Elements y = elements(call.y, loops.m, loops.y_row, loops.n, loops.y_col, of_y);
  if (std::any_of(y.axes.begin(), y.axes.end(), [](const Axis& axis) { return axis.extent == 0; })) return Status::ok();

  const auto refuse_null = [](const std::string& operand) {
    return Status::invalid(operand + " is NULL; allowed: the address of its elements");
  };
  if (call.y == nullptr) return refuse_null("y");
  const auto refuse = [](std::string_view operand, std::string_view allowed) {
    return Status::invalid(fmt::format("Y overlaps {}; allowed: {}", operand, allowed));
  };
  const Elements scratch{static_cast<__int128>(reinterpret_cast<uintptr_t>(call.scratch)),
                         1,
                         {{static_cast<int64_t>(call.scratch_bytes), 1}}};
  const auto check_scratch = [&](std::string_view operand, const Elements& elements) {
    if (call.scratch == nullptr || !overlap(scratch, elements)) return Status::ok();
    return Status::invalid(fmt::format("scratch overlaps {}; allowed: memory of its own", operand));
  };
  GEMMC_RETURN_IF_ERROR(check_scratch("Y", y));
  if (loops.k > 0) {
    if (call.a == nullptr) return refuse_null("a");
    if (packed_b_bytes == 0 && call.b == nullptr) return refuse_null("b");
    const Elements a = elements(call.a, loops.m, loops.a_row, loops.k, loops.a_col, of_a);
    const Elements b = packed_b_bytes == 0
                           ? sized_elements(bytes.b, call.b, loops.k, loops.b_row, loops.n, loops.b_col, of_b)
                           : Elements{static_cast<__int128>(reinterpret_cast<uintptr_t>(call.packed[1])),
                                      bytes.b,
                                      {{packed_b_bytes / bytes.b, bytes.b}}};
    if (overlap(a, y)) return refuse("A", "buffers of their own");
    if (overlap(b, y)) return refuse("B", "buffers of their own");
    GEMMC_RETURN_IF_ERROR(check_scratch("A", a));
    GEMMC_RETURN_IF_ERROR(check_scratch("B", b));
  }
  constexpr std::string_view kInPlace = "buffers of their own, or of an operand with Y's shape the same elements";
  if (form.has_c) {
    if (call.c == nullptr) return refuse_null("c");
    const Elements c = elements(call.c, loops.m, loops.c_row, loops.n, loops.c_col, of_none);
    const bool is_in_place = may_be_y(form, {form.c, false}) && is_same(c, y);
    if (!is_in_place && overlap(c, y)) return refuse("C", kInPlace);
    GEMMC_RETURN_IF_ERROR(check_scratch("C", c));
  }
  for (size_t i = 0; i < form.epilogue.size(); ++i) {
    if (call.epilogue[i] == nullptr) return refuse_null(fmt::format("epilogue[{}]", i));
    const EpilogueOperandForm& operand = form.epilogue[i];
    const bool is_full = operand.has_batch;
    const auto stride = [&](const StrideExpr& expr, int64_t of_full) {
      return is_full ? of_full : *expr.static_value();
    };
    const Elements e =
        elements(call.epilogue[i], loops.m, stride(operand.strides.row, loops.y_row), loops.n,
                 stride(operand.strides.col, loops.y_col), [&](BatchAxisOf axis) { return is_full ? axis.y : 0; });
    const bool is_in_place = may_be_y(form, operand) && is_same(e, y);
    const std::string what = fmt::format("operand e{} of the epilogue", i);
    if (!is_in_place && overlap(e, y)) return refuse(what, kInPlace);
    GEMMC_RETURN_IF_ERROR(check_scratch(what, e));
  }
  return Status::ok();
}

}  // namespace gemmc
