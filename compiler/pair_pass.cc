#include "compiler/pair_pass.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>

#include "compiler/fma_mark.h"
#include "schedules/blocking.h"

namespace gemmc {
namespace {

using namespace llvm::PatternMatch;

// Of vectors of that many sums.
llvm::Intrinsic::ID pair_instruction(unsigned lanes) {
  switch (lanes) {
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

unsigned lanes_of(const llvm::Value& value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
  return vector == nullptr ? 1 : vector->getNumElements();
}

// sum + the products of the pairs; all vectors of 4, 8 or 16 lanes.
llvm::Value* multiply_pairs(llvm::IRBuilder<>& builder, llvm::Value* sum, llvm::Value* a, llvm::Value* b) {
  llvm::Module* module = builder.GetInsertBlock()->getModule();
  llvm::Function* function = llvm::Intrinsic::getOrInsertDeclaration(module, pair_instruction(lanes_of(*sum)));
  llvm::Type* pairs = function->getFunctionType()->getParamType(1);
  return builder.CreateCall(function, {sum, builder.CreateBitCast(a, pairs), builder.CreateBitCast(b, pairs)});
}

auto marked_product(llvm::Value*& a, llvm::Value*& b) {
  return m_c_Xor(m_Mul(m_Value(a), m_Value(b)), m_SpecificInt(kPairMark));
}

// The sum as the instruction; null if it has no marked product of as many lanes.
llvm::Value* as_instruction(llvm::BinaryOperator& sum) {
  llvm::Value *before = nullptr, *a = nullptr, *b = nullptr;
  if (!match(&sum, m_c_FAdd(m_Value(before), m_BitCast(marked_product(a, b))))) return nullptr;
  if (pair_instruction(lanes_of(sum)) == llvm::Intrinsic::not_intrinsic || lanes_of(sum) != lanes_of(*a))
    return nullptr;
  llvm::IRBuilder<> builder(&sum);
  return multiply_pairs(builder, before, a, b);
}

// A marked product of any number of lanes as the bits of sums that start at 0; null if it is none.
llvm::Value* as_bits_of_sums(llvm::Instruction& marked) {
  constexpr auto kFewest = static_cast<unsigned>(kFewestPairLanes);
  llvm::Value *a = nullptr, *b = nullptr;
  if (!match(&marked, marked_product(a, b))) return nullptr;
  llvm::IRBuilder<> builder(&marked);
  const unsigned lanes = lanes_of(marked);
  const auto at = [&](llvm::Value* value, unsigned lane) {
    return value->getType()->isVectorTy() ? builder.CreateExtractElement(value, uint64_t{lane}) : value;
  };
  llvm::Value* result = llvm::PoisonValue::get(marked.getType());
  for (unsigned start = 0; start < lanes; start += kFewest) {
    auto* integers = llvm::FixedVectorType::get(builder.getInt32Ty(), kFewest);
    llvm::Value *some_a = llvm::Constant::getNullValue(integers), *some_b = some_a;
    const unsigned count = std::min(kFewest, lanes - start);
    for (unsigned i = 0; i < count; ++i) {
      some_a = builder.CreateInsertElement(some_a, at(a, start + i), uint64_t{i});
      some_b = builder.CreateInsertElement(some_b, at(b, start + i), uint64_t{i});
    }
    llvm::Value* zero = llvm::Constant::getNullValue(llvm::FixedVectorType::get(builder.getFloatTy(), kFewest));
    llvm::Value* sums = builder.CreateBitCast(multiply_pairs(builder, zero, some_a, some_b), integers);
    for (unsigned i = 0; i < count; ++i) {
      llvm::Value* sum = builder.CreateExtractElement(sums, uint64_t{i});
      result = marked.getType()->isVectorTy() ? builder.CreateInsertElement(result, sum, uint64_t{start + i}) : sum;
    }
  }
  return result;
}

void erase_dead_instructions(llvm::Function& function) {
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (llvm::isInstructionTriviallyDead(&instruction)) instruction.eraseFromParent();
    }
  }
}

bool has_mark(const llvm::Instruction& instruction) {
  return match(&instruction, m_c_Xor(m_Value(), m_SpecificInt(kPairMark)));
}

}  // namespace

Status multiply_marked_pairs(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
      if (sum == nullptr || sum->getOpcode() != llvm::Instruction::FAdd) continue;
      if (llvm::Value* pairs = as_instruction(*sum)) sum->replaceAllUsesWith(pairs);
    }
    erase_dead_instructions(function);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (llvm::Value* sums = as_bits_of_sums(instruction)) instruction.replaceAllUsesWith(sums);
    }
    erase_dead_instructions(function);
    if (llvm::any_of(llvm::instructions(function), has_mark)) {
      return Status::internal("a marked pair without its product in " + function.getName().str());
    }
  }
  return Status::ok();
}

}  // namespace gemmc
