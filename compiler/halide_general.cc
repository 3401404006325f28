// The general family: one block of the product per call, with run-time sizes; pipelines.h has the functions' contract.
// Regions that are not whole vectors or panels are separate updates, so that nothing is masked and no operand is read
// or written outside its bounds.
#include <functional>

#include "compiler/halide_families.h"
#include "compiler/halide_numeric.h"
#include "compiler/pipelines.h"
#include "schedules/blocking.h"

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
  const ColumnPieces pieces = column_pieces(form, schedule);
  const Halide::Type stored = storage_type(problem.dtype);
  const Halide::Type summed = accumulator_type(problem.dtype);
  // Of an element of a packed block: one factor, or two that are neighbours along K.
  const bool has_pairs = schedule.pairs_products;
  const Halide::Type packed_as = has_pairs ? Halide::UInt(32) : summed;
  const bool has_copies_of_a = copies_a(schedule, problem.dtype);
  const CopiedAStrides copied_a = copied_a_strides(form, schedule);
  const int packed_kc = static_cast<int>(packed_factors(schedule, schedule.kc));

  // Elements along K of a packed block: [first, first + count). Of pairs that do not come out even, the last is half.
  struct AlongK {
    Expr first, count;
    bool is_half;
  };
  std::vector<AlongK> along_k(const Expr& products) const {
    if (!has_pairs) return {{0, products, false}};
    std::vector<AlongK> pieces = {{0, products / kProductsPerPair, false}};
    if (may_have_odd_block(form, schedule)) {
      pieces.push_back({products / kProductsPerPair, products % kProductsPerPair, true});
    }
    return pieces;
  }

  // The element at `k` of a packed block, of an operand's stored factors.
  using FactorAt = std::function<Expr(const Expr& k)>;
  static Expr pair_at(const FactorAt& stored_at, const Expr& k, bool is_half) {
    return factor_pair(stored_at(kProductsPerPair * k), is_half ? Expr() : stored_at(kProductsPerPair * k + 1));
  }

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

  using ElementAt = std::function<Expr(const Expr& column, const Expr& k)>;

  // Packs whole panels of a B whose rows are neighbours along K, up to the row that it returns: vectors along K are
  // loaded, and square blocks of them turned in registers. Of each line of the cache all blocks at once: where B's
  // columns are pages apart, it would not be there for the next one.
  Expr turn_blocks(Func packed, const ElementAt& element, const Expr& nb, const Expr& rows, int& updates) const {
    constexpr int kLargestBlock = 8;
    constexpr int kLineBytes = 64;
    const int nr = schedule.nr, side = std::min(schedule.lanes, kLargestBlock);
    const int stored_bytes = static_cast<int>(size_bytes(b_dtype(problem))) * (has_pairs ? kProductsPerPair : 1);
    const int line = std::max(side, kLineBytes / stored_bytes);
    Func block("block");
    Var x("x"), k("k"), xo("xo"), ko("ko"), panel("panel");
    block(x, k, xo, ko, panel) = element(panel * nr + xo * side + x, ko * side + k);
    RDom at({{0, side}, {0, side}, {0, line / side}, {0, nr / side}, {0, rows / line}, {0, nb / nr}}, "turned");
    const Expr k_block = at[4] * (line / side) + at[2];
    packed(at[3] * side + at[0], k_block * side + at[1], at[5]) = block(at[0], at[1], at[3], k_block, at[5]);
    Halide::Stage stage = packed.update(updates++);
    stage.allow_race_conditions().vectorize(at[0]).unroll(at[1]);
    block.compute_at(packed, at[2]).store_in(Halide::MemoryType::Stack);
    block.bound(x, 0, side).bound(k, 0, side).reorder(k, x, xo, ko, panel).vectorize(k).unroll(x);
    return rows / line * line;
  }

  // Whole panels, then vectors of the last one, row after row of B: what a row has of each page is read at once. Then
  // the columns left over, one by one. Where columns are not neighbours, panel after panel, whose lines stay in the
  // cache while their rows pass.
  void pack_rows(Func packed, ImageParam b, const ElementAt& element, const AlongK& rows, int& updates) const {
    const int nr = schedule.nr, lanes = schedule.lanes;
    const Expr nb = b.dim(0).extent(), end = rows.first + rows.count;
    const bool is_transposed = form.b.row.static_value() == 1 && form.b.col.static_value() != 1;
    Expr first = rows.first;
    if (is_transposed && pieces.panels && !rows.is_half) first = turn_blocks(packed, element, nb, rows.count, updates);
    const std::string suffix = std::to_string(updates);
    if (pieces.panels) {
      RDom whole({{0, nr}, {0, nb / nr}, {first, end - first}}, "whole" + suffix);
      packed(whole.x, whole.z, whole.y) = element(whole.y * nr + whole.x, whole.z);
      Halide::Stage stage = packed.update(updates++);
      RVar xi("xi"), xo("xo");
      stage.allow_race_conditions().split(whole.x, xo, xi, lanes).vectorize(xi).unroll(xo);
      if (form.b.col.static_value().value_or(1) != 1) stage.reorder(xi, xo, whole.z, whole.y);
      specialize_unit_stride(stage, {{b, form.b.col}});
    }
    if (pieces.vectors) {
      RDom last({{0, lanes}, {0, nb % nr / lanes}, {rows.first, rows.count}}, "last" + suffix);
      packed(last.y * lanes + last.x, last.z, nb / nr) = element(nb / nr * nr + last.y * lanes + last.x, last.z);
      Halide::Stage stage = packed.update(updates++);
      stage.allow_race_conditions().vectorize(last.x);
      specialize_unit_stride(stage, {{b, form.b.col}});
    }
    if (pieces.rest) {
      RDom rest({{0, nb % lanes}, {rows.first, rows.count}}, "rest" + suffix);
      const Expr column = nb / lanes * lanes + rest.x;
      packed(column % nr, rest.y, column / nr) = element(column, rest.y);
      packed.update(updates++).unscheduled();
    }
  }

  HalideFunction pack_b() const {
    ImageParam b(storage_type(b_dtype(problem)), 2, "B");
    declare_stride(b.dim(0), form.b.col);
    declare_stride(b.dim(1), form.b.row);
    Func packed("Bp");
    Var x("x"), k("k"), panel("panel");
    packed(x, k, panel) = Halide::undef(packed_as);
    int updates = 0;
    for (const AlongK& rows : along_k(b.dim(1).extent())) {
      const ElementAt element = [&](const Expr& column, const Expr& row) {
        if (!has_pairs) return numeric.b_to_accumulator(b(column, row));
        return pair_at([&](const Expr& at) { return b(column, at); }, row, rows.is_half);
      };
      pack_rows(packed, b, element, rows, updates);
    }
    Halide::OutputImageParam out = packed.output_buffer();
    out.dim(0).set_bounds(0, schedule.nr);
    out.dim(1).set_min(0).set_stride(schedule.nr);
    out.dim(2).set_min(0).set_stride(schedule.nr * packed_kc);
    return {"pack_b", {b}, packed};
  }

  HalideFunction convert_a() const {
    const int lanes = schedule.lanes;
    ImageParam a(stored, 2, "A");
    declare_stride(a.dim(0), form.a.col);
    declare_stride(a.dim(1), form.a.row);
    const Expr mb = a.dim(1).extent();
    Func converted("Ac");
    Var k("k"), m("m");
    converted(k, m) = Halide::undef(packed_as);
    int updates = 0;
    for (const AlongK& columns : along_k(a.dim(0).extent())) {
      const auto element = [&](const Expr& column, const Expr& row) {
        if (!has_pairs) return numeric.to_accumulator(a(column, row));
        return pair_at([&](const Expr& at) { return a(at, row); }, column, columns.is_half);
      };
      // Vectors along what are neighbours in the copy, then the elements left over.
      const std::string suffix = std::to_string(updates);
      const bool is_along_m = copied_a.m == 1;
      const Expr extent = is_along_m ? mb : columns.count, in_vectors = extent / lanes * lanes;
      const auto add_update = [&](const Expr& along, const Expr& across) {
        const Expr column = columns.first + (is_along_m ? across : along), row = is_along_m ? along : across;
        converted(column, row) = element(column, row);
        return converted.update(updates++);
      };
      const Expr others = is_along_m ? columns.count : mb;
      if (is_along_m || !columns.is_half) {
        RDom whole({{0, lanes}, {0, in_vectors / lanes}, {0, others}}, "whole" + suffix);
        Halide::Stage stage = add_update(whole.y * lanes + whole.x, whole.z);
        stage.allow_race_conditions().vectorize(whole.x);
        specialize_unit_stride(stage, {{a, is_along_m ? form.a.row : form.a.col}});
      }
      RDom rest({{in_vectors, extent - in_vectors}, {0, others}}, "rest" + suffix);
      add_update(rest.x, rest.y).unscheduled();
    }
    converted.output_buffer().dim(0).set_min(0).set_stride(copied_a.k);
    converted.output_buffer().dim(1).set_min(0).set_stride(copied_a.m);
    return {"convert_a", {a}, converted};
  }

  void declare_accumulators(Halide::OutputImageParam buffer) const {
    buffer.dim(0).set_bounds(0, schedule.nr);
    buffer.dim(1).set_bounds(0, schedule.mr).set_stride(schedule.nr);
    buffer.dim(2).set_min(0).set_stride(schedule.nr * schedule.mr);
    buffer.dim(3).set_min(0).set_stride(schedule.nc * schedule.mr);
  }

  // What a block's products are made of, and the sums of the K blocks before: in blocks of accumulators, or in Y.
  struct Factors {
    ImageParam a, b, before;
    Halide::Param<bool> first;
    Expr mb() const { return a.dim(1).extent(); }
    Expr kb() const { return a.dim(0).extent(); }
  };

  Factors factors() const {
    Factors f{ImageParam(has_copies_of_a ? packed_as : stored, 2, "A"), ImageParam(packed_as, 3, "Bp"),
              schedule.sums_in_y ? ImageParam(stored, 2, "before") : ImageParam(summed, 4, "before"),
              Halide::Param<bool>("first")};
    if (has_copies_of_a) {
      f.a.dim(0).set_stride(copied_a.k);
      f.a.dim(1).set_stride(copied_a.m);
    } else {
      declare_stride(f.a.dim(0), form.a.col);
      declare_stride(f.a.dim(1), form.a.row);
    }
    f.b.dim(0).set_bounds(0, schedule.nr);
    f.b.dim(1).set_min(0).set_stride(schedule.nr);
    f.b.dim(2).set_min(0).set_stride(schedule.nr * packed_kc);
    if (schedule.sums_in_y) {
      declare_stride(f.before.dim(0), form.y.col);
      declare_stride(f.before.dim(1), form.y.row);
    } else {
      declare_accumulators(f.before);
    }
    return f;
  }

  // Columns of one panel: all, one vector, or less of one.
  struct Piece {
    int width;             // of the sums
    Expr panel, start;     // in the panel
    bool is_whole = true;  // all of them are columns of the block
  };
  using PieceOf = std::function<Piece(const Expr& index)>;

  Expr add_product(const Expr& sum, const ImageParam& a, const Expr& row, const Expr& k, bool is_half,
                   const Expr& b_element) const {
    if (!has_pairs) {
      return numeric.multiply_add(sum, has_copies_of_a ? a(k, row) : numeric.to_accumulator(a(k, row)), b_element);
    }
    if (has_copies_of_a) return pair_multiply_add(sum, a(k, row), b_element);
    return pair_multiply_add(sum, pair_at([&](const Expr& at) { return a(at, row); }, k, is_half), b_element);
  }

  // sums(x, r, index, strip) of the columns piece_of(index), in registers or on the stack.
  Func strip_sums(const Factors& f, const PieceOf& piece_of, const std::string& suffix) const {
    Func sums("sums" + suffix);
    Var x("x"), r("r"), index("index"), strip("strip"), xi("xi"), xo("xo");
    const Piece piece = piece_of(index);
    // The last strip of rows may reach past the block: its surplus rows repeat the last one and are never stored in Y.
    const Expr row = Halide::min(strip * schedule.mr + r, f.mb() - 1);
    // Past the last column there is nothing to read.
    const Expr column = piece.panel * schedule.nr + piece.start + x, nb = f.before.dim(0).extent();
    const Expr before =
        schedule.sums_in_y
            ? numeric.to_accumulator(f.before(piece.is_whole ? column : Halide::min(column, nb - 1), row))
            : f.before(piece.start + x, r, piece.panel, strip);
    sums(x, r, index, strip) = select(f.first, Halide::cast(summed, 0), before);
    sums.bound(x, 0, piece.width).bound(r, 0, schedule.mr);
    sums.vectorize(x, schedule.lanes).unroll(x).unroll(r);
    int updates = 0;
    for (const AlongK& part : has_copies_of_a ? std::vector<AlongK>{{0, f.kb(), false}} : along_k(f.kb())) {
      RDom products(part.first, part.count, "k" + suffix + "_" + std::to_string(updates));
      const Expr b_element = f.b(piece.start + x, products, piece.panel);
      sums(x, r, index, strip) = add_product(sums(x, r, index, strip), f.a, row, products, part.is_half, b_element);
      Halide::Stage stage = sums.update(updates++);
      stage.split(x, xo, xi, schedule.lanes).reorder(xi, xo, r, products).vectorize(xi).unroll(xo).unroll(r);
    }
    return sums;
  }

  // A K block that is not the last one, where sums wait in blocks of accumulators.
  HalideFunction multiply() const {
    const Factors f = factors();
    const PieceOf whole_panel = [this](const Expr& index) { return Piece{schedule.nr, index, 0}; };
    Func after("after"), sums = strip_sums(f, whole_panel, "");
    Var x("x"), r("r"), panel("panel"), strip("strip");
    after(x, r, panel, strip) = sums(x, r, panel, strip);
    after.bound(x, 0, schedule.nr).bound(r, 0, schedule.mr);
    after.reorder(x, r, panel, strip).vectorize(x, schedule.lanes).unroll(x).unroll(r);
    sums.compute_at(after, panel).store_in(Halide::MemoryType::Register);
    declare_accumulators(after.output_buffer());
    return {"multiply", {f.a, f.b, f.before, f.first}, after};
  }

  // The sums of a K block become elements of Y: of the last one as what the problem asks for, of one before it, where
  // sums wait in Y, as they are.
  HalideFunction write_y(const std::string& name, bool is_last) const {
    const int nr = schedule.nr, mr = schedule.mr, lanes = schedule.lanes;
    const Factors f = factors();
    Func y("Y");
    Var column("column"), row("row");
    y(column, row) = Halide::undef(stored);
    Halide::OutputImageParam out = y.output_buffer();
    declare_stride(out.dim(0), form.y.col);
    declare_stride(out.dim(1), form.y.row);
    std::vector<std::pair<Halide::OutputImageParam, StrideExpr>> buffers = {{out, form.y.col}};
    const std::vector<AddedOperand> added = is_last ? added_operands(form, stored) : std::vector<AddedOperand>();
    if (schedule.sums_in_y) buffers.push_back({f.before, form.y.col});
    for (const AddedOperand& operand : added) buffers.push_back({operand.buffer, operand.strides.col});
    const Expr nb = out.dim(0).extent(), panels = nb / nr, last_panel_vectors = nb % nr / lanes;

    int updates = 0;
    // `count` pieces, of which `stored_columns` exist.
    const auto add_pieces = [&](const Expr& count, const Expr& stored_columns, const PieceOf& piece_of) {
      const std::string suffix = std::to_string(updates);
      Func sums = strip_sums(f, piece_of, suffix);
      // Rows of Y are written from one end to the other: a column of tiles would touch new pages with every strip.
      RDom at({{0, stored_columns}, {0, mr}, {0, count}, {0, (f.mb() + mr - 1) / mr}}, "at" + suffix);
      const RVar x = at[0], r = at[1], index = at[2], strip = at[3];
      const Piece piece = piece_of(index);
      const Expr y_column = piece.panel * nr + piece.start + x, y_row = strip * mr + r;
      at.where(y_row < f.mb());
      const Expr sum = sums(x, r, index, strip);
      y(y_column, y_row) = is_last ? numeric.finish(sum, elements_at(added, y_column, y_row)) : numeric.unrounded(sum);
      Halide::Stage store = y.update(updates++);
      store.allow_race_conditions().unroll(r);
      const bool is_whole = Halide::Internal::is_const(stored_columns);
      if (is_whole) {
        RVar xi("xi"), xo("xo");
        store.split(x, xo, xi, lanes).vectorize(xi).unroll(xo);
        specialize_unit_stride(store, buffers);
      }
      sums.compute_at(y, index).store_in(is_whole ? Halide::MemoryType::Register : Halide::MemoryType::Stack);
    };
    if (pieces.panels) add_pieces(panels, nr, [&](const Expr& index) { return Piece{nr, index, 0}; });
    if (pieces.vectors && nr > lanes) {
      add_pieces(last_panel_vectors, lanes, [&](const Expr& index) { return Piece{lanes, panels, index * lanes}; });
    }
    if (pieces.rest) {
      add_pieces(min(nb % lanes, 1), nb % lanes, [&](const Expr&) {
        return Piece{lanes, panels, last_panel_vectors * lanes, false};
      });
    }
    std::vector<Halide::Argument> arguments = {f.a, f.b, f.before, f.first};
    for (const AddedOperand& operand : added) arguments.push_back(operand.buffer);
    return {name, arguments, y};
  }
};

}  // namespace

std::vector<HalideFunction> general_functions(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                              const Target& target) {
  const GeneralBuilder builder{problem, form, schedule, Numeric(problem, target)};
  std::vector<HalideFunction> functions = {builder.pack_b(), builder.write_y("finish", true)};
  if (may_need_many_blocks(form, schedule)) {
    if (!schedule.sums_in_y) functions.push_back(builder.multiply());
    if (schedule.sums_in_y && !has_equal_k_blocks(problem, form, schedule)) {
      functions.push_back(builder.write_y("carry", false));
    }
  }
  if (builder.has_copies_of_a) functions.push_back(builder.convert_a());
  return functions;
}

}  // namespace gemmc
