// The rows family: B is read as it lies, kr of its rows side by side, and each group is added to a block of sums that
// stays in the L1 cache. For few rows of A and a B that is read once: every byte of it is then part of a long run,
// where a column of register tiles would touch one page per row.
//
//   sums  mr rows x nc columns, on the stack        for each group of kr rows of B:
//     += A (mr x kr, in registers) * B (kr x nc)      for each vector of columns: kr multiply-adds for each row
#include <fmt/format.h>

#include "compiler/halide_families.h"
#include "compiler/halide_numeric.h"
#include "compiler/halide_tile_column.h"
#include "schedules/blocking.h"

namespace gemmc {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

// `count` blocks side by side from column `start` on, of `width` columns, in vectors of `lanes`.
struct Columns {
  int start, count, width, lanes;
};

std::vector<Columns> split_columns(int n, const Schedule& schedule) {
  std::vector<Columns> spans;
  int start = 0;
  const auto add = [&](int count, int width, int lanes) {
    if (count * width == 0) return;
    spans.push_back({start, count, width, lanes});
    start += count * width;
  };
  add(n / schedule.nc, schedule.nc, schedule.lanes);
  for (int lanes = schedule.lanes; lanes >= 1; lanes /= 2) add(1, (n - start) / lanes * lanes, lanes);
  return spans;
}

struct RowsBuilder {
  const Numeric& numeric;
  Halide::Type summed;  // the accumulators' type
  const Schedule& schedule;
  TileColumn column;
  int updates = 0;
  Var x{"x"}, r{"r"}, tile_r{"tile_r"}, block{"block"};

  // sums(x, r, tile_r, block)
  Func block_sums(const Columns& cols, const std::string& suffix) const {
    const int height = column.height;
    // Fewer rows of A leave registers for more rows of B.
    const int kr = std::min(schedule.kr * (schedule.mr / height), column.k);
    Func sums("sums" + suffix);
    // The products of rows first ... first + count - 1 of B, in that order.
    const auto add_rows = [&](const Expr& first, int count) {
      Expr sum = sums(x, r, tile_r, block);
      for (int j = 0; j < count; ++j) {
        const Expr a = numeric.to_accumulator(column.a(first + j, tile_r * height + r));
        const Expr b = numeric.b_to_accumulator(column.b(cols.start + block * cols.width + x, first + j));
        sum = numeric.multiply_add(sum, a, b);
      }
      return sum;
    };
    sums(x, r, tile_r, block) = Halide::cast(summed, 0);
    RDom group(0, column.k / kr, "group" + suffix);
    sums(x, r, tile_r, block) = add_rows(group * kr, kr);
    if (const int rest = column.k % kr; rest > 0) sums(x, r, tile_r, block) = add_rows(column.k - rest, rest);
    sums.bound(x, 0, cols.width).bound(r, 0, height);

    const int vectors = cols.width / cols.lanes;
    int unrolled = std::clamp(schedule.nr / cols.lanes, 1, vectors);
    while (vectors % unrolled != 0) --unrolled;
    Var xo("xo"), xi("xi"), xu("xu");
    const auto schedule_stage = [&](Halide::Stage stage, std::vector<Halide::VarOrRVar> outer) {
      stage.split(x, xo, xi, cols.lanes, Halide::TailStrategy::RoundUp).split(xo, xo, xu, unrolled);
      std::vector<Halide::VarOrRVar> order = {xi, r, xu, xo};
      order.insert(order.end(), outer.begin(), outer.end());
      stage.reorder(order).vectorize(xi).unroll(xu).unroll(r);
    };
    schedule_stage(Halide::Stage(sums), {});
    schedule_stage(sums.update(0), {group});
    if (column.k % kr > 0) schedule_stage(sums.update(1), {});
    return sums;
  }

  // One more update of y: all rows of these columns.
  void add_columns(const Columns& cols) {
    const std::string suffix = std::to_string(updates);
    const int height = column.height;
    Func sums = block_sums(cols, suffix);
    RDom at({{0, cols.width}, {0, height}, {0, column.tiles}, {0, cols.count}}, "at" + suffix);
    const RVar at_x = at[0], at_r = at[1], at_tile_r = at[2], at_block = at[3];
    const Expr out_x = cols.start + at_block * cols.width + at_x, out_r = at_tile_r * height + at_r;
    column.y(out_x, out_r) =
        numeric.finish(sums(at_x, at_r, at_tile_r, at_block), elements_at(column.added, out_x, out_r));
    RVar xi("xi"), xo("xo");
    Halide::Stage store = column.y.update(updates++);
    // Each block writes its own elements, which Halide cannot see through the arithmetic on RVars.
    store.allow_race_conditions().split(at_x, xo, xi, cols.lanes).vectorize(xi);
    sums.compute_at(column.y, at_tile_r).store_in(Halide::MemoryType::Register);
  }
};

HalideFunction rows_function(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                             const Numeric& numeric, int height) {
  RowsBuilder builder{.numeric = numeric,
                      .summed = accumulator_type(problem.dtype),
                      .schedule = schedule,
                      .column = TileColumn(problem, form, height, *form.k.static_value(), 2)};
  for (const Columns& cols : split_columns(builder.column.n, schedule)) builder.add_columns(cols);
  return builder.column.function(fmt::format("rows_{}", height));
}

}  // namespace

std::vector<HalideFunction> rows_functions(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                           const Target& target) {
  const Numeric numeric(problem, target);
  std::vector<HalideFunction> functions;
  for (int height : tile_heights(form.m, schedule))
    functions.push_back(rows_function(problem, form, schedule, numeric, height));
  return functions;
}

}  // namespace gemmc
