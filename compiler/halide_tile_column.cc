#include "compiler/halide_tile_column.h"

#include "compiler/halide_numeric.h"

namespace gemmc {
namespace {

void declare_matrix(Halide::OutputImageParam buffer, const MatrixStrides& strides, const Halide::Expr& rows, int cols) {
  buffer.dim(0).set_bounds(0, cols);
  buffer.dim(1).set_bounds(0, rows);
  declare_stride(buffer.dim(0), strides.col);
  declare_stride(buffer.dim(1), strides.row);
}

}  // namespace

TileColumn::TileColumn(const Problem& problem, const LoopForm& loop_form, int tile_height, int64_t products,
                       int b_dimensions)
    : form(loop_form),
      height(tile_height),
      n(static_cast<int>(*form.n.static_value())),
      k(static_cast<int>(products)),
      tiles("tiles"),
      a(storage_type(problem.dtype), 2, "A"),
      b(storage_type(b_dtype(problem)), b_dimensions, "B"),
      added(added_operands(form, storage_type(problem.dtype))),
      y("Y") {
  Halide::Var x("x"), r("r");
  y(x, r) = Halide::undef(storage_type(problem.dtype));
}

HalideFunction TileColumn::function(const std::string& name, const std::vector<Halide::Argument>& sums) {
  const Halide::Expr rows = tiles * height;
  declare_matrix(a, form.a, rows, k);
  if (b.dimensions() == 2) declare_matrix(b, form.b, k, n);
  declare_matrix(y.output_buffer(), form.y, rows, n);
  std::vector<Halide::Argument> arguments = {a, b};
  arguments.insert(arguments.end(), sums.begin(), sums.end());
  for (const AddedOperand& operand : added) {
    declare_matrix(operand.buffer, operand.strides, rows, n);
    arguments.push_back(operand.buffer);
  }
  arguments.push_back(tiles);
  return {name, arguments, y};
}

}  // namespace gemmc
