// Marks the loops over K for LLVM's loop unrolling.
#pragma once

#include <llvm/IR/Module.h>

namespace gemmc {

// Asks LLVM to unroll every innermost loop of one block that carries a vector or a floating-point number from one turn
// to the next, which are the sums, by 4 or by as much as keeps its body small. Counting, comparing and jumping are then
// paid once for several k; sums stay in their order.
void mark_sum_loops_for_unrolling(llvm::Module& module);

}  // namespace gemmc
