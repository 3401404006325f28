// The general family: one block of the product per call, with run-time sizes; pipelines.h has the functions' contract.
// Regions that are not whole vectors or panels are separate updates, so that nothing is masked and no operand is read
// or written outside its bounds.
#include "compiler/halide_families.h"
#include "compiler/halide_numeric.h"
#include "compiler/pipelines.h"

namespace gemmc {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::ImageParam;
using Halide::RDom;
using Halide::RVar;
using Halide::Var;

struct GeneralBuilder {
  const Problem& problem;
  const LoopForm& form;
  const Schedule& schedule;
  const Numeric numeric;
  const Halide::Type stored = storage_type(problem.dtype);
  const Halide::Type summed = accumulator_type(problem.dtype);

  // Where the innermost stride is not known now but is 1 at the call, vectors of it are loaded and stored whole.
  static void specialize_unit_stride(Halide::Stage stage,
                                     std::vector<std::pair<Halide::OutputImageParam, StrideExpr>> buffers) {
    Expr all_unit;
    for (auto& [buffer, stride] : buffers) {
      if (stride.static_value()) continue;
      const Expr is_unit = buffer.dim(0).stride() == 1;
      all_unit = all_unit.defined() ? all_unit && is_unit : is_unit;
    }
    if (all_unit.defined()) stage.specialize(all_unit);
  }

  HalideFunction pack_b() const {
    const int nr = schedule.nr, lanes = schedule.lanes, vectors = nr / lanes;
    ImageParam b(stored, 2, "B");
    declare_stride(b.dim(0), form.b.col);
    declare_stride(b.dim(1), form.b.row);
    const Expr nb = b.dim(0).extent(), kb = b.dim(1).extent();
    Func packed("Bp");
    Var x("x"), k("k"), panel("panel");
    packed(x, k, panel) = Halide::undef(summed);
    const auto element = [&](const Expr& column, const Expr& row) { return numeric.to_accumulator(b(column, row)); };

    // Whole vectors of columns; then the columns left over, one by one.
    RDom whole({{0, lanes}, {0, kb}, {0, nb / lanes}}, "whole");
    packed(whole.z % vectors * lanes + whole.x, whole.y, whole.z / vectors) =
        element(whole.z * lanes + whole.x, whole.y);
    Halide::Stage whole_stage = packed.update(0);
    whole_stage.allow_race_conditions().vectorize(whole.x);
    specialize_unit_stride(whole_stage, {{b, form.b.col}});
    RDom rest({{0, nb % lanes}, {0, kb}}, "rest");
    const Expr column = nb / lanes * lanes + rest.x;
    packed(column % nr, rest.y, column / nr) = element(column, rest.y);
    packed.update(1).unscheduled();

    Halide::OutputImageParam out = packed.output_buffer();
    out.dim(0).set_bounds(0, nr);
    out.dim(1).set_min(0).set_stride(nr);
    out.dim(2).set_min(0).set_stride(nr * schedule.kc);
    return {"pack_b", {b}, packed};
  }

  HalideFunction convert_a() const {
    const int lanes = schedule.lanes;
    ImageParam a(stored, 2, "A");
    declare_stride(a.dim(0), form.a.col);
    declare_stride(a.dim(1), form.a.row);
    const Expr kb = a.dim(0).extent(), mb = a.dim(1).extent();
    Func converted("Ac");
    Var k("k"), m("m");
    converted(k, m) = Halide::undef(summed);
    RDom whole({{0, lanes}, {0, kb / lanes}, {0, mb}}, "whole");
    const Expr at = whole.y * lanes + whole.x;
    converted(at, whole.z) = numeric.to_accumulator(a(at, whole.z));
    Halide::Stage whole_stage = converted.update(0);
    whole_stage.allow_race_conditions().vectorize(whole.x);
    specialize_unit_stride(whole_stage, {{a, form.a.col}});
    RDom rest({{0, kb % lanes}, {0, mb}}, "rest");
    const Expr rest_at = kb / lanes * lanes + rest.x;
    converted(rest_at, rest.y) = numeric.to_accumulator(a(rest_at, rest.y));
    converted.update(1).unscheduled();
    converted.output_buffer().dim(0).set_min(0);
    converted.output_buffer().dim(1).set_min(0).set_stride(schedule.kc);
    return {"convert_a", {a}, converted};
  }

  void declare_accumulators(Halide::OutputImageParam buffer) const {
    buffer.dim(0).set_bounds(0, schedule.nr);
    buffer.dim(1).set_bounds(0, schedule.mr).set_stride(schedule.nr);
    buffer.dim(2).set_min(0).set_stride(schedule.nr * schedule.mr);
    buffer.dim(3).set_min(0).set_stride(schedule.nc * schedule.mr);
  }

  HalideFunction multiply() const {
    const int nr = schedule.nr, mr = schedule.mr;
    const bool is_converted = converts_a(problem.dtype);
    ImageParam a(summed_or_stored(), 2, "A"), b(summed, 3, "Bp"), before(summed, 4, "before");
    Halide::Param<bool> first("first");
    if (is_converted) {
      a.dim(1).set_stride(schedule.kc);
    } else {
      declare_stride(a.dim(0), form.a.col);
      declare_stride(a.dim(1), form.a.row);
    }
    b.dim(0).set_bounds(0, nr);
    b.dim(1).set_min(0).set_stride(nr);
    b.dim(2).set_min(0).set_stride(nr * schedule.kc);
    declare_accumulators(before);

    const Expr kb = a.dim(0).extent(), mb = a.dim(1).extent();
    Func tile("tile"), acc("acc");
    Var x("x"), r("r"), panel("panel"), strip("strip"), xi("xi");
    RDom products(0, kb, "k");
    // The last strip of rows may reach past the block: its surplus rows repeat the last one and are never stored in Y.
    const Expr row = Halide::min(strip * mr + r, mb - 1);
    const Expr a_element = is_converted ? a(products, row) : numeric.to_accumulator(a(products, row));
    tile(x, r, panel, strip) = select(first, Halide::cast(summed, 0), before(x, r, panel, strip));
    tile(x, r, panel, strip) = numeric.multiply_add(tile(x, r, panel, strip), a_element, b(x, products, panel));
    acc(x, r, panel, strip) = tile(x, r, panel, strip);

    acc.bound(x, 0, nr).bound(r, 0, mr);
    acc.reorder(x, r, strip, panel).vectorize(x, schedule.lanes).unroll(x).unroll(r);
    tile.compute_at(acc, strip).store_in(Halide::MemoryType::Register);
    tile.vectorize(x, schedule.lanes).unroll(x).unroll(r);
    tile.update().split(x, x, xi, schedule.lanes).reorder(xi, x, r, products).vectorize(xi).unroll(x).unroll(r);
    declare_accumulators(acc.output_buffer());
    return {"multiply", {a, b, before, first}, acc};
  }

  HalideFunction finish() const {
    const int nr = schedule.nr, mr = schedule.mr, lanes = schedule.lanes, vectors = nr / lanes;
    ImageParam acc(summed, 4, "acc");
    declare_accumulators(acc);
    Func y("Y");
    Var x("x"), r("r");
    y(x, r) = Halide::undef(stored);
    Halide::OutputImageParam out = y.output_buffer();
    declare_stride(out.dim(0), form.y.col);
    declare_stride(out.dim(1), form.y.row);
    const Expr nb = out.dim(0).extent(), mb = out.dim(1).extent();
    std::vector<std::pair<Halide::OutputImageParam, StrideExpr>> buffers = {{out, form.y.col}};
    const std::vector<AddedOperand> added = added_operands(form, stored);
    for (const AddedOperand& operand : added) buffers.push_back({operand.buffer, operand.strides.col});
    const auto element = [&](const Expr& in_panel, const Expr& panel, const Expr& column, const Expr& row) {
      return numeric.finish(acc(in_panel, row % mr, panel, row / mr), elements_at(added, column, row));
    };

    RDom whole({{0, lanes}, {0, nb / lanes}, {0, mb}}, "whole");
    const Expr column = whole.y * lanes + whole.x;
    y(column, whole.z) = element(whole.y % vectors * lanes + whole.x, whole.y / vectors, column, whole.z);
    Halide::Stage whole_stage = y.update(0);
    whole_stage.allow_race_conditions().vectorize(whole.x);
    specialize_unit_stride(whole_stage, buffers);
    RDom rest({{0, nb % lanes}, {0, mb}}, "rest");
    const Expr rest_column = nb / lanes * lanes + rest.x;
    y(rest_column, rest.y) = element(rest_column % nr, rest_column / nr, rest_column, rest.y);
    y.update(1).unscheduled();

    std::vector<Halide::Argument> arguments = {acc};
    for (const AddedOperand& operand : added) arguments.push_back(operand.buffer);
    return {"finish", arguments, y};
  }

  Halide::Type summed_or_stored() const { return converts_a(problem.dtype) ? summed : stored; }
};

}  // namespace

bool converts_a(DType dtype) { return size_bytes(dtype) != size_bytes(accumulator(dtype)); }

std::vector<HalideFunction> general_functions(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                              const Target& target) {
  const GeneralBuilder builder{problem, form, schedule, Numeric(problem, target)};
  std::vector<HalideFunction> functions = {builder.pack_b(), builder.multiply(), builder.finish()};
  if (converts_a(problem.dtype)) functions.push_back(builder.convert_a());
  return functions;
}

}  // namespace gemmc
