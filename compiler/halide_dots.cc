// The dots family: each element of Y is a sum over vectors along K, which is where both operands' neighbours lie. One
// function is a column of register tiles of one height, as in the tiled family; nothing is copied beforehand.
//
//   A  h rows   ->->->->->->->  K          acc: kr vectors for each of the tile's h x nr elements,
//   B  nr cols  ->->->->->->->  K               added up at the end
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

// `count` tiles side by side from column `start` on, of `width` columns.
struct Columns {
  int start, count, width;
};

struct DotsBuilder {
  const Numeric& numeric;
  Halide::Type summed;  // the accumulators' type
  const Schedule& schedule;
  TileColumn column;
  int updates = 0;
  Var x{"x"}, r{"r"}, tile_x{"tile_x"}, tile_r{"tile_r"}, lane{"lane"}, side{"side"};

  // Fewer elements leave registers for more sums of each.
  int sums_per_element(const Columns& cols) const {
    const int vectors = column.k / products_per_vector();
    return std::max(1, std::min(schedule.kr * (schedule.nr / cols.width) * (schedule.mr / column.height), vectors));
  }

  int products_per_vector() const { return schedule.lanes * (schedule.pairs_products ? kProductsPerPair : 1); }

  // sum + the products at `at` along K, or of pair `at`.
  Expr multiply_add(const Columns& cols, const Expr& sum, const Expr& at) const {
    return numeric.multiply_add(sum, numeric.to_accumulator(a_at(at)), numeric.b_to_accumulator(b_at(cols, at)));
  }
  Expr pair_at(const Columns& cols, const Expr& sum, const Expr& at) const {
    const Expr low = kProductsPerPair * at, high = low + 1;
    return pair_multiply_add(sum, factor_pair(a_at(low), a_at(high)), factor_pair(b_at(cols, low), b_at(cols, high)));
  }
  Expr a_at(const Expr& k) const { return column.a(k, tile_r * column.height + r); }
  Expr b_at(const Columns& cols, const Expr& k) const { return column.b(cols.start + tile_x * cols.width + x, k); }

  void unroll_tile(Halide::Stage stage) const { stage.unroll(x).unroll(r); }

  // acc(lane, side, x, r, tile_x, tile_r): products, or pairs of them, lane + (side + i * sides) * lanes.
  Func products(const Columns& cols, int sides, const std::string& suffix) const {
    const int lanes = schedule.lanes, height = column.height, steps = column.k / (products_per_vector() * sides);
    Func acc("acc" + suffix);
    acc(lane, side, x, r, tile_x, tile_r) = Halide::cast(summed, 0);
    const auto finish_stage = [&](Halide::Stage stage) {
      unroll_tile(stage);
      return stage;
    };
    finish_stage(Halide::Stage(acc)).vectorize(lane).unroll(side);
    RDom step(0, steps, "step" + suffix);
    const Expr sum = acc(lane, side, x, r, tile_x, tile_r), at = (step * sides + side) * lanes + lane;
    acc(lane, side, x, r, tile_x, tile_r) =
        schedule.pairs_products ? pair_at(cols, sum, at) : multiply_add(cols, sum, at);
    // What is fewer, vectors of A or of B, stays in registers while the others pass by.
    const bool keeps_a = height < cols.width;
    acc.update(0).reorder(keeps_a ? std::vector<Halide::VarOrRVar>{lane, r, x, side, step}
                                  : std::vector<Halide::VarOrRVar>{lane, x, r, side, step});
    finish_stage(acc.update(0)).vectorize(lane).unroll(side);

    // The rest of K: whole vectors, then halves of them.
    int start = steps * sides * products_per_vector(), stage = 1;
    for (int width = lanes; width >= 1; width /= 2) {
      for (int at_side = 0; column.k - start >= width; ++at_side) {
        const int first_lane = (start % lanes) / width * width;
        RDom rest(first_lane, width, fmt::format("rest{}_{}", stage, suffix));
        acc(rest, at_side % sides, x, r, tile_x, tile_r) =
            multiply_add(cols, acc(rest, at_side % sides, x, r, tile_x, tile_r), start - first_lane + rest);
        Halide::Stage update = acc.update(stage++);
        update.allow_race_conditions();
        finish_stage(update);
        if (width > 1)
          update.vectorize(rest);
        else
          update.unroll(rest);
        start += width;
      }
    }
    acc.bound(lane, 0, lanes).bound(side, 0, sides).bound(x, 0, cols.width).bound(r, 0, height);
    return acc;
  }

  // The sum of an element's vectors, then of their lanes, in halves. In `stages` all steps, which the caller places.
  Func add_up(Func acc, int sides, const std::string& suffix, std::vector<Func>& stages) const {
    Func vector("vector" + suffix);
    Expr sum = acc(lane, 0, x, r, tile_x, tile_r);
    for (int s = 1; s < sides; ++s) sum += acc(lane, s, x, r, tile_x, tile_r);
    vector(lane, x, r, tile_x, tile_r) = sum;
    vector.bound(lane, 0, schedule.lanes).vectorize(lane);
    stages.push_back(vector);
    for (int half = schedule.lanes / 2; half >= 1; half /= 2) {
      Func halved(fmt::format("halved{}_{}", half, suffix));
      const Func& whole = stages.back();
      halved(lane, x, r, tile_x, tile_r) = whole(lane, x, r, tile_x, tile_r) + whole(lane + half, x, r, tile_x, tile_r);
      halved.bound(lane, 0, half);
      if (half > 1) halved.vectorize(lane);
      stages.push_back(halved);
    }
    return stages.back();
  }

  // One more update of y: all rows of these columns.
  void add_columns(const Columns& cols) {
    if (cols.count * cols.width == 0) return;
    const std::string suffix = std::to_string(updates);
    const int sides = sums_per_element(cols), height = column.height;
    std::vector<Func> stages = {products(cols, sides, suffix)};
    const Func dot = add_up(stages.front(), sides, suffix, stages);

    RDom at({{0, cols.width}, {0, height}, {0, column.tiles}, {0, cols.count}}, "at" + suffix);
    const RVar at_x = at[0], at_r = at[1], at_tile_r = at[2], at_tile_x = at[3];
    const Expr out_x = cols.start + at_tile_x * cols.width + at_x, out_r = at_tile_r * height + at_r;
    column.y(out_x, out_r) =
        numeric.finish(dot(0, at_x, at_r, at_tile_x, at_tile_r), elements_at(column.added, out_x, out_r));
    Halide::Stage store = column.y.update(updates++);
    // Each tile writes its own elements, which Halide cannot see through the arithmetic on RVars.
    store.allow_race_conditions().unroll(at_r);
    const bool is_power_of_two = (cols.width & (cols.width - 1)) == 0;
    if (cols.width > 1 && is_power_of_two)
      store.vectorize(at_x);
    else
      store.unroll(at_x);
    for (Func& stage : stages) {
      stage.compute_at(column.y, at_tile_r).store_in(Halide::MemoryType::Register);
      stage.bound(x, 0, cols.width).bound(r, 0, height);
    }
    for (size_t i = 1; i < stages.size(); ++i) unroll_tile(Halide::Stage(stages[i]));
  }
};

HalideFunction dots_function(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                             const Numeric& numeric, int height) {
  DotsBuilder builder{.numeric = numeric,
                      .summed = accumulator_type(problem.dtype),
                      .schedule = schedule,
                      .column = TileColumn(problem, form, height, *form.k.static_value(), 2)};
  const int n = builder.column.n, nr = std::min(schedule.nr, n);
  builder.add_columns({0, n / nr, nr});
  builder.add_columns({n / nr * nr, 1, n % nr});
  return builder.column.function(fmt::format("dots_{}", height));
}

}  // namespace

std::vector<HalideFunction> dots_functions(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                           const Target& target) {
  const Numeric numeric(problem, target);
  std::vector<HalideFunction> functions;
  for (int height : tile_heights(form.m, schedule))
    functions.push_back(dots_function(problem, form, schedule, numeric, height));
  return functions;
}

}  // namespace gemmc
