// The thunk: a kernel's two C entries, and the loops around the pipelines that need 64-bit sizes.
//
// It checks what only the call knows (dimensions not negative, batches that broadcast), loops over the batch and, in
// the general family, over blocks of N, M and K, and builds Halide's buffers on the stack. After inlining nothing of
// them is left. Contract of the entries: docs/kernel-abi.md.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "core/loop_form.h"
#include "core/problem.h"
#include "schedules/schedule.h"

namespace gemmc {

// Stands before the names of the pipelines' functions in the module; no C symbol has it, so a kernel may have any name.
inline constexpr char kPipelinePrefix[] = "pipeline.";

// Adds `symbol` and `symbol`_call to the module, which holds the pipelines' functions (pipelines.h).
void add_thunk(llvm::Module& module, const Problem& problem, const LoopForm& form, const Schedule& schedule,
               const std::string& symbol);

}  // namespace gemmc
