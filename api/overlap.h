// Whether the buffers of a call are what a kernel allows: none is NULL, and Y overlaps neither A nor B, nor C or an
// operand of the epilogue unless it is the same elements in the same places; lent scratch memory overlaps nothing.
#pragma once

#include "core/loop_form.h"
#include "core/resolved_loops.h"
#include "core/status.h"
#include "gemmc/gemmc.h"

namespace gemmc {

struct ElementBytes {
  int64_t b;  // of B, which may be stored in a narrower type
  int64_t others;
};

// Refuses NULL for an operand with elements, where Y has some, and overlaps that it is sure of: an outermost element of
// one operand that is an element of the other. Views that lie between each other's rows, such as two column ranges of
// one matrix, do not overlap and pass. Costs some hundred nanoseconds; reads no operand. `packed_b_bytes`: of
// call.packed[1], which is read in B's place; 0: B is read.
Status check_buffers(const LoopForm& form, const ResolvedLoops& loops, const gemmc_call& call, ElementBytes bytes,
                     int64_t packed_b_bytes = 0);

}  // namespace gemmc
