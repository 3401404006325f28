#include "compiler/pair_pass.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include "compiler/fma_mark.h"

namespace gemmc {
namespace {

using namespace llvm::PatternMatch;

llvm::Intrinsic::ID pair_instruction(const llvm::Type& sums) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&sums);
  if (vector == nullptr || !vector->getElementType()->isFloatTy()) return llvm::Intrinsic::not_intrinsic;
  switch (vector->getNumElements()) {
    case 4:
      return llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128;
    case 8:
      return llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256;
    case 16:
      return llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512;
    default:
      return llvm::Intrinsic::not_intrinsic;
  }
}

bool has_mark(const llvm::Instruction& instruction) {
  return match(&instruction, m_c_Xor(m_Value(), m_SpecificInt(kPairMark)));
}

// The sum as the instruction; null if it has no marked pair.
llvm::Value* as_instruction(llvm::BinaryOperator& sum) {
  llvm::Value *before = nullptr, *a = nullptr, *b = nullptr;
  const auto marked = m_BitCast(m_c_Xor(m_Mul(m_Value(a), m_Value(b)), m_SpecificInt(kPairMark)));
  if (!match(&sum, m_c_FAdd(m_Value(before), marked))) return nullptr;
  const llvm::Intrinsic::ID id = pair_instruction(*sum.getType());
  if (id == llvm::Intrinsic::not_intrinsic) return nullptr;
  llvm::IRBuilder<> builder(&sum);
  llvm::Function* function = llvm::Intrinsic::getOrInsertDeclaration(sum.getModule(), id);
  llvm::Type* pairs = function->getFunctionType()->getParamType(1);
  return builder.CreateCall(function, {before, builder.CreateBitCast(a, pairs), builder.CreateBitCast(b, pairs)});
}

}  // namespace

Status multiply_marked_pairs(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
      if (sum == nullptr || sum->getOpcode() != llvm::Instruction::FAdd) continue;
      if (llvm::Value* pair = as_instruction(*sum)) sum->replaceAllUsesWith(pair);
    }
    // The sums that are no longer used, and with them their marks.
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(block))) {
        if (llvm::isInstructionTriviallyDead(&instruction)) instruction.eraseFromParent();
      }
    }
    if (llvm::any_of(llvm::instructions(function), has_mark)) {
      return Status::internal("a marked pair outside a sum in " + function.getName().str());
    }
  }
  return Status::ok();
}

}  // namespace gemmc
