// The thunk: a kernel's C entries, and for each of its bodies the loops around the pipelines that need 64-bit sizes.
//
// It checks what only the call knows (dimensions not negative, batches that broadcast), loops over the batch and, in
// the general family, over blocks of N, M and K, and builds Halide's buffers on the stack. After inlining nothing of
// them is left. Contract of the entries: docs/kernel-abi.md.
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
