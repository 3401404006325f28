// Problem + Schedule -> Halide pipelines as LLVM bitcode. No Halide type shows here.
//
// Flow: Schedule -> **pipelines** -> LLVM module. Called by compile.cc; item_loops.h calls the functions.
// Thread-safe. Buffers list the innermost dimension first, as Halide does: A(k, m), B(n, k), C(n, m), Y(n, m), and
// E(n, m) for each operand of the epilogue.
// Buffers of 16-bit floats hold their bit patterns; "accumulator" is accumulator(problem.dtype).
//
// kTiled has one function for each height h of tile_heights(), over a column of `tiles` register tiles of h rows; N, K
// and the strides are static:
//   tiled_h(A (K, tiles * h), B (N, K), [C], [E...], tiles, Y (N, tiles * h))
// kDots and kRows have the like, dots_h and rows_h. Where K has blocks, kTiled has for each height, over a block:
//   carry_h(A (kc, tiles * h), B (N, kc), Y, first, tiles, Y)          of every K block but the last
//   tiled_h(A, B, Y, [C], [E...], tiles, Y (N, tiles * h))             of the last one
// and where has_equal_k_blocks(), only a tiled_h with the arguments of carry_h.
// Where the schedule packs B, its buffer is (nr, K, panels), see schedules/packed_panels.h.
// kGeneral has functions over one block, mb <= mc rows, nb <= nc columns, kb <= kc products, with run-time sizes:
//   pack_b(B (nb, kb), Bp (nr, kb, panels of nc))     Bp holds B's columns in panels of nr; columns past nb are not set
//   convert_a(A (kb, mb), Ac (kb, mb))                only for 16-bit types: to accumulators, row stride kc
//   carry(A or Ac, Bp, Y, first, Y)                   where sums wait in Y: the products of a K block but the last;
//                                                      finish does it where has_equal_k_blocks()
//   multiply(A or Ac (kb, mb), Bp, acc (nr, mr, nc/nr, mc/mr), first, acc)   adds the products; from zero where first;
//                                                      of every K block but the last, so not where there is only one
//   finish(A or Ac, Bp, acc or Y, first, [C (nb, mb)], [E... (nb, mb)], Y (nb, mb))   the products of the last K block,
//   then
//                                                      alpha, beta, C, epilogue, rounding
// The accumulator block has static strides 1, nr, nr*mr, mr*nc. Rows and columns past the block hold anything.
#pragma once

#include <string>
#include <vector>

#include "core/loop_form.h"
#include "core/problem.h"
#include "core/status.h"
#include "core/target.h"
#include "schedules/schedule.h"

namespace gemmc {

struct Pipeline {
  std::string function;  // its symbol in the bitcode
  std::string bitcode;
  std::string loop_nest;  // Halide's lowered statement, for `gemmc explain`; empty unless asked for
};

// `problem` is canonical and `schedule` valid for it.
Expected<std::vector<Pipeline>> build_pipelines(const Problem& problem, const Schedule& schedule, const Target& target,
                                                bool with_loop_nests);

// Halide's version, "21.0.0".
std::string halide_version();

}  // namespace gemmc
