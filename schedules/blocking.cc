#include "schedules/blocking.h"

#include <algorithm>
#include <optional>

namespace gemmc {

std::vector<int> tile_heights(const SizeExpr& m, const Schedule& schedule) {
  std::vector<int> heights;
  const std::optional<int64_t> rows = m.static_value();
  const int64_t tiles = rows ? (*rows + schedule.mr - 1) / schedule.mr : 0;
  const int tallest = rows ? static_cast<int>((*rows + tiles - 1) / tiles) : schedule.mr;
  const int lowest = !rows ? 1 : *rows < tiles * tallest ? tallest - 1 : tallest;
  for (int height = tallest; height >= lowest; --height) heights.push_back(height);
  return heights;
}

bool reads_b_in_place(const LoopForm& form) { return form.b.col.static_value() == 1 || form.n.static_value() == 1; }

bool may_need_many_blocks(const LoopForm& form, const Schedule& schedule) {
  const auto may_be_long = [&](const StrideExpr& stride) {
    const std::optional<int64_t> value = stride.static_value();
    return !value || *value > longest_stride(schedule.kc) || *value < -longest_stride(schedule.kc);
  };
  const std::optional<int64_t> k = form.k.static_value();
  return !k || *k > schedule.kc || (*k > 1 && (may_be_long(form.a.col) || may_be_long(form.b.row)));
}

bool can_keep_sums_in_y(const Problem& problem, const LoopForm& form) {
  const bool c_may_be_y = form.has_c && form.c.row.static_value() != 0 && form.c.col.static_value() != 0;
  const bool epilogue_may_be_y = std::any_of(form.epilogue.begin(), form.epilogue.end(),
                                             [](const EpilogueOperandForm& operand) { return operand.has_batch; });
  return !converts_a(problem.dtype) && !c_may_be_y && !epilogue_may_be_y;
}

bool converts_a(DType dtype) { return size_bytes(dtype) != size_bytes(accumulator(dtype)); }

}  // namespace gemmc
