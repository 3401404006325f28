// Loops in LLVM IR, for the thunk. All counters are int64.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>

namespace gemmc {

// for (index = 0; index < extent; index += step) body(index). Nothing is emitted for a constant extent of 0, and no
// loop for a constant extent of at most a constant step.
void emit_loop(llvm::IRBuilder<>& builder, llvm::Value* extent, llvm::Value* step,
               const std::function<void(llvm::Value* index)>& body);

// The same, but the body runs once where the extent is 0.
void emit_loop_at_least_once(llvm::IRBuilder<>& builder, llvm::Value* extent, llvm::Value* step,
                             const std::function<void(llvm::Value* index)>& body);

}  // namespace gemmc
