// A kernel's C entries, around its body: the typed one, and the uniform one with scratch memory and threads.
// Contract: docs/kernel-abi.md.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>

#include "compiler/parts.h"
#include "core/loop_form.h"

namespace gemmc {

struct KernelFunctions {
  const LoopForm& form;
  bool packs_b;
  llvm::Function* body;  // int32_t(arguments of the typed entry..., the extra ones)
  ExtraArguments extra;
  int64_t scratch_bytes;  // that a part of a call wants
  llvm::Function*
      count_parts;  // int64_t(arguments of the typed entry..., int64_t threads, int64_t products); null without parts
};

// Adds `symbol`, unless the body is that already, and `symbol`_call.
void add_entries(llvm::Module& module, const std::string& symbol, const KernelFunctions& kernel);

}  // namespace gemmc
