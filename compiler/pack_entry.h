// NAME_pack_b of a kernel that wants its constant B packed, in LLVM IR.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "core/loop_form.h"
#include "core/problem.h"
#include "schedules/schedule.h"

namespace gemmc {

// Adds int64_t NAME_pack_b(const T* b, T* packed_b), which docs/kernel-abi.md describes. T is the type that B is stored
// in; the layout is that of schedules/packed_panels.h.
void add_pack_entry(llvm::Module& module, const Problem& problem, const LoopForm& form, const Schedule& schedule,
                    const std::string& symbol);

}  // namespace gemmc
