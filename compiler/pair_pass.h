// Pairs of bfloat16 products as one instruction, VDPBF16PS: t + a.low * b.low + a.high * b.high.
//
// Halide 21 has no such operation either. As with fma_mark.h, the pipelines write what no optimisation looks through,
// t + float(bits(a * b) ^ kPairMark) with a and b the bits of pairs and an integer product that means nothing, and this
// pass, the LLVM half, writes the instruction. Rounding to nearest even, factors and sums below 2^-126 taken for 0:
// Intel's Software Developer's Manual, volume 2, VDPBF16PS.
#pragma once

#include <llvm/IR/Module.h>

#include "core/status.h"

namespace gemmc {

// Replaces every add(t, marked(a * b)) on vectors of 4, 8 or 16 sums. Where optimisations have moved the lanes of a
// marked product, it becomes a sum that starts at 0. Internal error if a mark is left over.
Status multiply_marked_pairs(llvm::Module& module);

}  // namespace gemmc
