// The LLVM half of fma_mark.h.
#pragma once

#include <llvm/IR/Module.h>

#include "core/status.h"

namespace gemmc {

// Replaces every add(t, marked(a * b)): by llvm.fma(a, b, t) where `has_fma`, else by add(t, a * b); and what LLVM
// writes for add(-t, marked(a * b)). A marked product that is only multiplied, divided or compared loses its mark.
// Internal error if a mark is left over.
Status fuse_marked_products(llvm::Module& module, bool has_fma);

}  // namespace gemmc
