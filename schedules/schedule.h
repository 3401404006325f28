// A Schedule: which loop nest computes a problem, as a small value and one line of text.
//
// Flow: Problem + Target -> **Schedule** -> Halide pipelines. Chosen by schedules/family_table.h; stored in keys,
// manifests and (later) databases as its line of text; never Halide code.
#pragma once

#include <string>
#include <string_view>

#include "core/dtype.h"
#include "core/status.h"
#include "core/target.h"

namespace gemmc {

enum class Family {
  kTiled,    // N, K and strides static; accumulators in registers over all of K; operands read in place
  kGeneral,  // any problem: blocks are packed, sizes and strides may be run-time
};

struct Schedule {
  Family family = Family::kGeneral;
  int mr = 0;     // rows of the register tile
  int nr = 0;     // columns of the register tile, a multiple of `lanes`
  int lanes = 0;  // elements of the accumulator type in one vector
  int mc = 0;     // rows of a block, a multiple of mr: B is read once for each
  // Blocks of kGeneral, nc columns (a multiple of nr) and kc products; 0 in kTiled.
  int nc = 0;
  int kc = 0;
  bool packs_b = false;  // kTiled, of a constant B: reads it in panels of nr columns, see schedules/packed_panels.h

  bool operator==(const Schedule&) const = default;
};

std::string_view name(Family family);
// "tiled mr=6 nr=16 lanes=8 mc=96 pack=b", "general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=64"; parse(print(s)) == s.
std::string print_schedule(const Schedule& schedule);
Expected<Schedule> parse_schedule(std::string_view line);
// The most rows of a block of kTiled: its operands' spans must fit 32-bit indices.
constexpr int kMostTiledRows = 4096;
// The general family keeps its packed blocks and accumulators on the stack of the calling thread. Small enough for the
// 128 KiB thread stacks of musl together with the caller's frames.
constexpr int kStackBudgetBytes = 112 * 1024;
// Whether the tile fits the target's registers and vectors, and the blocks the stack budget of the general family.
Status validate(const Schedule& schedule, DType dtype, const Target& target);

}  // namespace gemmc
