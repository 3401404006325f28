#include "compiler/dispatch.h"

#include <llvm/IR/IRBuilder.h>

#include <set>

#include "core/problem.h"

namespace gemmc {
namespace {

using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

unsigned argument_of(const BoundDim& dim, unsigned first_dim) {
  return first_dim + static_cast<unsigned>(dim_index(dim.name));
}

// Ends the block with `return body(arguments)`.
llvm::CallInst* return_call(IRBuilder<>& builder, llvm::Function& body, const std::vector<Value*>& arguments) {
  llvm::CallInst* call = builder.CreateCall(&body, arguments);
  builder.CreateRet(call);
  return call;
}

}  // namespace

llvm::Function* add_dispatch(llvm::Module& module, const std::string& symbol, llvm::Function& general,
                             unsigned first_dim, const std::vector<DispatchedBody>& variants) {
  llvm::Function* entry =
      llvm::Function::Create(general.getFunctionType(), llvm::Function::ExternalLinkage, symbol, module);
  entry->copyAttributesFrom(&general);
  // A table of targets would be a load, and data beside the code.
  entry->addFnAttr("no-jump-tables", "true");
  general.setLinkage(llvm::Function::InternalLinkage);
  llvm::LLVMContext& context = module.getContext();
  IRBuilder<> builder(BasicBlock::Create(context, "entry", entry));
  for (const DispatchedBody& variant : variants) {
    variant.function->setLinkage(llvm::Function::InternalLinkage);
    Value* is_likely = builder.getTrue();
    std::set<unsigned> bound;
    for (const BoundDim& dim : variant.when.dims) {
      const unsigned argument = argument_of(dim, first_dim);
      bound.insert(argument);
      Value* size = builder.getInt64(static_cast<uint64_t>(dim.size));
      is_likely = builder.CreateAnd(is_likely, builder.CreateICmpEQ(entry->getArg(argument), size));
    }
    if (variant.when.most_rows) {
      Value* rows = builder.getInt64(static_cast<uint64_t>(variant.m.factor));
      for (const int dim : variant.m.dims) {
        rows = builder.CreateMul(rows, entry->getArg(first_dim + static_cast<unsigned>(dim)));
      }
      Value* most = builder.getInt64(static_cast<uint64_t>(*variant.when.most_rows));
      is_likely = builder.CreateAnd(is_likely, builder.CreateICmpSLE(rows, most));
    }
    BasicBlock* likely = BasicBlock::Create(context, "likely", entry);
    BasicBlock* other = BasicBlock::Create(context, "other", entry);
    builder.CreateCondBr(is_likely, likely, other);
    builder.SetInsertPoint(likely);
    std::vector<Value*> arguments;
    for (unsigned i = 0; i < entry->arg_size(); ++i) {
      if (!bound.contains(i)) arguments.push_back(entry->getArg(i));
    }
    return_call(builder, *variant.function, arguments)->setTailCallKind(llvm::CallInst::TCK_Tail);
    builder.SetInsertPoint(other);
  }
  std::vector<Value*> arguments;
  for (llvm::Argument& argument : entry->args()) arguments.push_back(&argument);
  // The same arguments in the same places: a jump.
  return_call(builder, general, arguments)->setTailCallKind(llvm::CallInst::TCK_MustTail);
  return entry;
}

}  // namespace gemmc
