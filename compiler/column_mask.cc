#include "compiler/column_mask.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>
#include <vector>

namespace gemmc {
namespace {

// The buffer argument that an address comes from: its host pointer is loaded from there. Null: memory of the function.
const llvm::Argument* buffer_of(const llvm::Value* address) {
  const auto* host = llvm::dyn_cast<llvm::LoadInst>(llvm::getUnderlyingObject(address, 0));
  if (host == nullptr) return nullptr;
  return llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(host->getPointerOperand(), 0));
}

}  // namespace

Status mask_columns(llvm::Function& function, unsigned lanes, unsigned columns) {
  std::vector<llvm::Constant*> bits;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    bits.push_back(llvm::ConstantInt::getBool(function.getContext(), lane < columns));
  }
  llvm::Constant* const mask = llvm::ConstantVector::get(bits);
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (address == nullptr) continue;
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(llvm::getLoadStoreType(&instruction));
    const llvm::Argument* buffer = buffer_of(address);
    if (type == nullptr || buffer == nullptr || buffer->getArgNo() == 0) continue;
    if (type->getNumElements() != lanes) {
      return Status::internal("a vector of " + std::to_string(type->getNumElements()) + " lanes, not " +
                              std::to_string(lanes) + ", in " + function.getName().str());
    }
    llvm::IRBuilder<> builder(&instruction);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      llvm::Value* masked = builder.CreateMaskedLoad(load->getType(), load->getPointerOperand(), llvm::Align(1), mask,
                                                     llvm::Constant::getNullValue(load->getType()));
      load->replaceAllUsesWith(masked);
    } else {
      auto* store = llvm::cast<llvm::StoreInst>(&instruction);
      builder.CreateMaskedStore(store->getValueOperand(), store->getPointerOperand(), llvm::Align(1), mask);
    }
    instruction.eraseFromParent();
  }
  return Status::ok();
}

}  // namespace gemmc
