// The tiled family: Y is cut into rectangles, each computed by register tiles of one exact size over all of K. Nothing
// is masked, unless the schedule says so, so nothing outside the operands is touched. One function is a column of tiles
// of one height; the thunk, which knows M, says how many. Where the schedule cuts K into blocks, sums wait for the next
// one in Y: then what one block reads of a B with long rows stays in the cache while all tiles pass.
//
//            full column tiles (nr)      rest
//          +----------+----------+-------+
//          |  h x nr  |          |       |
//          +----------+----------+-------+   `tiles` tiles of h rows, h <= mr
//          |  h x nr  |          |       |
//          +----------+----------+-------+
//
// The rest is one tile of vectors, the last of which overlaps the one before it: its columns are computed and stored
// twice, with the same values. Where Y may be an operand that is read at the end, the second time would read what the
// first wrote; the rest is then cut into vectors, half vectors ... one column.
#include <fmt/format.h>

#include "compiler/halide_families.h"
#include "compiler/halide_numeric.h"
#include "compiler/halide_tile_column.h"
#include "compiler/pipelines.h"
#include "schedules/blocking.h"
#include "schedules/packed_panels.h"

namespace gemmc {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

// `count` tiles side by side from column `start` on, each of `panels` pieces of `width` columns. Where `covered` is
// less than all of these, the only tile's last piece overlaps the one before it.
struct Columns {
  int start, count, panels, width, covered;
};

// Short tiles are wider: they need as many accumulators in flight, and more panels of B at a time are more streams.
int panels_of_tile(const Schedule& schedule, int height) {
  constexpr int kMostVectors = 8;
  const int by_registers = schedule.mr / height;
  const int by_vectors = std::max(1, kMostVectors / (schedule.nr / schedule.lanes));
  return std::min(by_registers, by_vectors);
}

// The largest power of two up to `most`, at most `lanes`.
int vector_width(int most, int lanes) {
  while (lanes > most) lanes /= 2;
  return lanes;
}

std::vector<Columns> split_columns(int n, const Schedule& schedule, int panels, bool may_overlap) {
  // One vector, of which what is past the last column will be masked: column_mask.h.
  if (schedule.masks_columns) return {{0, 1, 1, schedule.lanes, schedule.lanes}};
  const int nr = schedule.nr, lanes = schedule.lanes;
  std::vector<Columns> spans;
  int start = 0;
  const auto add = [&](int count, int panels_of_each, int width) {
    if (count * panels_of_each * width == 0) return;
    spans.push_back({start, count, panels_of_each, width, count * panels_of_each * width});
    start += count * panels_of_each * width;
  };
  add(n / (panels * nr), panels, nr);
  add(1, (n - start) / nr, nr);
  if (n == start) return spans;
  const int rest = n - start, width = vector_width(rest, lanes);
  if (may_overlap && rest % width != 0) {
    spans.push_back({start, 1, (rest + width - 1) / width, width, rest});
    return spans;
  }
  add(1, 1, rest / lanes * lanes);
  for (int narrow = lanes / 2; narrow >= 1; narrow /= 2) {
    if (n - start >= narrow) add(1, 1, narrow);
  }
  return spans;
}

// Which of the K blocks a function computes.
enum class Part { kAll, kCarried, kLast };

struct TiledBuilder {
  const Problem& problem;
  const Numeric& numeric;
  const Schedule& schedule;
  Part part;
  TileColumn column;
  // The sums of the K blocks before: nothing in the first.
  Halide::ImageParam before = Halide::ImageParam(storage_type(problem.dtype), 2, "before");
  Halide::Param<bool> first = Halide::Param<bool>("first");
  int updates = 0;

  Expr sum_before(const Expr& x, const Expr& row) const {
    const Expr zero = Halide::cast(accumulator_type(problem.dtype), 0);
    if (part == Part::kAll) return zero;
    const Expr sum = numeric.to_accumulator(before(x, row));
    return part == Part::kCarried ? select(first, zero, sum) : sum;
  }

  // Column x of a piece of a tile, from cols.start on.
  static Expr column_of(const Columns& cols, const Expr& x, const Expr& tile, const Expr& panel) {
    const bool overlaps = cols.covered < cols.panels * cols.width;
    if (overlaps) return Halide::min(panel * cols.width, cols.covered - cols.width) + x;
    return (tile * cols.panels + panel) * cols.width + x;
  }

  Expr b_element(const Columns& cols, const Expr& x, const Expr& tile, const Expr& panel, const Expr& row) const {
    if (!schedule.packs_b) return column.b(cols.start + column_of(cols, x, tile, panel), row);
    const Expr first_panel = cols.start / schedule.nr;
    // Less than a panel of columns lies in one.
    if (cols.width < schedule.nr) {
      return column.b(cols.start % schedule.nr + column_of(cols, x, tile, panel), row, first_panel);
    }
    return column.b(x, row, first_panel + tile * cols.panels + panel);
  }

  // One more update of y: all rows of these columns.
  void add_columns(const Columns& cols) {
    const std::string suffix = std::to_string(updates);
    const int height = column.height;
    Var x("x"), panel("panel"), r("r"), tile_x("tile_x"), tile_r("tile_r");
    Func acc("acc" + suffix);
    RDom products(0, column.k, "k" + suffix);
    const Expr row = tile_r * height + r;
    acc(x, panel, r, tile_x, tile_r) = sum_before(cols.start + column_of(cols, x, tile_x, panel), row);
    acc(x, panel, r, tile_x, tile_r) =
        numeric.multiply_add(acc(x, panel, r, tile_x, tile_r), numeric.to_accumulator(column.a(products, row)),
                             numeric.b_to_accumulator(b_element(cols, x, tile_x, panel, products)));

    RDom at({{0, cols.width}, {0, cols.panels}, {0, height}, {0, column.tiles}, {0, cols.count}}, "at" + suffix);
    const RVar at_x = at[0], at_panel = at[1], at_r = at[2], at_tile_r = at[3], at_tile_x = at[4];
    const Expr out_x = cols.start + column_of(cols, at_x, at_tile_x, at_panel), out_r = at_tile_r * height + at_r;
    const Expr sum = acc(at_x, at_panel, at_r, at_tile_x, at_tile_r);
    column.y(out_x, out_r) =
        part == Part::kCarried ? numeric.unrounded(sum) : numeric.finish(sum, elements_at(column.added, out_x, out_r));

    const int vector = std::min(schedule.lanes, cols.width);
    RVar xi("xi"), xo("xo");
    Halide::Stage store = column.y.update(updates);
    // Each tile writes its own elements, which Halide cannot see through the arithmetic on RVars.
    store.allow_race_conditions();
    store.split(at_x, xo, xi, vector).reorder(xi, xo, at_panel, at_r, at_tile_r, at_tile_x);
    store.vectorize(xi).unroll(xo).unroll(at_panel).unroll(at_r);
    acc.compute_at(column.y, at_tile_r).store_in(Halide::MemoryType::Register);
    for (Halide::Stage stage : {Halide::Stage(acc), acc.update()}) {
      Var vo("vo"), vi("vi");
      stage.split(x, vo, vi, vector, Halide::TailStrategy::RoundUp).vectorize(vi).unroll(vo).unroll(panel).unroll(r);
    }
    Var vo("vo"), vi("vi");
    acc.bound(x, 0, cols.width).bound(panel, 0, cols.panels).bound(r, 0, height);
    // What is fewer, elements of A or vectors of B, stays in registers while the others pass by.
    const bool keeps_a = height < cols.panels * cols.width / vector;
    acc.update().reorder(keeps_a ? std::vector<Halide::VarOrRVar>{vi, r, vo, panel, products}
                                 : std::vector<Halide::VarOrRVar>{vi, vo, panel, r, products});
    ++updates;
  }

  void declare_packed_b(const PackedPanels& panels) {
    column.b.dim(0).set_bounds(0, schedule.nr);
    column.b.dim(1).set_bounds(0, column.k).set_stride(schedule.nr);
    column.b.dim(2).set_bounds(0, static_cast<int>(panels.count()));
    column.b.dim(2).set_stride(static_cast<int>(panels.nr * panels.k));
  }

  HalideFunction function() {
    const bool is_carry = part == Part::kCarried && !has_equal_k_blocks(problem, column.form, schedule);
    const std::string name = fmt::format("{}_{}", is_carry ? "carry" : "tiled", column.height);
    if (part == Part::kAll) return column.function(name);
    declare_stride(before.dim(0), column.form.y.col);
    declare_stride(before.dim(1), column.form.y.row);
    if (part == Part::kLast) return column.function(name, {before});
    column.added.clear();
    return column.function(name, {before, first});
  }
};

HalideFunction tiled_function(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                              const Numeric& numeric, int height, Part part) {
  const int64_t last = last_k_block(form, schedule);
  const int64_t products = part == Part::kCarried ? schedule.kc : *form.k.static_value() - last;
  TiledBuilder builder{.problem = problem,
                       .numeric = numeric,
                       .schedule = schedule,
                       .part = part,
                       .column = TileColumn(problem, form, height, products, schedule.packs_b ? 3 : 2)};
  const int panels = panels_of_tile(schedule, height);
  const bool may_overlap = !may_run_in_place(form);
  for (const Columns& cols : split_columns(builder.column.n, schedule, panels, may_overlap)) builder.add_columns(cols);
  if (schedule.packs_b) builder.declare_packed_b(packed_panels(form, schedule));
  return builder.function();
}

}  // namespace

std::vector<HalideFunction> tiled_functions(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                            const Target& target) {
  const Numeric numeric(problem, target);
  std::vector<HalideFunction> functions;
  const bool has_blocks = last_k_block(form, schedule) > 0;
  const bool are_equal = has_equal_k_blocks(problem, form, schedule);
  for (int height : tile_heights(form.m, schedule)) {
    const auto add = [&](Part part) {
      functions.push_back(tiled_function(problem, form, schedule, numeric, height, part));
    };
    if (!has_blocks) add(Part::kAll);
    if (has_blocks && !are_equal) add(Part::kLast);
    if (has_blocks) add(Part::kCarried);
  }
  return functions;
}

}  // namespace gemmc
