#include "schedules/family_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/loop_form.h"

namespace gemmc {
namespace {

using Refusal = std::optional<std::string>;

// Halide's loops and indices inside one kernel body are 32-bit; so are byte offsets that LLVM makes of them.
constexpr int64_t kLargestTiledSize = std::numeric_limits<int32_t>::max();
constexpr int64_t kLargestTiledOperandBytes = std::numeric_limits<int32_t>::max();
// Of any valid schedule.
constexpr int64_t kMostPanelColumns = 512;

struct OperandSpan {
  char operand;
  int64_t rows, cols;
  std::optional<int64_t> row_stride, col_stride;
};

// Whether vectors of a row of B can be loaded from where it is.
bool reads_b_in_place(const LoopForm& form) { return form.b.col.static_value() == 1 || form.n.static_value() == 1; }

Refusal refuse_tiled(const Problem& problem, const Target&) {
  const LoopForm form = loop_form(problem);
  const auto m = form.m.static_value(), n = form.n.static_value(), k = form.k.static_value();
  if (!n || !k) return "N or K is known only at the call";
  if (m == 0 || *n == 0 || *k == 0) return "M, N or K is 0";
  // A stride of 0 makes a large size of a small operand.
  if (std::max(*n, *k) > kLargestTiledSize) {
    return fmt::format("N={}, K={}: one of them is over {}", *n, *k, kLargestTiledSize);
  }
  const auto bytes = static_cast<__int128>(size_bytes(problem.dtype));
  const int64_t rows = std::min<int64_t>(m.value_or(kMostTiledRows), kMostTiledRows);
  if (size_bytes(problem.dtype) == 2)
    return fmt::format("{} operands are converted while they are packed", name(problem.dtype));

  const MatrixStrides zero{{-1, SizeExpr::fixed(0)}, {-1, SizeExpr::fixed(0)}};
  const MatrixStrides c = form.has_c ? form.c : zero;
  const OperandSpan spans[] = {
      {'A', rows, *k, form.a.row.static_value(), form.a.col.static_value()},
      {'B', *k, *n, form.b.row.static_value(), form.b.col.static_value()},
      {'C', rows, *n, c.row.static_value(), c.col.static_value()},
      {'Y', rows, *n, form.y.row.static_value(), form.y.col.static_value()},
  };
  for (const OperandSpan& span : spans) {
    if (!span.row_stride || !span.col_stride)
      return fmt::format("a stride of {} is known only at the call", span.operand);
    const auto magnitude = [](int64_t stride) { return stride < 0 ? -static_cast<__int128>(stride) : stride; };
    const __int128 elements =
        (span.rows - 1) * magnitude(*span.row_stride) + (span.cols - 1) * magnitude(*span.col_stride) + 1;
    if (elements * bytes > kLargestTiledOperandBytes) {
      return fmt::format("{} rows of {} span more than {} bytes", span.rows, span.operand, kLargestTiledOperandBytes);
    }
  }
  if (!problem.b.is_constant && !reads_b_in_place(form)) {
    return "B's columns are not neighbours in memory: it must be packed, which needs a constant B";
  }
  if (problem.b.is_constant && (__int128{*n} + kMostPanelColumns) * *k * bytes > kLargestTiledOperandBytes) {
    return fmt::format("B packed has more than {} bytes", kLargestTiledOperandBytes);
  }
  if (form.y.col.static_value() != 1 && *n > 1) return "Y's columns are not neighbours in memory";
  if (const auto c_col = c.col.static_value(); c_col != 1 && c_col != 0 && *n > 1) {
    return "C's columns are not neighbours in memory";
  }
  return std::nullopt;
}

struct RegisterTile {
  int mr, vectors;
};

// Accumulators, one broadcast of A and the vectors of a row of B must fit the registers; a product that is not fused
// needs one more, and a 64-bit integer product without AVX-512's vpmullq several.
RegisterTile register_tile(DType accumulator_type, const Target& target) {
  const bool is_float = !is_integer(accumulator_type);
  if (target.has(kAvx512)) return is_float ? RegisterTile{8, 3} : RegisterTile{8, 2};
  if (accumulator_type == DType::kUInt64) return {3, 2};
  return is_float && target.has(kFma) ? RegisterTile{6, 2} : RegisterTile{4, 2};
}

// Above this K the unpacked rows of B that one column of tiles walks through, one page or cache set apart, are no
// longer there when the next tile asks for them, and with more bytes B is not in the L1 cache. Measured on Zen
// 3, float32: tiled is 0 to 5 % faster up to both, general 1.1 to 3 x faster above either.
constexpr int64_t kLongestUnpackedK = 320, kMostUnpackedBytes = 40 * 1024;

Refusal demur_tiled(const Problem& problem, const Target& target) {
  const LoopForm form = loop_form(problem);
  const int64_t n = *form.n.static_value(), k = *form.k.static_value();
  const auto bytes = static_cast<int64_t>(size_bytes(b_dtype(problem)));
  const std::optional<int64_t> m = form.m.static_value();
  // Few rows may come where M is known only at the call: packing would then cost more than the product.
  const bool is_long = k > kLongestUnpackedK, is_large = m && n * k > kMostUnpackedBytes / bytes;
  if ((!is_long && !is_large) || problem.b.is_constant) return std::nullopt;
  if (m && *m <= 2 * register_tile(accumulator(problem.dtype), target).mr) return std::nullopt;
  return fmt::format("many tiles of rows may walk through B unpacked, {}: packing pays",
                     is_long ? fmt::format("K={} over {}", k, kLongestUnpackedK)
                             : fmt::format("{} bytes over {}", n * k * bytes, kMostUnpackedBytes));
}

Refusal never(const Problem&, const Target&) { return std::nullopt; }

struct FamilyRow {
  Family family;
  bool sums_by_k;
  Refusal (*refuse)(const Problem&, const Target&);
  Refusal (*demur)(const Problem&, const Target&);  // asked only where it does not refuse
};

constexpr FamilyRow kFamilies[] = {
    {Family::kTiled, true, refuse_tiled, demur_tiled},
    {Family::kGeneral, true, never, never},
};

// The most rows of a strip where `rows` are split over as few strips of at most `most` as possible.
int64_t split_evenly(int64_t rows, int64_t most) {
  const int64_t strips = (rows + most - 1) / most;
  return (rows + strips - 1) / strips;
}

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

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

// The packed block of B stays in the L2 cache while the rows pass by, all of its columns for a strip at a time. It is
// long in K, so that most products have one K block, and as wide as that leaves room for: rows are then read, and pages
// of Y touched, less often. Measured on Zen 3, float32, from 256 x 256 x 384 to 1024 x 1024 x 1024 and for heads of
// attention: the best or within 1 % of it, against blocks of half the length and others of the same size.
void size_general_blocks(const Problem& problem, int accumulator_bytes, Schedule& schedule) {
  constexpr int kPackedColumns = 32, kMostColumns = 256, kMostRows = 180;
  const LoopForm form = loop_form(problem);
  const int64_t m = form.m.static_value().value_or(0), n = form.n.static_value().value_or(kMostColumns);
  // Rows of a strip that do not exist are computed all the same.
  if (m > 0) schedule.mr = static_cast<int>(split_evenly(m, schedule.mr));
  // Of operands that are converted the rows too are kept on the stack.
  const bool copies_a = static_cast<int>(size_bytes(problem.dtype)) != accumulator_bytes;
  const int packed = (copies_a ? 32 : 64) * 1024 / accumulator_bytes;  // elements
  const int narrowest = schedule.nr * std::max(1, kPackedColumns / schedule.nr);
  const int longest = packed / narrowest / 8 * 8;
  const int64_t k = std::max<int64_t>(form.k.static_value().value_or(longest), 1);
  schedule.kc = round_up(static_cast<int>(split_evenly(k, longest)), 8);
  const int widest = std::clamp(packed / schedule.kc, narrowest, std::max(kMostColumns, narrowest));
  const auto columns = static_cast<int>(std::clamp<int64_t>(n, 1, widest));
  schedule.nc = std::min(round_up(columns, schedule.nr), widest / schedule.nr * schedule.nr);
  const int left = kStackBudgetBytes / accumulator_bytes - schedule.kc * schedule.nc;
  const int rows = std::min(left / (schedule.nc + (copies_a ? schedule.kc : 0)), kMostRows);
  schedule.mc = std::max(rows / schedule.mr, 1) * schedule.mr;
}

}  // namespace

std::optional<std::string> refuse_order(bool sums_by_k, const Problem& problem, const Target& target) {
  if (problem.order != SummationOrder::kByK || is_integer(problem.dtype)) return std::nullopt;
  if (!sums_by_k) return "order=k: the family sums in another order";
  if (target.has(kFma)) return std::nullopt;
  return fmt::format("order=k is a chain of fused multiply-adds, which {} has not", target.to_string());
}

std::vector<FamilyVerdict> judge_families(const Problem& problem, const Target& target) {
  std::vector<FamilyVerdict> verdicts;
  for (const FamilyRow& row : kFamilies) {
    Refusal refusal = refuse_order(row.sums_by_k, problem, target);
    if (!refusal) refusal = row.refuse(problem, target);
    Refusal demurral = refusal ? std::nullopt : row.demur(problem, target);
    verdicts.push_back({row.family, row.sums_by_k, std::move(refusal), std::move(demurral)});
  }
  return verdicts;
}

std::optional<std::string> refuse_schedule(const Schedule& schedule, const Problem& problem, const Target& target) {
  for (const FamilyVerdict& verdict : judge_families(problem, target)) {
    if (verdict.family == schedule.family && verdict.refusal) return verdict.refusal;
  }
  if (schedule.packs_b && !problem.b.is_constant) return "pack=b needs a B that is a constant matrix, all known";
  if (schedule.family == Family::kTiled && !schedule.packs_b && !reads_b_in_place(loop_form(problem))) {
    return "B's columns are not neighbours in memory: it needs pack=b";
  }
  return std::nullopt;
}

Schedule heuristic_schedule(Family family, const Problem& problem, const Target& target) {
  const DType accumulator_type = accumulator(problem.dtype);
  const int bytes = static_cast<int>(size_bytes(accumulator_type));
  const RegisterTile tile = register_tile(accumulator_type, target);
  Schedule schedule{.family = family, .mr = tile.mr, .lanes = target.vector_bytes() / bytes};
  schedule.nr = tile.vectors * schedule.lanes;
  if (family == Family::kTiled) {
    const LoopForm form = loop_form(problem);
    const int64_t n = *form.n.static_value();
    widen_low_tiles(form, schedule);
    // Panels are no wider than B needs. Below one vector the padding would be more than B.
    schedule.packs_b = problem.b.is_constant && (n >= schedule.lanes || !reads_b_in_place(form));
    if (schedule.packs_b && n < schedule.nr) schedule.nr = round_up(static_cast<int>(n), schedule.lanes);
    // A block of A stays in the L2 cache while the columns of B pass by.
    constexpr int64_t kBlockBytes = 256 * 1024;
    const int64_t row_bytes = bytes * *form.k.static_value();
    const int64_t tiles = std::clamp<int64_t>(kBlockBytes / row_bytes, schedule.mr, kMostTiledRows) / schedule.mr;
    schedule.mc = static_cast<int>(tiles) * schedule.mr;
  }
  if (family == Family::kGeneral) size_general_blocks(problem, bytes, schedule);
  return schedule;
}

Expected<Schedule> choose_schedule(const Problem& problem, const Target& target) {
  std::string reason;
  for (const FamilyVerdict& verdict : judge_families(problem, target)) {
    if (!verdict.refusal && !verdict.demurral) return heuristic_schedule(verdict.family, problem, target);
    reason = verdict.refusal ? *verdict.refusal : *verdict.demurral;
  }
  return Status::unsupported(reason);
}

}  // namespace gemmc
