#include "schedules/family_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/loop_form.h"
#include "schedules/blocking.h"
#include "schedules/heuristic_schedule.h"

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

// What all families but kGeneral cannot take: sizes and strides that are not known, or beyond 32-bit indices.
Refusal refuse_tile_columns(const Problem& problem) {
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
  return std::nullopt;
}

Refusal refuse_dots(const Problem& problem, const Target&) {
  if (Refusal refusal = refuse_tile_columns(problem)) return refusal;
  const LoopForm form = loop_form(problem);
  if (const int64_t k = *form.k.static_value(); k < kFewestLanes) return fmt::format("K={} makes no vector", k);
  if (form.a.col.static_value() != 1) return "A's neighbours along K are not neighbours in memory";
  if (form.b.row.static_value() != 1) return "B's neighbours along K are not neighbours in memory";
  return std::nullopt;
}

// More rows than these earn back that the general family packs B by transposing it. Measured on Zen 3, float32: 1.3 x
// as fast as that at 64 x 512 x 1024 and 1.6 x at 32 x 1000 x 2048, 0.9 of it at 128 x 768 x 768.
constexpr int64_t kMostDotsRows = 96;

Refusal demur_dots(const Problem& problem, const Target& target, std::optional<int64_t> most_rows) {
  const LoopForm form = loop_form(problem);
  const int64_t n = *form.n.static_value(), k = *form.k.static_value();
  const int lanes = accumulator_lanes(problem.dtype, target);
  if (k < 2 * lanes) return fmt::format("K={} is less than two vectors of {}", k, lanes);
  if (n == 1) return std::nullopt;
  if (problem.b.is_constant && n >= lanes) return "a constant B is packed once, in panels of columns";
  if (most_rows && *most_rows <= kMostDotsRows) return std::nullopt;
  return fmt::format("more than {} rows may pass by: packing B pays", kMostDotsRows);
}

// What the families cannot take that load and store vectors of rows of B, C and Y.
Refusal refuse_column_strides(const LoopForm& form) {
  if (form.n.static_value() == 1) return std::nullopt;
  if (form.y.col.static_value() != 1) return "Y's columns are not neighbours in memory";
  const std::optional<int64_t> c_col = form.has_c ? form.c.col.static_value() : 0;
  if (c_col != 1 && c_col != 0) return "C's columns are not neighbours in memory";
  return std::nullopt;
}

Refusal refuse_rows(const Problem& problem, const Target&) {
  if (Refusal refusal = refuse_tile_columns(problem)) return refusal;
  const LoopForm form = loop_form(problem);
  if (!reads_b_in_place(form)) return "B's columns are not neighbours in memory";
  return refuse_column_strides(form);
}

// With more rows than these, register tiles over short K blocks are as fast or faster: 4 x 4096 x 1024 twice, Zen 3.
constexpr int64_t kMostRowsRows = 3;
// What is in the L1 cache has no need to be read in order.
constexpr int64_t kFewestRowsBytes = 40 * 1024;

Refusal demur_rows(const Problem& problem, const Target& target, std::optional<int64_t> most_rows) {
  const LoopForm form = loop_form(problem);
  const int64_t n = *form.n.static_value(), k = *form.k.static_value();
  const int lanes = accumulator_lanes(problem.dtype, target);
  if (n < 4 * lanes) return fmt::format("N={} is less than four vectors of {}", n, lanes);
  if (problem.b.is_constant) return "a constant B is packed once, in panels of columns";
  const auto bytes = static_cast<int64_t>(size_bytes(b_dtype(problem)));
  if (n * k * bytes <= kFewestRowsBytes) return fmt::format("{} bytes of B are in the cache", n * k * bytes);
  if (most_rows && *most_rows <= kMostRowsRows) return std::nullopt;
  return fmt::format("more than {} rows may pass by", kMostRowsRows);
}

Refusal refuse_tiled(const Problem& problem, const Target&) {
  if (Refusal refusal = refuse_tile_columns(problem)) return refusal;
  const LoopForm form = loop_form(problem);
  const int64_t n = *form.n.static_value(), k = *form.k.static_value();
  if (size_bytes(problem.dtype) == 2)
    return fmt::format("{} operands are converted while they are packed", name(problem.dtype));
  if (!problem.b.is_constant && !reads_b_in_place(form)) {
    return "B's columns are not neighbours in memory: it must be packed, which needs a constant B";
  }
  const auto bytes = static_cast<__int128>(size_bytes(problem.dtype));
  if (problem.b.is_constant && (__int128{n} + kMostPanelColumns) * k * bytes > kLargestTiledOperandBytes) {
    return fmt::format("B packed has more than {} bytes", kLargestTiledOperandBytes);
  }
  return refuse_column_strides(form);
}

// So few rows that packing B costs more than it gains, where B is large. With K blocks, a strip of B stays in the cache
// while the rows pass. Measured on Zen 3, float32: 1.2 to 2 x as fast as the general family up to 96 rows, 0.9 to 1 of
// it at 200 and more; 24 where the rows of B are whole pages apart, so that all of them want the same cache sets.
int64_t most_unpacked_rows(const Problem& problem, const LoopForm& form, const Target& target) {
  constexpr int64_t kMostInPages = 24;
  // Likewise on Zen 5: 1.02 to 1.07 x up to 300 rows, 1.14 x at 32 rows of a B in pages, 0.97 of it at 64.
  constexpr int64_t kMostWide = 256, kMostWideInPages = 48;
  if (!can_keep_sums_in_y(problem, form)) return 2 * register_tile(problem.dtype, target).mr;
  if (target.has(kAvx512)) return is_b_in_pages(form, b_dtype(problem)) ? kMostWideInPages : kMostWide;
  return is_b_in_pages(form, b_dtype(problem)) ? kMostInPages : kMostUnpackedRows;
}

// Whether N is so much of a vector that cannot be masked, and rows are so many, that computing whole vectors earns back
// what padding costs. Measured on Zen 5, float32: 1.1 x as fast at 24 x 12 x 64, 1.45 x at 64 x 10 x 128 and
// 512 x 10 x 1000; not where half vectors fit.
bool is_worth_padding(const Problem& problem, const Target& target, std::optional<int64_t> most_rows) {
  constexpr int64_t kFewestRows = 24;
  const LoopForm form = loop_form(problem);
  const int64_t n = *form.n.static_value();
  const int lanes = accumulator_lanes(problem.dtype, target);
  return !may_mask_columns(problem, form, lanes) && target.has(kAvx512) && !problem.b.is_constant && n > lanes / 2 &&
         n < lanes && most_rows.value_or(kFewestRows) >= kFewestRows;
}

Refusal demur_tiled(const Problem& problem, const Target& target, std::optional<int64_t> most_rows) {
  const LoopForm form = loop_form(problem);
  const int64_t n = *form.n.static_value(), k = *form.k.static_value();
  const auto bytes = static_cast<int64_t>(size_bytes(b_dtype(problem)));
  if (is_worth_padding(problem, target, most_rows)) {
    return fmt::format("N={} is a part of a vector: a packed panel is padded", n);
  }
  if (problem.b.is_constant || is_unpacked_b_near(form, b_dtype(problem), target)) return std::nullopt;
  // Few rows may come where M is known only at the call: packing would then cost more than the product.
  if (!most_rows && k <= kLongestUnpackedK) return std::nullopt;
  // Panels of a few neighbouring lines are as good as packed.
  if (n * bytes <= kMostNarrowBytes && can_keep_sums_in_y(problem, form)) return std::nullopt;
  if (most_rows && *most_rows <= most_unpacked_rows(problem, form, target)) return std::nullopt;
  return fmt::format("many tiles of rows may walk through B unpacked, K={}, {} bytes: packing pays", k, n * k * bytes);
}

Refusal never(const Problem&, const Target&) { return std::nullopt; }
Refusal never_demurs(const Problem&, const Target&, std::optional<int64_t>) { return std::nullopt; }

struct FamilyRow {
  Family family;
  bool sums_by_k;
  Refusal (*refuse)(const Problem&, const Target&);
  // Asked only where it does not refuse. `most_rows`: M where it is static.
  Refusal (*demur)(const Problem&, const Target&, std::optional<int64_t> most_rows);
};

constexpr FamilyRow kFamilies[] = {
    {Family::kDots, false, refuse_dots, demur_dots},
    {Family::kRows, true, refuse_rows, demur_rows},
    {Family::kTiled, true, refuse_tiled, demur_tiled},
    {Family::kGeneral, true, never, never_demurs},
};

}  // namespace

std::optional<std::string> refuse_order(bool sums_by_k, const Problem& problem, const Target& target) {
  if (problem.order != SummationOrder::kByK || is_integer(problem.dtype)) return std::nullopt;
  if (!sums_by_k) return "order=k: the family sums in another order";
  if (target.has(kFma)) return std::nullopt;
  return fmt::format("order=k is a chain of fused multiply-adds, which {} has not", target.to_string());
}

std::vector<FamilyVerdict> judge_families(const Problem& problem, const Target& target,
                                          std::optional<int64_t> most_rows) {
  if (const std::optional<int64_t> m = loop_form(problem).m.static_value()) most_rows = m;
  std::vector<FamilyVerdict> verdicts;
  for (const FamilyRow& row : kFamilies) {
    Refusal refusal = refuse_order(row.sums_by_k, problem, target);
    if (!refusal) refusal = row.refuse(problem, target);
    Refusal demurral = refusal ? std::nullopt : row.demur(problem, target, most_rows);
    verdicts.push_back({row.family, row.sums_by_k, std::move(refusal), std::move(demurral)});
  }
  return verdicts;
}

std::optional<std::string> refuse_schedule(const Schedule& schedule, const Problem& problem, const Target& target) {
  for (const FamilyVerdict& verdict : judge_families(problem, target)) {
    if (verdict.family == schedule.family && verdict.refusal) return verdict.refusal;
  }
  const LoopForm form = loop_form(problem);
  const std::optional<int64_t> k = form.k.static_value();
  if (schedule.family == Family::kDots && schedule.lanes > *k) {
    return fmt::format("lanes {} are more than K={}", schedule.lanes, *k);
  }
  if (schedule.family == Family::kDots && schedule.pairs_products && kProductsPerPair * schedule.lanes > *k) {
    return fmt::format("{} lanes of pairs are more than K={}", schedule.lanes, *k);
  }
  const bool has_sums_in_y = schedule.sums_in_y || (schedule.family == Family::kTiled && schedule.kc > 0);
  if (has_sums_in_y && !can_keep_sums_in_y(problem, form)) {
    return fmt::format("{} needs a Y of the sums' type, and no C or operand that may be Y's buffer",
                       schedule.sums_in_y ? "sums=y" : "kc=");
  }
  if (schedule.pairs_products && !may_pair_products(problem, target)) {
    return "pairs=k adds up in another order than order=k, and needs a B stored as bfloat16";
  }
  if (schedule.family == Family::kGeneral && schedule.pairs_products && !schedule.packs_a &&
      form.a.col.static_value() != 1) {
    return "A's columns are not neighbours in memory: pairs=k needs pack=a";
  }
  if (schedule.masks_columns && !may_mask_columns(problem, form, schedule.lanes)) {
    return fmt::format("mask=n needs 2 to {} columns that are neighbours in memory, and a B of the problem's type",
                       schedule.lanes - 1);
  }
  if (schedule.packs_b && !problem.b.is_constant) return "pack=b needs a B that is a constant matrix, all known";
  if (schedule.family == Family::kTiled && !schedule.packs_b && !reads_b_in_place(form)) {
    return "B's columns are not neighbours in memory: it needs pack=b";
  }
  return std::nullopt;
}

std::vector<int64_t> row_limits(const Problem& problem, const Target& target) {
  std::vector<int64_t> limits = {kMostRowsRows, kMostDotsRows, most_unpacked_rows(problem, loop_form(problem), target)};
  std::sort(limits.begin(), limits.end());
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  return limits;
}

Expected<Schedule> choose_schedule(const Problem& problem, const Target& target, std::optional<int64_t> most_rows) {
  std::string reason;
  for (const FamilyVerdict& verdict : judge_families(problem, target, most_rows)) {
    if (!verdict.refusal && !verdict.demurral) return heuristic_schedule(verdict.family, problem, target);
    reason = verdict.refusal ? *verdict.refusal : *verdict.demurral;
  }
  return Status::unsupported(reason);
}

}  // namespace gemmc
