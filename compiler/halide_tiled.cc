// The tiled family: Y is cut into rectangles, each computed by register tiles of one exact size over all of K. Nothing
// is masked and nothing is computed twice, so nothing outside the operands is touched and C may be Y.
//
//            full column tiles (nr)      rest: vectors, then half vectors ... one column
//          +----------+----------+----+--+-+
//   rows   |  h x nr  |          |    |  | |   tiles of h rows, h <= mr, M split evenly
//          +----------+----------+----+--+-+
//   rows   | h-1 x nr |          |    |  | |   tiles of h-1 rows
//          +----------+----------+----+--+-+
#include "compiler/halide_families.h"
#include "compiler/halide_numeric.h"

namespace gemmc {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

// `count` tiles of `size`, one after the other, from `start` on.
struct Span {
  int start, count, size;
};

std::vector<Span> split_rows(int m, int mr) {
  const int tiles = (m + mr - 1) / mr;
  const int height = (m + tiles - 1) / tiles;
  const int full_tiles = m - tiles * (height - 1);
  std::vector<Span> spans = {{0, full_tiles, height}};
  if (full_tiles < tiles) spans.push_back({full_tiles * height, tiles - full_tiles, height - 1});
  return spans;
}

std::vector<Span> split_columns(int n, int nr, int lanes) {
  std::vector<Span> spans;
  int start = 0;
  if (n >= nr) spans.push_back({0, n / nr, nr});
  start = n / nr * nr;
  if (n - start >= lanes) {
    spans.push_back({start, 1, (n - start) / lanes * lanes});
    start += spans.back().size;
  }
  for (int width = lanes / 2; width >= 1; width /= 2) {
    if (n - start < width) continue;
    spans.push_back({start, 1, width});
    start += width;
  }
  return spans;
}

void declare_matrix(Halide::OutputImageParam buffer, const MatrixStrides& strides, int rows, int cols) {
  buffer.dim(0).set_bounds(0, cols);
  buffer.dim(1).set_bounds(0, rows);
  declare_stride(buffer.dim(0), strides.col);
  declare_stride(buffer.dim(1), strides.row);
}

struct TiledBuilder {
  const Numeric& numeric;
  Halide::Type summed;  // the accumulators' type
  int k, lanes;
  Halide::ImageParam a, b;
  std::vector<AddedOperand> added;
  Func y;
  int updates = 0;

  // One more update of y: the rectangle rows x cols in register tiles.
  void add_rectangle(const Span& rows, const Span& cols) {
    const std::string suffix = std::to_string(updates);
    Var x("x"), r("r"), tile_x("tile_x"), tile_r("tile_r");
    Func acc("acc" + suffix);
    RDom products(0, k, "k" + suffix);
    const auto column = [&](const Expr& tile, const Expr& x) { return cols.start + tile * cols.size + x; };
    const auto row = [&](const Expr& tile, const Expr& r) { return rows.start + tile * rows.size + r; };
    acc(x, r, tile_x, tile_r) = Halide::cast(summed, 0);
    acc(x, r, tile_x, tile_r) =
        numeric.multiply_add(acc(x, r, tile_x, tile_r), numeric.to_accumulator(a(products, row(tile_r, r))),
                             numeric.to_accumulator(b(column(tile_x, x), products)));

    RDom at({{0, cols.size}, {0, rows.size}, {0, rows.count}, {0, cols.count}}, "at" + suffix);
    const Expr out_x = column(at.w, at.x), out_r = row(at.z, at.y);
    y(out_x, out_r) = numeric.finish(acc(at.x, at.y, at.w, at.z), elements_at(added, out_x, out_r));

    const int vector = std::min(lanes, cols.size);
    RVar xi("xi"), xo("xo");
    Halide::Stage store = y.update(updates);
    // Each tile writes its own elements, which Halide cannot see through the arithmetic on RVars.
    store.allow_race_conditions();
    store.split(at.x, xo, xi, vector).reorder(xi, xo, at.y, at.z, at.w).vectorize(xi).unroll(xo).unroll(at.y);
    acc.compute_at(y, at.z).store_in(Halide::MemoryType::Register);
    for (Halide::Stage stage : {Halide::Stage(acc), acc.update()}) {
      Var vo("vo"), vi("vi");
      stage.split(x, vo, vi, vector, Halide::TailStrategy::RoundUp).vectorize(vi).unroll(vo).unroll(r);
    }
    Var vo("vo"), vi("vi");
    acc.bound(x, 0, cols.size).bound(r, 0, rows.size);
    acc.update().reorder(vi, vo, r, products);
    ++updates;
  }
};

}  // namespace

std::vector<HalideFunction> tiled_functions(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                            const Target& target) {
  const int m = static_cast<int>(*form.m.static_value());
  const int n = static_cast<int>(*form.n.static_value());
  const int k = static_cast<int>(*form.k.static_value());
  const Halide::Type stored = storage_type(problem.dtype);
  const Numeric numeric(problem, target);
  TiledBuilder builder{.numeric = numeric,
                       .summed = accumulator_type(problem.dtype),
                       .k = k,
                       .lanes = schedule.lanes,
                       .a = Halide::ImageParam(stored, 2, "A"),
                       .b = Halide::ImageParam(stored, 2, "B"),
                       .added = added_operands(form, stored),
                       .y = Func("Y")};
  Var x("x"), r("r");
  builder.y(x, r) = Halide::undef(stored);
  for (const Span& cols : split_columns(n, schedule.nr, schedule.lanes)) {
    for (const Span& rows : split_rows(m, schedule.mr)) builder.add_rectangle(rows, cols);
  }
  declare_matrix(builder.a, form.a, m, k);
  declare_matrix(builder.b, form.b, k, n);
  declare_matrix(builder.y.output_buffer(), form.y, m, n);
  std::vector<Halide::Argument> arguments = {builder.a, builder.b};
  for (const AddedOperand& operand : builder.added) {
    declare_matrix(operand.buffer, operand.strides, m, n);
    arguments.push_back(operand.buffer);
  }
  return {{"tiled", arguments, builder.y}};
}

}  // namespace gemmc
