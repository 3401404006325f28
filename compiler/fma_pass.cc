#include "compiler/fma_pass.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>
#include <vector>

#include "compiler/fma_mark.h"

namespace gemmc {
namespace {

using llvm::PatternMatch::m_APInt;
using llvm::PatternMatch::m_c_Xor;
using llvm::PatternMatch::m_FMul;
using llvm::PatternMatch::m_InsertElt;
using llvm::PatternMatch::m_Shuffle;
using llvm::PatternMatch::m_Value;
using llvm::PatternMatch::m_ZeroInt;
using llvm::PatternMatch::m_ZeroMask;
using llvm::PatternMatch::match;

bool is_mark(const llvm::APInt& value) {
  return value.getBitWidth() == 64 ? value == kFmaMark64 : value.getBitWidth() == 32 && value == kFmaMark32;
}

// The factors of a marked product. They are scalars where Halide or LLVM moved a product out of a loop and broadcast it.
struct MarkedProduct {
  llvm::Value* a = nullptr;
  llvm::Value* b = nullptr;
};

// Peels the bit casts, the mark and the broadcast (a shuffle of lane 0 of a vector whose lane 0 was inserted) off
// `value`, in whatever order the optimisers left them.
std::optional<MarkedProduct> match_marked_product(llvm::Value* value) {
  llvm::Value* peeled = value;
  bool is_marked = false;
  bool is_broadcast = false;
  while (true) {
    const llvm::APInt* mark = nullptr;
    llvm::Value* below = nullptr;
    if (auto* bit_cast = llvm::dyn_cast<llvm::BitCastInst>(peeled)) {
      peeled = bit_cast->getOperand(0);
    } else if (match(peeled, m_c_Xor(m_Value(below), m_APInt(mark))) && is_mark(*mark)) {
      is_marked = true;
      peeled = below;
    } else if (match(peeled, m_Shuffle(m_Value(below), m_Value(), m_ZeroMask()))) {
      is_broadcast = true;
      peeled = below;
    } else if (is_broadcast && match(peeled, m_InsertElt(m_Value(), m_Value(below), m_ZeroInt()))) {
      peeled = below;
    } else {
      break;
    }
  }
  MarkedProduct found;
  const bool is_product = match(peeled, m_FMul(m_Value(found.a), m_Value(found.b)));
  if (!is_marked || !is_product || peeled->getType()->getScalarType() != value->getType()->getScalarType()) return std::nullopt;
  return found;
}

llvm::Value* broadcast_to(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr || value->getType()->isVectorTy()) return value;
  return builder.CreateVectorSplat(vector->getNumElements(), value);
}

bool is_left_over(const llvm::Instruction& instruction) {
  const llvm::APInt* mark = nullptr;
  return match(&instruction, m_c_Xor(m_Value(), m_APInt(mark))) && is_mark(*mark);
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
      const std::optional<MarkedProduct> marked = match_marked_product(add->getOperand(side));
      if (!marked) continue;
      llvm::Value* marked_value = add->getOperand(side);
      llvm::Value* sum = add->getOperand(1 - side);
      llvm::IRBuilder<> builder(add);
      llvm::Value* a = broadcast_to(builder, marked->a, add->getType());
      llvm::Value* b = broadcast_to(builder, marked->b, add->getType());
      llvm::Value* result = has_fma ? builder.CreateIntrinsic(llvm::Intrinsic::fma, {add->getType()}, {a, b, sum})
                                    : builder.CreateFAdd(sum, builder.CreateFMul(a, b));
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
