#include "compiler/thunk.h"

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/call_size.h"
#include "compiler/dispatch.h"
#include "compiler/ir_loops.h"
#include "compiler/item_loops.h"
#include "compiler/pack_entry.h"
#include "gemmc/gemmc.h"

namespace gemmc {
namespace {

using llvm::IRBuilder;
using llvm::Value;

class ThunkBuilder {
 public:
  // `takes_scratch`: its last parameter is scratch memory, or null.
  ThunkBuilder(llvm::Module& module, const KernelBody& body, bool takes_scratch)
      : module_(module),
        takes_scratch_(takes_scratch),
        body_(body),
        problem_(body.problem),
        form_(body.form),
        schedule_(body.schedule),
        builder_(module.getContext()) {}

  // All of the kernel where it has one body; else one of those that the entry of add_dispatch() chooses from.
  llvm::Function* add_typed_function(const std::string& symbol) {
    std::vector<llvm::Type*> types(y_argument() + 1, builder_.getPtrTy());
    types.insert(types.end(), form_.dim_count + form_.stride_count, builder_.getInt64Ty());
    if (takes_scratch_) types.push_back(builder_.getPtrTy());
    typed_ = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), types, false),
                                    llvm::Function::ExternalLinkage, symbol, module_);
    // A and B are only read and never overlap Y. C and a full operand of the epilogue may be Y, so nothing is said of
    // those.
    for (unsigned operand : {0u, 1u}) typed_->addParamAttr(operand, llvm::Attribute::NoAlias);
    for (unsigned operand = 0; operand < y_argument(); ++operand) {
      typed_->addParamAttr(operand, llvm::Attribute::ReadOnly);
    }
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", typed_));
    invalid_ = llvm::BasicBlock::Create(module_.getContext(), "invalid", typed_);
    IRBuilder<>(invalid_).CreateRet(builder_.getInt32(GEMMC_INVALID_ARGUMENT));

    check_dims();
    m_ = size(form_.m);
    n_ = size(form_.n);
    k_ = size(form_.k);
    ItemOperands operands = {matrix(typed_->getArg(0), form_.a, problem_.dtype),
                             matrix(typed_->getArg(1), form_.b, b_dtype(problem_)),
                             matrix(typed_->getArg(y_argument()), form_.y, problem_.dtype),
                             {}};
    for (const auto& [strides, has_batch] : added_operands()) {
      const unsigned argument = 2 + static_cast<unsigned>(operands.added.size());
      operands.added.push_back(matrix(typed_->getArg(argument), strides, problem_.dtype));
    }
    const std::vector<BatchValues> batch = batch_values();
    // Where Y is empty there may be more items or blocks than one could count.
    llvm::BasicBlock* empty = llvm::BasicBlock::Create(module_.getContext(), "empty", typed_);
    IRBuilder<>(empty).CreateRet(builder_.getInt32(GEMMC_OK));
    Value* is_empty = builder_.CreateOr(builder_.CreateICmpEQ(m_, i64(0)), builder_.CreateICmpEQ(n_, i64(0)));
    for (const BatchValues& axis : batch)
      is_empty = builder_.CreateOr(is_empty, builder_.CreateICmpEQ(axis.extent, i64(0)));
    leave_if(is_empty, empty);
    Value* scratch = takes_scratch_ ? typed_->getArg(typed_->arg_size() - 1) : nullptr;
    emit_batch_loops(batch, 0, operands, [&](const ItemOperands& item) {
      emit_item(module_, builder_, body_, {m_, n_, k_}, item, scratch);
    });
    builder_.CreateRet(builder_.getInt32(GEMMC_OK));
    return typed_;
  }

  // The typed entry of a kernel whose `body` takes scratch memory: without any.
  void add_entry_without_scratch(const std::string& symbol, llvm::Function* body) {
    const llvm::FunctionType* type = body->getFunctionType();
    auto* entry =
        llvm::Function::Create(llvm::FunctionType::get(type->getReturnType(), type->params().drop_back(), false),
                               llvm::Function::ExternalLinkage, symbol, module_);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", entry));
    std::vector<Value*> arguments;
    for (llvm::Argument& argument : entry->args()) {
      for (const auto kind : {llvm::Attribute::NoAlias, llvm::Attribute::ReadOnly}) {
        if (body->hasParamAttribute(argument.getArgNo(), kind)) argument.addAttr(kind);
      }
      arguments.push_back(&argument);
    }
    arguments.push_back(llvm::ConstantPointerNull::get(builder_.getPtrTy()));
    builder_.CreateRet(builder_.CreateCall(body, arguments));
  }

  // int32_t NAME_call(const gemmc_call*). `least_scratch`: what `typed` wants to have of it.
  void add_uniform_entry(const std::string& symbol, llvm::Function* typed, int64_t least_scratch) {
    auto* uniform = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), {builder_.getPtrTy()}, false),
                                           llvm::Function::ExternalLinkage, symbol + "_call", module_);
    llvm::BasicBlock* entry = llvm::BasicBlock::Create(module_.getContext(), "entry", uniform);
    llvm::BasicBlock* invalid = llvm::BasicBlock::Create(module_.getContext(), "invalid", uniform);
    IRBuilder<>(invalid).CreateRet(builder_.getInt32(GEMMC_INVALID_ARGUMENT));
    builder_.SetInsertPoint(entry);
    Value* call = uniform->getArg(0);
    const auto field = [&](llvm::Type* type, size_t offset) {
      return builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), call, offset));
    };
    const auto refuse_if = [&](Value* condition) {
      llvm::BasicBlock* valid = llvm::BasicBlock::Create(module_.getContext(), "valid", uniform);
      builder_.CreateCondBr(condition, invalid, valid);
      builder_.SetInsertPoint(valid);
    };
    llvm::Type* pointer = builder_.getPtrTy();
    Value* size_bytes = field(builder_.getInt64Ty(), offsetof(gemmc_call, size_bytes));
    refuse_if(builder_.CreateICmpULT(size_bytes, builder_.getInt64(least_call_bytes(form_))));
    const size_t b = schedule_.packs_b ? offsetof(gemmc_call, packed) + sizeof(void*) : offsetof(gemmc_call, b);
    std::vector<Value*> arguments = {field(pointer, offsetof(gemmc_call, a)), field(pointer, b)};
    if (schedule_.packs_b) refuse_if(builder_.CreateIsNull(arguments.back()));
    if (form_.has_c) arguments.push_back(field(pointer, offsetof(gemmc_call, c)));
    const auto add_list = [&](size_t offset, llvm::Type* type, int count) {
      if (count == 0) return;
      Value* list = field(pointer, offset);
      refuse_if(builder_.CreateIsNull(list));
      for (int i = 0; i < count; ++i) {
        arguments.push_back(
            builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(type, list, static_cast<uint64_t>(i))));
      }
    };
    add_list(offsetof(gemmc_call, epilogue), pointer, static_cast<int>(form_.epilogue.size()));
    arguments.push_back(field(pointer, offsetof(gemmc_call, y)));
    add_list(offsetof(gemmc_call, dims), builder_.getInt64Ty(), form_.dim_count);
    add_list(offsetof(gemmc_call, strides), builder_.getInt64Ty(), form_.stride_count);
    if (takes_scratch_) {
      Value* bytes = field(builder_.getInt64Ty(), offsetof(gemmc_call, scratch_bytes));
      arguments.push_back(builder_.CreateSelect(builder_.CreateICmpUGE(bytes, i64(least_scratch)),
                                                field(pointer, offsetof(gemmc_call, scratch)),
                                                llvm::ConstantPointerNull::get(builder_.getPtrTy())));
    }
    builder_.CreateRet(builder_.CreateCall(typed, arguments));
  }

  // The index of the argument that is the first run-time dimension.
  unsigned first_dim() const { return y_argument() + 1; }

 private:
  struct BatchValues {
    Value *extent, *a, *b, *y;
  };

  Value* i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  // The operands that are read after the sums, in the order of the arguments.
  std::vector<EpilogueOperandForm> added_operands() const {
    std::vector<EpilogueOperandForm> added = form_.epilogue;
    if (form_.has_c) added.insert(added.begin(), {form_.c, false});
    return added;
  }
  unsigned y_argument() const { return 2 + static_cast<unsigned>(added_operands().size()); }
  Value* dim_argument(int index) { return typed_->getArg(first_dim() + static_cast<unsigned>(index)); }

  Value* size(const SizeExpr& expr) {
    Value* value = i64(expr.factor);
    for (int dim : expr.dims) value = builder_.CreateMul(value, dim_argument(dim));
    return value;
  }

  Value* stride(const StrideExpr& expr) {
    return expr.is_runtime() ? dim_argument(form_.dim_count + expr.runtime_index) : size(expr.size);
  }

  MatrixValues matrix(Value* base, const MatrixStrides& strides, DType dtype) {
    return {base, stride(strides.row), stride(strides.col), static_cast<int64_t>(size_bytes(dtype))};
  }

  // Continues at `exit` where the condition holds.
  void leave_if(Value* condition, llvm::BasicBlock* exit) {
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition); constant != nullptr && constant->isZero())
      return;
    llvm::BasicBlock* rest = llvm::BasicBlock::Create(module_.getContext(), "rest", typed_, invalid_);
    builder_.CreateCondBr(condition, exit, rest);
    builder_.SetInsertPoint(rest);
  }

  void check_dims() {
    Value* any_negative = builder_.getFalse();
    for (int i = 0; i < form_.dim_count; ++i) {
      any_negative = builder_.CreateOr(any_negative, builder_.CreateICmpSLT(dim_argument(i), i64(0)));
    }
    leave_if(any_negative, invalid_);
  }

  std::vector<BatchValues> batch_values() {
    std::vector<BatchValues> batch;
    for (const BatchAxis& axis : form_.batch) {
      Value* in_a = size(axis.a_extent);
      Value* in_b = size(axis.b_extent);
      Value* a_is_one = builder_.CreateICmpEQ(in_a, i64(1));
      Value* b_is_one = builder_.CreateICmpEQ(in_b, i64(1));
      Value* differ = in_a == in_b ? builder_.getFalse() : builder_.CreateICmpNE(in_a, in_b);
      leave_if(builder_.CreateAnd(differ, builder_.CreateNot(builder_.CreateOr(a_is_one, b_is_one))), invalid_);
      batch.push_back({builder_.CreateSelect(a_is_one, in_b, in_a),
                       builder_.CreateSelect(a_is_one, i64(0), stride(axis.a)),
                       builder_.CreateSelect(b_is_one, i64(0), stride(axis.b)), nullptr});
    }
    Value* dense = builder_.CreateMul(m_, n_);
    for (size_t i = batch.size(); i-- > 0;) {
      batch[i].y = form_.y_batch.empty() ? dense : stride(form_.y_batch[i]);
      dense = builder_.CreateMul(dense, batch[i].extent);
    }
    return batch;
  }

  using Item = std::function<void(const ItemOperands& operands)>;
  void emit_batch_loops(const std::vector<BatchValues>& batch, size_t axis, const ItemOperands& operands,
                        const Item& item) {
    if (axis == batch.size()) {
      item(operands);
      return;
    }
    emit_loop(builder_, batch[axis].extent, i64(1), [&](Value* index) {
      const auto move = [&](MatrixValues& matrix, Value* stride) {
        matrix.base = advance(builder_, matrix.base, builder_.CreateMul(index, stride), matrix.element_bytes);
      };
      ItemOperands moved = operands;
      move(moved.a, batch[axis].a);
      move(moved.b, batch[axis].b);
      move(moved.y, batch[axis].y);
      const std::vector<EpilogueOperandForm> added = added_operands();
      for (size_t i = 0; i < added.size(); ++i) {
        if (added[i].has_batch) move(moved.added[i], batch[axis].y);
      }
      emit_batch_loops(batch, axis + 1, moved, item);
    });
  }

  llvm::Module& module_;
  const bool takes_scratch_;
  const KernelBody& body_;
  const Problem& problem_;
  const LoopForm& form_;
  const Schedule& schedule_;
  IRBuilder<> builder_;
  llvm::Function* typed_ = nullptr;
  llvm::BasicBlock* invalid_ = nullptr;
  Value *m_ = nullptr, *n_ = nullptr, *k_ = nullptr;
};

}  // namespace

void add_thunk(llvm::Module& module, const std::vector<KernelBody>& bodies, const std::string& symbol) {
  const KernelBody& general = bodies.front();
  const int64_t scratch = scratch_bytes(bodies);
  const bool takes_scratch = scratch > 0;
  ThunkBuilder builder(module, general, takes_scratch);
  llvm::Function* typed = builder.add_typed_function(symbol);
  if (bodies.size() > 1) {
    std::vector<DispatchedBody> variants;
    for (size_t i = 1; i < bodies.size(); ++i) {
      ThunkBuilder variant(module, bodies[i], takes_scratch);
      variants.push_back({variant.add_typed_function(body_symbol(bodies[i], symbol)), bodies[i].when, general.form.m});
    }
    typed->setName(body_symbol(general, symbol));
    typed = add_dispatch(module, symbol, *typed, builder.first_dim(), variants);
  }
  if (takes_scratch) {
    typed->setName(symbol + ".with_scratch");
    typed->setLinkage(llvm::Function::InternalLinkage);
    builder.add_entry_without_scratch(symbol, typed);
  }
  builder.add_uniform_entry(symbol, typed, scratch);
  if (general.schedule.packs_b) {
    add_pack_entry(module, general.problem, general.form, general.schedule, symbol + "_pack_b");
  }
}

}  // namespace gemmc
