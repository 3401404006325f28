#include "compiler/fma_pass.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <vector>

#include "compiler/fma_mark.h"

namespace gemmc {
namespace {

using llvm::PatternMatch::m_APInt;
using llvm::PatternMatch::m_BitCast;
using llvm::PatternMatch::m_c_Xor;
using llvm::PatternMatch::m_FMul;
using llvm::PatternMatch::m_Value;

bool is_mark(const llvm::APInt& value) {
  return value.getBitWidth() == 64 ? value == kFmaMark64 : value.getBitWidth() == 32 && value == kFmaMark32;
}

// a and b of marked(a * b), where `value` is one.
struct MarkedProduct {
  llvm::Value* product = nullptr;
  llvm::Value* a = nullptr;
  llvm::Value* b = nullptr;
};

MarkedProduct match_marked_product(llvm::Value* value) {
  MarkedProduct found;
  const llvm::APInt* mark = nullptr;
  if (!llvm::PatternMatch::match(value, m_BitCast(m_c_Xor(m_BitCast(m_Value(found.product)), m_APInt(mark))))) return {};
  if (!is_mark(*mark) || !llvm::PatternMatch::match(found.product, m_FMul(m_Value(found.a), m_Value(found.b)))) return {};
  return found;
}

bool is_left_over(const llvm::Instruction& instruction) {
  const llvm::APInt* mark = nullptr;
  return llvm::PatternMatch::match(&instruction, m_c_Xor(m_Value(), m_APInt(mark))) && is_mark(*mark);
}

}  // namespace

Status fuse_marked_products(llvm::Module& module, bool has_fma) {
  std::vector<llvm::Instruction*> adds;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (instruction.getOpcode() == llvm::Instruction::FAdd) adds.push_back(&instruction);
    }
  }
  for (llvm::Instruction* add : adds) {
    for (unsigned side : {1u, 0u}) {
      const MarkedProduct marked = match_marked_product(add->getOperand(side));
      if (marked.product == nullptr) continue;
      llvm::Value* marked_value = add->getOperand(side);
      llvm::Value* sum = add->getOperand(1 - side);
      llvm::IRBuilder<> builder(add);
      llvm::Value* result = has_fma ? builder.CreateIntrinsic(llvm::Intrinsic::fma, {add->getType()}, {marked.a, marked.b, sum})
                                    : builder.CreateFAdd(sum, marked.product);
      add->replaceAllUsesWith(result);
      add->eraseFromParent();
      llvm::RecursivelyDeleteTriviallyDeadInstructions(marked_value);
      break;
    }
  }
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (is_left_over(instruction)) return Status::internal("a marked product outside a sum in " + function.getName().str());
    }
  }
  return Status::ok();
}

}  // namespace gemmc
