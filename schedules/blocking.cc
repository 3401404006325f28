#include "schedules/blocking.h"

#include <algorithm>
#include <optional>

namespace gemmc {

std::vector<int> tile_heights(const SizeExpr& m, const Schedule& schedule) {
  std::vector<int> heights;
  const std::optional<int64_t> rows = m.static_value();
  const int64_t tiles = rows ? (*rows + schedule.mr - 1) / schedule.mr : 0;
  const int tallest = rows ? static_cast<int>((*rows + tiles - 1) / tiles) : schedule.mr;
  const int lowest = !rows ? 1 : *rows < tiles * tallest ? tallest - 1 : tallest;
  for (int height = tallest; height >= lowest; --height) heights.push_back(height);
  return heights;
}

bool reads_b_in_place(const LoopForm& form) { return form.b.col.static_value() == 1 || form.n.static_value() == 1; }

bool is_b_in_pages(const LoopForm& form, DType b_dtype) {
  constexpr int64_t kPageBytes = 4096;
  const std::optional<int64_t> row = form.b.row.static_value();
  return row && *row * static_cast<int64_t>(size_bytes(b_dtype)) % kPageBytes == 0;
}

bool may_mask_columns(const Problem& problem, const LoopForm& form, int lanes) {
  const auto is_vector = [](const MatrixStrides& strides) { return strides.col.static_value() == 1; };
  const auto is_read_well = [&](const MatrixStrides& strides) {
    return is_vector(strides) || strides.col.static_value() == 0;
  };
  const int64_t n = *form.n.static_value();
  return n > 1 && n < lanes && is_vector(form.b) && is_vector(form.y) && (!form.has_c || is_read_well(form.c)) &&
         b_dtype(problem) == problem.dtype &&
         std::all_of(form.epilogue.begin(), form.epilogue.end(),
                     [&](const EpilogueOperandForm& operand) { return is_read_well(operand.strides); });
}

bool is_unpacked_b_near(const LoopForm& form, DType b_dtype, const Target& target) {
  // With more bytes B is not in the L1 cache. Measured on Zen 3, float32: tiled is 0 to 5 % faster up to both limits,
  // general 1.1 to 3 x faster above either.
  constexpr int64_t kMostBytes = 40 * 1024;
  // With 512-bit vectors a row of a tile is three or four whole lines, and the L2 cache keeps up. Measured on Zen 5,
  // float32: from 128 x 128 x 128 to 768 x 768 x 768 tiled is 1.02 to 1.08 x as fast, at 960 x 960 x 960 0.9 of
  // general.
  constexpr int64_t kLongestWide = 768, kMostBytesWide = 5 * 1024 * 1024 / 2;
  const int64_t k = *form.k.static_value();
  const int64_t bytes = *form.n.static_value() * k * static_cast<int64_t>(size_bytes(b_dtype));
  const bool is_wide = target.has(kAvx512) && !is_b_in_pages(form, b_dtype);
  return k <= (is_wide ? kLongestWide : kLongestUnpackedK) && bytes <= (is_wide ? kMostBytesWide : kMostBytes);
}

namespace {

// Whether a block of so many elements along the stride may have to shrink to one.
bool may_be_long(const StrideExpr& stride, int block) {
  const std::optional<int64_t> value = stride.static_value();
  return !value || *value > longest_stride(block) || *value < -longest_stride(block);
}

// Whether a block of products may have to shrink to one.
bool may_shrink_in_k(const LoopForm& form, const Schedule& schedule) {
  return may_be_long(form.a.col, schedule.kc) || may_be_long(form.b.row, schedule.kc);
}

}  // namespace

bool may_need_many_blocks(const LoopForm& form, const Schedule& schedule) {
  const std::optional<int64_t> k = form.k.static_value();
  return !k || *k > schedule.kc || (*k > 1 && may_shrink_in_k(form, schedule));
}

bool may_have_odd_block(const LoopForm& form, const Schedule& schedule) {
  const std::optional<int64_t> k = form.k.static_value();
  return !k || *k % 2 != 0 || may_shrink_in_k(form, schedule);
}

ColumnPieces column_pieces(const LoopForm& form, const Schedule& schedule) {
  const std::optional<int64_t> n = form.n.static_value();
  std::vector<StrideExpr> strides = {form.b.col, form.y.col};
  if (form.has_c) strides.push_back(form.c.col);
  for (const EpilogueOperandForm& operand : form.epilogue) strides.push_back(operand.strides.col);
  const bool may_shrink = std::any_of(strides.begin(), strides.end(), [&](const StrideExpr& stride) {
    return may_be_long(stride, widest_block(schedule));
  });
  if (!n || *n == 0 || may_shrink) return {};
  ColumnPieces pieces = {.panels = *n >= schedule.nr, .vectors = false, .rest = false};
  for (const int block : {schedule.nc, widest_block(schedule)}) {
    const int64_t last = *n % block;  // columns of the last block, if it is no whole one
    pieces.vectors |= last % schedule.nr >= schedule.lanes;
    pieces.rest |= last % schedule.lanes != 0;
  }
  return pieces;
}

bool may_run_in_place(const LoopForm& form) {
  const auto is_y = [&](const EpilogueOperandForm& operand) { return may_be_y(form, operand); };
  return (form.has_c && is_y({form.c, false})) || std::any_of(form.epilogue.begin(), form.epilogue.end(), is_y);
}

bool can_keep_sums_in_y(const Problem& problem, const LoopForm& form) {
  return !has_wider_sums(problem.dtype) && !may_run_in_place(form);
}

int64_t last_k_block(const LoopForm& form, const Schedule& schedule) {
  return schedule.kc == 0 ? 0 : (*form.k.static_value() - 1) / schedule.kc * schedule.kc;
}

bool has_equal_k_blocks(const Problem& problem, const LoopForm& form, const Schedule& schedule) {
  const bool is_plain = problem.alpha == 1 && !form.has_c && problem.epilogue.empty();
  if (schedule.family == Family::kGeneral) return is_plain && schedule.sums_in_y;
  return is_plain && schedule.kc > 0 && *form.k.static_value() % schedule.kc == 0;
}

int widest_block(const Schedule& schedule) { return std::max(schedule.nc, schedule.lent_nc); }

int64_t scratch_bytes(const Schedule& schedule, DType dtype) {
  if (schedule.lent_nc == 0) return 0;
  const auto accumulator_bytes = static_cast<int64_t>(size_bytes(accumulator(dtype)));
  return int64_t{schedule.kc} * schedule.lent_nc * accumulator_bytes + kScratchAlignment;
}

bool has_pair_products(DType dtype, const Target& target) {
  return dtype == DType::kBFloat16 && target.has(kAvx512Bf16);
}

bool may_pair_products(const Problem& problem, const Target& target) {
  return has_pair_products(problem.dtype, target) && b_dtype(problem) == problem.dtype &&
         problem.order != SummationOrder::kByK;
}

int64_t factor_bytes(const Schedule& schedule, DType dtype) {
  const auto bytes = static_cast<int64_t>(size_bytes(accumulator(dtype)));
  return schedule.pairs_products ? bytes / kProductsPerPair : bytes;
}

int64_t packed_factors(const Schedule& schedule, int64_t products) {
  return schedule.pairs_products ? (products + kProductsPerPair - 1) / kProductsPerPair : products;
}

bool copies_a(const Schedule& schedule, DType dtype) {
  return has_wider_sums(dtype) && (!schedule.pairs_products || schedule.packs_a);
}

CopiedAStrides copied_a_strides(const LoopForm& form, const Schedule& schedule) {
  if (form.a.row.static_value() == 1 && form.a.col.static_value() != 1) return {schedule.mc, 1};
  return {1, static_cast<int>(packed_factors(schedule, schedule.kc))};
}

bool has_wider_sums(DType dtype) { return size_bytes(dtype) != size_bytes(accumulator(dtype)); }

}  // namespace gemmc
