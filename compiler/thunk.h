// The thunk: a kernel's C entries, and for each of its bodies the checks and the loops over the batch.
//
// It checks what only the call knows (dimensions not negative, batches that broadcast) and loops over the items of the
// batch; what is around the pipelines of one item is in item_loops.h. Contract of the entries: docs/kernel-abi.md.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "compiler/kernel_body.h"

namespace gemmc {

// Adds `symbol` and `symbol`_call to the module, which holds the bodies' pipelines under their pipeline_symbol(). The
// first body is the general one.
void add_thunk(llvm::Module& module, const std::vector<KernelBody>& bodies, const std::string& symbol);

}  // namespace gemmc
