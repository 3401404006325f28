// A Schedule: which loop nest computes a problem, as a small value and one line of text.
//
// Flow: Problem + Target -> **Schedule** -> Halide pipelines. Chosen by schedules/family_table.h; stored in keys,
// manifests and (later) databases as its line of text; never Halide code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/dtype.h"
#include "core/status.h"
#include "core/target.h"

namespace gemmc {

enum class Family {
  kDots,     // N, K and strides static, A and B contiguous along K: vectors of products, added up at the end
  kRows,     // N, K and strides static: groups of rows of B, one after the other, added to rows of sums in the cache
  kTiled,    // N, K and strides static; accumulators in registers over all of K or a block of it; read in place
  kGeneral,  // any problem: blocks are packed, sizes and strides may be run-time
};
constexpr int kFewestLanes = 2;
constexpr Family kAllFamilies[] = {Family::kDots, Family::kRows, Family::kTiled, Family::kGeneral};

struct Schedule {
  Family family = Family::kGeneral;
  int mr = 0;     // rows of the register tile
  int nr = 0;     // columns of the register tile, a multiple of `lanes` but in kDots; in kRows, of an unrolled turn
  int lanes = 0;  // elements of the accumulator type in one vector
  int mc = 0;     // rows of a block, a multiple of mr: B is read once for each
  int nc = 0;     // columns of a block of kGeneral and kRows, a multiple of nr; 0 in the others
  // kGeneral, where sums wait in Y: columns of a block where the caller lends scratch memory for it; 0: none is used.
  int lent_nc = 0;
  int kc = 0;  // products of a block of kGeneral; of kTiled where it has blocks, else 0; 0 in the others
  // kDots: sums of `lanes` products side by side for each element of the tile; kRows: rows of B; 0 in the others.
  int kr = 0;
  bool sums_in_y = false;  // kGeneral: sums wait for the next K block in Y, so that B is packed once, not on the stack
  // kGeneral and kDots, of bfloat16: two neighbours along K are multiplied and added by one instruction.
  bool pairs_products = false;
  bool packs_a = false;  // kGeneral with pairs: reads copies of A's blocks, whose columns need not be neighbours then
  bool masks_columns = false;  // kTiled, of fewer columns than lanes: a row is one masked vector
  bool packs_b = false;  // kTiled, of a constant B: reads it in panels of nr columns, see schedules/packed_panels.h

  bool operator==(const Schedule&) const = default;
};

std::string_view name(Family family);
// "dots, tiled, general"
std::string family_names();
// "tiled mr=6 nr=16 lanes=8 mc=96 pack=b", "tiled mr=4 nr=24 lanes=8 mc=96 kc=32", "general mr=6 nr=16 lanes=8 mc=72
// nc=64 kc=64", "dots mr=1 nr=8 lanes=8 mc=64 kr=1", "rows mr=1 nr=16 lanes=8 mc=64 nc=1024 kr=8"; parse(print(s)) ==
// s.
std::string print_schedule(const Schedule& schedule);
Expected<Schedule> parse_schedule(std::string_view line);
// By its name().
std::optional<Family> parse_family(std::string_view text);
// The most rows of a block of all families but kGeneral: its operands' spans must fit 32-bit indices.
constexpr int kMostTiledRows = 4096;
// The general family keeps its packed blocks and accumulators on the stack of the calling thread. Small enough for the
// 128 KiB thread stacks of musl together with the caller's frames.
constexpr int kStackBudgetBytes = 112 * 1024;
// What a block of kGeneral may have of scratch memory that a caller lends.
constexpr int kMostScratchBytes = 4 * 1024 * 1024;
// What the sums of kRows may have of it: they are to stay in the L1 cache.
constexpr int kRowSumsBytes = 16 * 1024;
// Whether the tile fits the target's registers and vectors, and the blocks the stack budget of the general family.
Status validate(const Schedule& schedule, DType dtype, const Target& target);

}  // namespace gemmc
