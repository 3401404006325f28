// Loops in LLVM IR, around the pipelines. All counters are int64.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>

namespace gemmc {

// for (index = 0; index < extent; index += step) body(index). Nothing is emitted for a constant extent of 0, and no
// loop for a constant extent of at most a constant step.
void emit_loop(llvm::IRBuilder<>& builder, llvm::Value* extent, llvm::Value* step,
               const std::function<void(llvm::Value* index)>& body);

}  // namespace gemmc
