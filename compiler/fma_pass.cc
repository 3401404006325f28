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

// The factors of a marked product. Where Halide or LLVM moved a product out of a loop and broadcast it, they are
// scalars, or vectors of which lane 0 counts.
struct MarkedProduct {
  llvm::Value* a = nullptr;
  llvm::Value* b = nullptr;
  bool is_broadcast = false;
};

bool keeps_lanes(const llvm::BitCastInst& cast) {
  return cast.getSrcTy()->getScalarSizeInBits() == cast.getDestTy()->getScalarSizeInBits();
}

// Peels the bit casts, the mark and the broadcast (a shuffle of lane 0, of a vector whose lane 0 may have been
// inserted) off `value`, in whatever order the optimisers left them.
std::optional<MarkedProduct> match_marked_product(llvm::Value* value) {
  llvm::Value* peeled = value;
  bool is_marked = false;
  MarkedProduct found;
  while (true) {
    const llvm::APInt* mark = nullptr;
    llvm::Value* below = nullptr;
    if (auto* bit_cast = llvm::dyn_cast<llvm::BitCastInst>(peeled); bit_cast != nullptr && keeps_lanes(*bit_cast)) {
      peeled = bit_cast->getOperand(0);
    } else if (match(peeled, m_c_Xor(m_Value(below), m_APInt(mark))) && is_mark(*mark)) {
      is_marked = true;
      peeled = below;
    } else if (match(peeled, m_Shuffle(m_Value(below), m_Value(), m_ZeroMask()))) {
      found.is_broadcast = true;
      peeled = below;
    } else if (found.is_broadcast && match(peeled, m_InsertElt(m_Value(), m_Value(below), m_ZeroInt()))) {
      peeled = below;
    } else {
      break;
    }
  }
  const bool is_product = match(peeled, m_FMul(m_Value(found.a), m_Value(found.b)));
  if (!is_marked || !is_product || peeled->getType()->getScalarType() != value->getType()->getScalarType())
    return std::nullopt;
  return found;
}

// A factor as an operand of a sum of this type.
llvm::Value* factor_for(llvm::IRBuilder<>& builder, llvm::Value* factor, bool is_broadcast, llvm::Type* type) {
  if (!is_broadcast) return factor;
  if (factor->getType()->isVectorTy()) factor = builder.CreateExtractElement(factor, uint64_t{0});
  return builder.CreateVectorSplat(llvm::cast<llvm::FixedVectorType>(type)->getNumElements(), factor);
}

bool is_left_over(const llvm::Instruction& instruction) {
  const llvm::APInt* mark = nullptr;
  return match(&instruction, m_c_Xor(m_Value(), m_APInt(mark))) && is_mark(*mark);
}

// The sum with a marked product in operand `side`, fused or at least without the mark. Nothing if there is none.
llvm::Value* replacement(llvm::BinaryOperator& sum, unsigned side, bool has_fma) {
  const std::optional<MarkedProduct> marked = match_marked_product(sum.getOperand(side));
  if (!marked) return nullptr;
  llvm::IRBuilder<> builder(&sum);
  llvm::Value* a = factor_for(builder, marked->a, marked->is_broadcast, sum.getType());
  llvm::Value* b = factor_for(builder, marked->b, marked->is_broadcast, sum.getType());
  llvm::Value* addend = sum.getOperand(1 - side);
  // LLVM writes product - x for product + (-x).
  if (sum.getOpcode() == llvm::Instruction::FSub) addend = builder.CreateFNeg(addend);
  if (has_fma) return builder.CreateIntrinsic(llvm::Intrinsic::fma, {sum.getType()}, {a, b, addend});
  return builder.CreateFAdd(addend, builder.CreateFMul(a, b));
}

// LLVM compares the product itself where the other term of its sum is 0: without the mark, it is what was meant.
void unmark_compared_products(llvm::FCmpInst& comparison) {
  for (unsigned side : {0u, 1u}) {
    const std::optional<MarkedProduct> marked = match_marked_product(comparison.getOperand(side));
    if (!marked) continue;
    llvm::IRBuilder<> builder(&comparison);
    llvm::Value* marked_value = comparison.getOperand(side);
    llvm::Type* type = marked_value->getType();
    comparison.setOperand(side, builder.CreateFMul(factor_for(builder, marked->a, marked->is_broadcast, type),
                                                   factor_for(builder, marked->b, marked->is_broadcast, type)));
    llvm::RecursivelyDeleteTriviallyDeadInstructions(marked_value);
  }
}

}  // namespace

Status fuse_marked_products(llvm::Module& module, bool has_fma) {
  std::vector<llvm::BinaryOperator*> sums;
  std::vector<llvm::FCmpInst*> comparisons;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const unsigned opcode = instruction.getOpcode();
      if (opcode == llvm::Instruction::FAdd || opcode == llvm::Instruction::FSub) {
        sums.push_back(llvm::cast<llvm::BinaryOperator>(&instruction));
      }
      if (auto* comparison = llvm::dyn_cast<llvm::FCmpInst>(&instruction)) comparisons.push_back(comparison);
    }
  }
  for (llvm::BinaryOperator* sum : sums) {
    unsigned side = 0;
    llvm::Value* fused = replacement(*sum, side, has_fma);
    if (fused == nullptr && sum->getOpcode() == llvm::Instruction::FAdd) fused = replacement(*sum, side = 1, has_fma);
    if (fused == nullptr) continue;
    llvm::Value* marked_value = sum->getOperand(side);
    sum->replaceAllUsesWith(fused);
    sum->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(marked_value);
  }
  for (llvm::FCmpInst* comparison : comparisons) unmark_compared_products(*comparison);
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (is_left_over(instruction))
        return Status::internal("a marked product outside a sum in " + function.getName().str());
    }
  }
  return Status::ok();
}

}  // namespace gemmc
