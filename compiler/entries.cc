#include "compiler/entries.h"

#include <llvm/IR/IRBuilder.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "compiler/call_size.h"
#include "gemmc/gemmc.h"

namespace gemmc {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;

class EntryBuilder {
 public:
  EntryBuilder(llvm::Module& module, const std::string& symbol, const KernelFunctions& kernel)
      : module_(module), symbol_(symbol), kernel_(kernel), builder_(module.getContext()) {}

  // All in the calling thread, without scratch memory.
  void add_typed_entry() {
    const llvm::FunctionType* type = kernel_.body->getFunctionType();
    Function* entry = begin_function(
        symbol_,
        llvm::FunctionType::get(type->getReturnType(), type->params().drop_back(kernel_.extra.count()), false));
    std::vector<Value*> arguments;
    for (llvm::Argument& argument : entry->args()) {
      for (const auto kind : {llvm::Attribute::NoAlias, llvm::Attribute::ReadOnly}) {
        if (kernel_.body->hasParamAttribute(argument.getArgNo(), kind)) argument.addAttr(kind);
      }
      arguments.push_back(&argument);
    }
    builder_.CreateRet(call_body(arguments, null(), {i64(0), i64(1)}));
  }

  // int32_t NAME_call(const gemmc_call*)
  void add_uniform_entry() {
    Function* uniform = begin_function(symbol_ + "_call", entry_type());
    BasicBlock* invalid = BasicBlock::Create(module_.getContext(), "invalid", uniform);
    llvm::IRBuilder<>(invalid).CreateRet(builder_.getInt32(GEMMC_INVALID_ARGUMENT));
    Value* call = uniform->getArg(0);
    const auto refuse_if = [&](Value* condition) {
      BasicBlock* valid = BasicBlock::Create(module_.getContext(), "valid", uniform);
      builder_.CreateCondBr(condition, invalid, valid);
      builder_.SetInsertPoint(valid);
    };
    Value* size_bytes = load(builder_.getInt64Ty(), call, offsetof(gemmc_call, size_bytes));
    refuse_if(builder_.CreateICmpULT(size_bytes, builder_.getInt64(least_call_bytes(kernel_.form))));
    const std::vector<Value*> arguments = load_arguments(call, refuse_if);
    if (kernel_.extra.has_parts) return_from_threads(call, arguments);
    builder_.CreateRet(call_body(arguments, scratch_of(call, i64(0), i64(1)), {i64(0), i64(1)}));
  }

 private:
  using RefuseIf = std::function<void(Value* condition)>;

  Value* i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  Value* null() { return llvm::ConstantPointerNull::get(builder_.getPtrTy()); }
  llvm::FunctionType* entry_type() {
    return llvm::FunctionType::get(builder_.getInt32Ty(), {builder_.getPtrTy()}, false);
  }
  Function* begin_function(const std::string& symbol, llvm::FunctionType* type) {
    Function* function = Function::Create(type, Function::ExternalLinkage, symbol, module_);
    builder_.SetInsertPoint(BasicBlock::Create(module_.getContext(), "entry", function));
    return function;
  }
  Value* at(Value* base, size_t offset) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base, offset);
  }
  Value* load(llvm::Type* type, Value* base, size_t offset) { return builder_.CreateLoad(type, at(base, offset)); }

  Value* call_body(std::vector<Value*> arguments, Value* scratch, const PartValues& part) {
    if (kernel_.extra.has_scratch) arguments.push_back(scratch);
    if (kernel_.extra.has_parts) arguments.insert(arguments.end(), {part.part, part.parts});
    return builder_.CreateCall(kernel_.body, arguments);
  }

  // The arguments of the typed entry, from the struct.
  std::vector<Value*> load_arguments(Value* call, const RefuseIf& refuse_if) {
    llvm::Type* pointer = builder_.getPtrTy();
    const LoopForm& form = kernel_.form;
    const size_t b = kernel_.packs_b ? offsetof(gemmc_call, packed) + sizeof(void*) : offsetof(gemmc_call, b);
    std::vector<Value*> arguments = {load(pointer, call, offsetof(gemmc_call, a)), load(pointer, call, b)};
    if (kernel_.packs_b) refuse_if(builder_.CreateIsNull(arguments.back()));
    if (form.has_c) arguments.push_back(load(pointer, call, offsetof(gemmc_call, c)));
    const auto add_list = [&](size_t offset, llvm::Type* type, int count) {
      if (count == 0) return;
      Value* list = load(pointer, call, offset);
      refuse_if(builder_.CreateIsNull(list));
      for (int i = 0; i < count; ++i) {
        arguments.push_back(
            builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(type, list, static_cast<uint64_t>(i))));
      }
    };
    add_list(offsetof(gemmc_call, epilogue), pointer, static_cast<int>(form.epilogue.size()));
    arguments.push_back(load(pointer, call, offsetof(gemmc_call, y)));
    add_list(offsetof(gemmc_call, dims), builder_.getInt64Ty(), form.dim_count);
    add_list(offsetof(gemmc_call, strides), builder_.getInt64Ty(), form.stride_count);
    return arguments;
  }

  // A part's own piece of what the call lends; null where that is not enough for all parts.
  Value* scratch_of(Value* call, Value* part, Value* parts) {
    if (!kernel_.extra.has_scratch) return nullptr;
    Value* each = i64(kernel_.scratch_bytes);
    Value* bytes = load(builder_.getInt64Ty(), call, offsetof(gemmc_call, scratch_bytes));
    Value* first = load(builder_.getPtrTy(), call, offsetof(gemmc_call, scratch));
    Value* own = builder_.CreateGEP(builder_.getInt8Ty(), first, builder_.CreateMul(part, each));
    return builder_.CreateSelect(builder_.CreateICmpUGE(bytes, builder_.CreateMul(parts, each)), own, null());
  }

  // What the parts of a call share.
  struct SharedCall {
    const gemmc_call* call;
    int64_t parts;
    int32_t status;
  };

  // Where the call brings threads and is worth it, runs its parts in them and returns; continues otherwise.
  void return_from_threads(Value* call, std::vector<Value*> arguments) {
    Function* uniform = builder_.GetInsertBlock()->getParent();
    llvm::LLVMContext& context = module_.getContext();
    BasicBlock* has_threads = BasicBlock::Create(context, "has_threads", uniform);
    BasicBlock* in_threads = BasicBlock::Create(context, "in_threads", uniform);
    BasicBlock* alone = BasicBlock::Create(context, "alone", uniform);
    llvm::IRBuilder<> at_entry(&uniform->getEntryBlock(), uniform->getEntryBlock().begin());
    llvm::AllocaInst* shared = at_entry.CreateAlloca(llvm::ArrayType::get(at_entry.getInt8Ty(), sizeof(SharedCall)));
    shared->setAlignment(llvm::Align(alignof(SharedCall)));
    Value* parallel = load(builder_.getPtrTy(), call, offsetof(gemmc_call, parallel));
    builder_.CreateCondBr(builder_.CreateIsNull(parallel), alone, has_threads);

    builder_.SetInsertPoint(has_threads);
    Value* threads = load(builder_.getInt32Ty(), parallel, offsetof(gemmc_parallel, threads));
    arguments.push_back(builder_.CreateSExt(threads, builder_.getInt64Ty()));
    arguments.push_back(load(builder_.getInt64Ty(), parallel, offsetof(gemmc_parallel, products_of_part)));
    Value* parts = builder_.CreateCall(kernel_.count_parts, arguments);
    builder_.CreateCondBr(builder_.CreateICmpSGT(parts, i64(1)), in_threads, alone);

    builder_.SetInsertPoint(in_threads);
    builder_.CreateStore(call, at(shared, offsetof(SharedCall, call)));
    builder_.CreateStore(parts, at(shared, offsetof(SharedCall, parts)));
    Value* status = at(shared, offsetof(SharedCall, status));
    builder_.CreateStore(builder_.getInt32(GEMMC_OK), status);
    Value* run = load(builder_.getPtrTy(), parallel, offsetof(gemmc_parallel, run));
    Value* run_context = load(builder_.getPtrTy(), parallel, offsetof(gemmc_parallel, context));
    llvm::Type *pointer = builder_.getPtrTy(), *number = builder_.getInt32Ty();
    auto* run_type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, number, pointer, pointer}, false);
    builder_.CreateCall(run_type, run, {run_context, builder_.CreateTrunc(parts, number), add_part_function(), shared});
    builder_.CreateRet(builder_.CreateLoad(number, status));
    builder_.SetInsertPoint(alone);
  }

  // void(SharedCall*, int32_t part). All parts of a call return the same status, and one of them writes it.
  Function* add_part_function() {
    const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
    Function* function = begin_function(
        symbol_ + ".part",
        llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy(), builder_.getInt32Ty()}, false));
    function->setLinkage(Function::InternalLinkage);
    Value* shared = function->getArg(0);
    Value* part = builder_.CreateZExt(function->getArg(1), builder_.getInt64Ty());
    Value* call = load(builder_.getPtrTy(), shared, offsetof(SharedCall, call));
    Value* parts = load(builder_.getInt64Ty(), shared, offsetof(SharedCall, parts));
    // The uniform entry has refused what is to be refused.
    const std::vector<Value*> arguments = load_arguments(call, [](Value*) {});
    Value* status = call_body(arguments, scratch_of(call, part, parts), {part, parts});
    BasicBlock* first = BasicBlock::Create(module_.getContext(), "first", function);
    BasicBlock* end = BasicBlock::Create(module_.getContext(), "end", function);
    builder_.CreateCondBr(builder_.CreateICmpEQ(part, i64(0)), first, end);
    builder_.SetInsertPoint(first);
    builder_.CreateStore(status, at(shared, offsetof(SharedCall, status)));
    builder_.CreateBr(end);
    builder_.SetInsertPoint(end);
    builder_.CreateRetVoid();
    return function;
  }

  llvm::Module& module_;
  const std::string& symbol_;
  const KernelFunctions& kernel_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

void add_entries(llvm::Module& module, const std::string& symbol, const KernelFunctions& kernel) {
  EntryBuilder builder(module, symbol, kernel);
  if (kernel.extra.any()) {
    kernel.body->setLinkage(Function::InternalLinkage);
    builder.add_typed_entry();
  }
  builder.add_uniform_entry();
}

}  // namespace gemmc
