#include "schedules/heuristic_schedule.h"

#include <algorithm>
#include <limits>

#include "core/loop_form.h"
#include "schedules/blocking.h"

namespace gemmc {
namespace {

// The most rows of a strip where `rows` are split over as few strips of at most `most` as possible.
int64_t split_evenly(int64_t rows, int64_t most) {
  const int64_t strips = (rows + most - 1) / most;
  return (rows + strips - 1) / strips;
}

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

// Cycles that one product of a tile takes: two multiply-adds or two loads at a time, and some for the loop itself and
// the latency of a multiply-add. Measured on Zen 5, tiles of one vector beside ones of three and four.
double cycles_of_tile(double rows, int vectors) {
  constexpr double kPerCycle = 2, kLeast = 5;
  return std::max({rows * vectors / kPerCycle, (rows + vectors) / kPerCycle, kLeast});
}

// Of the tiles with as many accumulators, the one that leaves no narrow tile behind the last whole one, where N is
// known: with four vectors for N of 64 or 100, 1.04 to 1.1 x as fast as with three on Zen 5. `has_narrow_rest`: what is
// left are tiles of one vector each.
RegisterTile fitting_tile(const LoopForm& form, const RegisterTile& usual, int lanes, bool has_narrow_rest) {
  constexpr RegisterTile kTiles[] = {{8, 3}, {6, 4}};
  const std::optional<int64_t> n = form.n.static_value(), m = form.m.static_value();
  const bool is_choice = usual.mr == kTiles[0].mr && usual.vectors == kTiles[0].vectors;
  if (!is_choice || !n || *n <= lanes || m == 0) return usual;
  RegisterTile best = usual;
  double least = std::numeric_limits<double>::max();
  for (const RegisterTile& tile : kTiles) {
    const int64_t vectors = (*n + lanes - 1) / lanes, strips = m ? (*m + tile.mr - 1) / tile.mr : 1;
    const double rows = m ? static_cast<double>(*m) / static_cast<double>(strips) : tile.mr;
    const int rest = static_cast<int>(vectors % tile.vectors);
    double cycles = static_cast<double>(vectors / tile.vectors) * cycles_of_tile(rows, tile.vectors);
    if (rest > 0) cycles += has_narrow_rest ? rest * cycles_of_tile(rows, 1) : cycles_of_tile(rows, rest);
    cycles *= static_cast<double>(strips) / (m ? 1.0 : tile.mr);
    if (cycles < least) best = tile;
    least = std::min(least, cycles);
  }
  return best;
}

// Tiles that are lower than mr, but not by half, are made wider to have as many accumulators in flight: at M=8 two of
// 4 x 24 rather than of 4 x 16 elements, 1.05 to 1.13 x faster on Zen 3. Not where few columns would be left over for
// a narrow tile. Lower ones take several panels at a time.
void widen_low_tiles(const LoopForm& form, Schedule& schedule) {
  constexpr int64_t kFewestTiles = 8;
  const std::optional<int64_t> m = form.m.static_value();
  if (!m) return;
  const auto height = static_cast<int>(split_evenly(*m, schedule.mr));
  const int vectors = schedule.mr * (schedule.nr / schedule.lanes) / height;
  const int wide = vectors * schedule.lanes;
  if (schedule.mr / height > 1 || wide <= schedule.nr || *form.n.static_value() < kFewestTiles * wide) return;
  schedule.mr = height;
  schedule.nr = wide;
}

// Where B is one vector or half of one ..., tiles are higher, to have as many accumulators in flight. Columns that are
// no power of two make two vectors.
void heighten_narrow_tiles(const LoopForm& form, Schedule& schedule) {
  // A run-time M needs a function for each height. Measured on Zen 5, float32, with 512-bit vectors: 16 x 16 x 16 and
  // 64 x 10 x 128 are 1.05 x as fast with the taller ones.
  const int tallest = form.m.is_static() ? 24 : 12;
  const int64_t n = form.n.static_value().value_or(schedule.nr);
  const bool is_padded = schedule.family == Family::kGeneral || schedule.masks_columns;
  if (n == 0 || n > schedule.lanes || ((n & (n - 1)) != 0 && !is_padded)) return;
  schedule.mr = std::min(schedule.mr * (schedule.nr / schedule.lanes), tallest);
  schedule.nr = schedule.lanes;
}

constexpr int kUnroll = 8;  // K blocks end between turns of unrolled loops

// Products of a block of a B that is packed: A's rows stay in the L2 cache while its panels pass by, and are not many
// less than a block for the vectors of Y that each block reads and writes. Measured on Zen 3, float32, 128 x 768 x 3072
// and 1024 x 1024 x 1024: 1.1 to 1.5 x as fast as in one block; at K = 768 one block is best.
int packed_products_per_block(const LoopForm& form, int bytes) {
  constexpr int64_t kLongestBytes = 3072, kBlockBytes = 2048, kFewRows = 12;
  const int64_t k = *form.k.static_value();
  if (k * bytes <= kLongestBytes || form.m.static_value().value_or(kFewRows + 1) <= kFewRows) return 0;
  return round_up(static_cast<int>(split_evenly(k, kBlockBytes / bytes)), kUnroll);
}

bool has_many_rows(const LoopForm& form) {
  return form.m.static_value().value_or(kMostUnpackedRows + 1) > kMostUnpackedRows;
}

// Products of a block of a B that is read in place. Few rows wait for B, whose rows in a block are as many streams;
// more rows wait for their sums, which each block reads and writes. A narrow B is one stream. Measured on Zen 3,
// float32: 4 x 4096 x 1024 is 1.4 x as fast with 8 as with 16 and 2 x as with 32, 24 x 512 x 2048 1.2 x with 64 as
// with 16.
// With 512-bit vectors, rows of a tile are whole lines, and long blocks are best for any number of rows: Zen 5,
// float32, 8 x 2000 x 2000 is 1.5 x as fast with 256 as with 16, 16 x 1000 x 2048 1.2 x as with 32.
int unpacked_products_per_block(const LoopForm& form, const Target& target, int bytes) {
  constexpr int64_t kFewRows = 16, kUsualRows = 16, kL1Bytes = 16 * 1024, kL2Bytes = 256 * 1024, kMost = 256;
  const int64_t n = *form.n.static_value(), k = *form.k.static_value();
  const int64_t row_bytes = n * bytes;
  const std::optional<int64_t> m = form.m.static_value();
  int64_t products = 0;
  if (target.has(kAvx512)) {
    products = kMost;
  } else if (row_bytes <= kMostNarrowBytes) {
    products = (has_many_rows(form) ? kL2Bytes : kL1Bytes) / row_bytes;
  } else {
    const int64_t rows = m.value_or(kUsualRows);
    products = std::min(rows <= kFewRows ? 2 * rows : 4 * rows, kMost);
  }
  int64_t turns = std::max<int64_t>(products / kUnroll, 1) * kUnroll;
  if (k <= turns) return 0;
  // Blocks of one length, where it need not be much less, are half as much code.
  const int64_t least = turns / 2;
  for (int64_t equal = turns; equal > least; equal -= kUnroll) {
    if (k % equal == 0) return static_cast<int>(equal);
  }
  return static_cast<int>(turns);
}

// Where B's rows are less than a vector and no power of two, of the narrowest vectors that hold them.
void mask_columns(const Problem& problem, const Target& target, Schedule& schedule) {
  constexpr int kNarrowest = 4;
  const LoopForm form = loop_form(problem);
  const int64_t n = *form.n.static_value();
  if (!target.has(kAvx512) || schedule.packs_b || (n & (n - 1)) == 0) return;
  if (!may_mask_columns(problem, form, schedule.lanes)) return;
  while (schedule.lanes / 2 >= std::max<int64_t>(n, kNarrowest)) schedule.lanes /= 2;
  schedule.masks_columns = n < schedule.lanes;
}

void size_tiled(const Problem& problem, const Target& target, int bytes, Schedule& schedule) {
  constexpr int64_t kL1Bytes = 32 * 1024;
  const LoopForm form = loop_form(problem);
  const int64_t n = *form.n.static_value(), k = *form.k.static_value();
  // Panels are no wider than B needs. Below one vector the padding would be more than B.
  schedule.packs_b = problem.b.is_constant && (n >= schedule.lanes || !reads_b_in_place(form));
  if (can_keep_sums_in_y(problem, form)) {
    if (schedule.packs_b) schedule.kc = packed_products_per_block(form, bytes);
    const bool is_in_l2 = is_unpacked_b_near(form, b_dtype(problem), target);
    if (!schedule.packs_b && n * k * bytes > kL1Bytes && !(has_many_rows(form) && is_in_l2)) {
      schedule.kc = unpacked_products_per_block(form, target, bytes);
    }
  }
  mask_columns(problem, target, schedule);
  if (schedule.packs_b || schedule.kc == 0) widen_low_tiles(form, schedule);
  heighten_narrow_tiles(form, schedule);
  if (schedule.packs_b && n < schedule.nr) schedule.nr = round_up(static_cast<int>(n), schedule.lanes);
  // A block of A stays in the L2 cache while the columns of B pass by.
  constexpr int64_t kBlockBytes = 256 * 1024;
  const int64_t row_bytes = bytes * (schedule.kc > 0 ? schedule.kc : k);
  const int64_t tiles = std::clamp<int64_t>(kBlockBytes / row_bytes, schedule.mr, kMostTiledRows) / schedule.mr;
  schedule.mc = static_cast<int>(tiles) * schedule.mr;
}

// Columns of a block in memory that the caller lends: A is then read less often. 0 where that is no more than nc.
int lent_columns(const LoopForm& form, int accumulator_bytes, const Schedule& schedule) {
  constexpr int kLentBytes = 512 * 1024, kMostLentColumns = 1024;
  const int most = std::min(kLentBytes / accumulator_bytes / schedule.kc, kMostLentColumns) / schedule.nr;
  const int64_t columns = form.n.static_value().value_or(kMostLentColumns);
  const int64_t panels = std::min<int64_t>((columns + schedule.nr - 1) / schedule.nr, most);
  return panels * schedule.nr > schedule.nc ? static_cast<int>(panels) * schedule.nr : 0;
}

// The packed block of B stays in the L2 cache while the rows pass by, all of its columns for a strip at a time. It is
// long in K, so that most products have one K block, and as wide as that leaves room for: rows are then read, and pages
// of Y touched, less often. Measured on Zen 3, float32, from 256 x 256 x 384 to 1024 x 1024 x 1024 and for heads of
// attention: the best or within 1 % of it, against blocks of half the length and others of the same size. Where K has
// several blocks anyhow, whose sums wait in Y, they are half as long and twice as wide: 1.05 to 1.2 x as fast.
void size_general_blocks(const Problem& problem, const Target& target, int accumulator_bytes, Schedule& schedule) {
  constexpr int kPackedColumns = 32, kPackedColumnsOfMany = 64;  // at least: narrower blocks would read A too often
  constexpr int kMostColumns = 256;                              // wider ones gain nothing more
  constexpr int kMostRows = 180;  // likewise, and the sums of several K blocks lie on the stack
  // A quarter of a small L2 cache; half as much where a block of converted A lies on the stack too.
  constexpr int kPackedBytes = 64 * 1024;
  const LoopForm form = loop_form(problem);
  const int64_t m = form.m.static_value().value_or(0), n = form.n.static_value().value_or(kMostColumns);
  heighten_narrow_tiles(form, schedule);
  // Rows of a strip that do not exist are computed all the same.
  if (m > 0) schedule.mr = static_cast<int>(split_evenly(m, schedule.mr));
  schedule.pairs_products = may_pair_products(problem, target);
  schedule.packs_a = schedule.pairs_products && form.a.col.static_value() != 1;
  const bool has_a = copies_a(schedule, problem.dtype);
  const auto packed_bytes = static_cast<int>(factor_bytes(schedule, problem.dtype));  // of a product's factor
  const int packed = (has_a ? kPackedBytes / 2 : kPackedBytes) / packed_bytes;
  const auto whole_panels = [&](int columns) { return schedule.nr * std::max(1, columns / schedule.nr); };
  // Blocks of B whose columns are read along K are turned line by line.
  constexpr int kLineElements = 2 * kUnroll;
  const auto longest_of = [&](int columns) { return packed / columns / kLineElements * kLineElements; };
  int narrowest = whole_panels(kPackedColumns);
  const bool has_many = form.k.static_value().value_or(longest_of(narrowest) + 1) > longest_of(narrowest);
  if (has_many && can_keep_sums_in_y(problem, form)) narrowest = whole_panels(kPackedColumnsOfMany);
  const int longest = longest_of(narrowest);
  const int64_t k = std::max<int64_t>(form.k.static_value().value_or(longest), 1);
  schedule.kc = round_up(static_cast<int>(split_evenly(k, longest)), k > longest ? kLineElements : kUnroll);
  const int widest = std::clamp(packed / schedule.kc, narrowest, std::max(kMostColumns, narrowest));
  const auto columns = static_cast<int>(std::clamp<int64_t>(n, 1, widest));
  schedule.nc = std::min(round_up(columns, schedule.nr), widest / schedule.nr * schedule.nr);
  schedule.sums_in_y = may_need_many_blocks(form, schedule) && can_keep_sums_in_y(problem, form);
  if (schedule.sums_in_y) {
    constexpr int kRowsOfCall = 1024;  // more would only bring the limit of their indices nearer
    schedule.mc = kRowsOfCall / schedule.mr * schedule.mr;
    if (schedule.nc < kMostColumns) schedule.lent_nc = lent_columns(form, accumulator_bytes, schedule);
    return;
  }
  const int left = kStackBudgetBytes - packed_bytes * schedule.kc * schedule.nc;
  const int row_bytes = accumulator_bytes * schedule.nc + (has_a ? packed_bytes * schedule.kc : 0);
  const int rows = std::min(left / row_bytes, kMostRows);
  schedule.mc = std::max(rows / schedule.mr, 1) * schedule.mr;
}

// As many elements at once as registers allow, with what is left for the operands; more products side by side where the
// elements are few, because a multiply-add has to wait for the one before it in its own sum.
void size_dots(const Problem& problem, const Target& target, const RegisterTile& tile, Schedule& schedule) {
  const LoopForm form = loop_form(problem);
  constexpr int kTallest = 4, kMostColumns = 8, kFewestSums = 8;
  const int sums = tile.mr * tile.vectors;
  const int64_t n = *form.n.static_value(), k = *form.k.static_value();
  while (schedule.lanes > k) schedule.lanes /= 2;
  schedule.pairs_products = may_pair_products(problem, target) && schedule.lanes >= kFewestPairLanes &&
                            kProductsPerPair * schedule.lanes <= k;
  const int64_t vectors = k / schedule.lanes / (schedule.pairs_products ? kProductsPerPair : 1);
  const int most_rows = std::min(n == 1 ? kMostColumns : kTallest, sums);
  const std::optional<int64_t> m = form.m.static_value();
  schedule.mr = m ? static_cast<int>(split_evenly(*m, most_rows)) : most_rows;
  schedule.nr = static_cast<int>(std::min<int64_t>({n, kMostColumns, sums / schedule.mr}));
  const int64_t side_by_side = std::max(1, kFewestSums / (schedule.mr * schedule.nr));
  schedule.kr = static_cast<int>(std::min(side_by_side, vectors));
  schedule.mc = kMostTiledRows / schedule.mr * schedule.mr;
}

// The elements of A that a group of rows of B meets stay in registers, beside a vector of sums and one of B.
void size_rows(const LoopForm& form, const RegisterTile& tile, int accumulator_bytes, Schedule& schedule) {
  constexpr int kTallest = 3, kMostRowsOfB = 8, kVectors = 2;
  const int in_registers = tile.mr * tile.vectors * 5 / 6;
  const std::optional<int64_t> m = form.m.static_value();
  schedule.mr = m ? static_cast<int>(split_evenly(*m, kTallest)) : kTallest;
  const int64_t k = *form.k.static_value();
  schedule.kr =
      static_cast<int>(std::clamp<int64_t>(in_registers / schedule.mr, 1, std::min<int64_t>(k, kMostRowsOfB)));
  schedule.nr = kVectors * schedule.lanes;
  const int64_t widest = kRowSumsBytes / accumulator_bytes / schedule.mr / schedule.nr * schedule.nr;
  // All columns in one block where they fit.
  schedule.nc = round_up(static_cast<int>(std::min(*form.n.static_value(), widest)), schedule.nr);
  schedule.mc = kMostTiledRows / schedule.mr * schedule.mr;
}

}  // namespace

RegisterTile register_tile(DType dtype, const Target& target) {
  const DType accumulator_type = accumulator(dtype);
  const bool is_float = !is_integer(accumulator_type);
  if (target.has(kAvx512)) return is_float ? RegisterTile{8, 3} : RegisterTile{8, 2};
  if (accumulator_type == DType::kUInt64) return {3, 2};
  return is_float && target.has(kFma) ? RegisterTile{6, 2} : RegisterTile{4, 2};
}

int accumulator_lanes(DType dtype, const Target& target) {
  return target.vector_bytes() / static_cast<int>(size_bytes(accumulator(dtype)));
}

Schedule heuristic_schedule(Family family, const Problem& problem, const Target& target) {
  const int bytes = static_cast<int>(size_bytes(accumulator(problem.dtype)));
  const LoopForm form = loop_form(problem);
  const int lanes = accumulator_lanes(problem.dtype, target);
  RegisterTile tile = register_tile(problem.dtype, target);
  const bool is_general = family == Family::kGeneral;
  if (is_general || family == Family::kTiled) tile = fitting_tile(form, tile, lanes, is_general);
  Schedule schedule{.family = family, .mr = tile.mr, .nr = tile.vectors * lanes, .lanes = lanes};
  if (family == Family::kTiled) size_tiled(problem, target, bytes, schedule);
  if (family == Family::kDots) size_dots(problem, target, tile, schedule);
  if (family == Family::kRows) size_rows(form, tile, bytes, schedule);
  if (family == Family::kGeneral) size_general_blocks(problem, target, bytes, schedule);
  return schedule;
}

}  // namespace gemmc
