#include "compiler/ir_loops.h"

namespace gemmc {
namespace {

// A loop whose test stands at the end, entered from `entry` (the current block); control continues after it.
void emit_bottom_tested_loop(llvm::IRBuilder<>& builder, llvm::BasicBlock* entry, llvm::BasicBlock* after,
                             llvm::Value* extent, llvm::Value* step, const std::function<void(llvm::Value*)>& body) {
  llvm::Function* function = entry->getParent();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(builder.getContext(), "loop", function, after);
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode* index = builder.CreatePHI(builder.getInt64Ty(), 2);
  index->addIncoming(builder.getInt64(0), entry);
  body(index);
  llvm::Value* next = builder.CreateAdd(index, step, "", /*HasNUW=*/true, /*HasNSW=*/true);
  index->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpSLT(next, extent), loop, after);
  builder.SetInsertPoint(after);
}

bool runs_once(llvm::Value* extent, llvm::Value* step) {
  const auto* extent_constant = llvm::dyn_cast<llvm::ConstantInt>(extent);
  const auto* step_constant = llvm::dyn_cast<llvm::ConstantInt>(step);
  return extent_constant != nullptr && step_constant != nullptr &&
         extent_constant->getSExtValue() <= step_constant->getSExtValue();
}

// The body runs once where the extent is 0.
void emit_loop_at_least_once(llvm::IRBuilder<>& builder, llvm::Value* extent, llvm::Value* step,
                             const std::function<void(llvm::Value*)>& body) {
  if (runs_once(extent, step)) {
    body(builder.getInt64(0));
    return;
  }
  llvm::BasicBlock* entry = builder.GetInsertBlock();
  llvm::BasicBlock* after = llvm::BasicBlock::Create(builder.getContext(), "loop.after", entry->getParent());
  emit_bottom_tested_loop(builder, entry, after, extent, step, body);
}

}  // namespace

void emit_loop(llvm::IRBuilder<>& builder, llvm::Value* extent, llvm::Value* step,
               const std::function<void(llvm::Value*)>& body) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(extent); constant != nullptr && constant->isZero())
    return;
  if (llvm::isa<llvm::ConstantInt>(extent)) {
    emit_loop_at_least_once(builder, extent, step, body);
    return;
  }
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  llvm::BasicBlock* entry = llvm::BasicBlock::Create(builder.getContext(), "loop.entry", function);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(builder.getContext(), "loop.after", function);
  builder.CreateCondBr(builder.CreateICmpSGT(extent, builder.getInt64(0)), entry, after);
  builder.SetInsertPoint(entry);
  emit_bottom_tested_loop(builder, entry, after, extent, step, body);
}

}  // namespace gemmc
