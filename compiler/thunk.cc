#include "compiler/thunk.h"

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/dispatch.h"
#include "compiler/entries.h"
#include "compiler/ir_loops.h"
#include "compiler/item_loops.h"
#include "compiler/pack_entry.h"
#include "compiler/parts.h"
#include "gemmc/gemmc.h"

namespace gemmc {
namespace {

using llvm::IRBuilder;
using llvm::Value;

class ThunkBuilder {
 public:
  ThunkBuilder(llvm::Module& module, const KernelBody& body, const ExtraArguments& extra)
      : module_(module),
        extra_(extra),
        body_(body),
        problem_(body.problem),
        form_(body.form),
        schedule_(body.schedule),
        builder_(module.getContext()) {}

  // All of the kernel where it has one body; else one of those that the entry of add_dispatch() chooses from.
  llvm::Function* add_typed_function(const std::string& symbol) {
    std::vector<llvm::Type*> types(y_argument() + 1, builder_.getPtrTy());
    types.insert(types.end(), form_.dim_count + form_.stride_count, builder_.getInt64Ty());
    if (extra_.has_scratch) types.push_back(builder_.getPtrTy());
    if (extra_.has_parts) types.insert(types.end(), 2, builder_.getInt64Ty());
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
    const unsigned first_extra = first_dim() + static_cast<unsigned>(form_.dim_count + form_.stride_count);
    Value* scratch = extra_.has_scratch ? typed_->getArg(first_extra) : nullptr;
    const unsigned first_part = first_extra + (extra_.has_scratch ? 1 : 0);
    if (extra_.has_parts) part_ = {typed_->getArg(first_part), typed_->getArg(first_part + 1)};
    deal_out_items(batch);
    emit_batch_loops(batch, 0, operands, i64(0), [&](const ItemOperands& item) {
      emit_item(module_, builder_, body_, {m_, n_, k_}, item, scratch, part_);
    });
    builder_.CreateRet(builder_.getInt32(GEMMC_OK));
    return typed_;
  }

  // How many parts a call of the body is worth: int64_t(arguments of the typed entry..., int64_t threads,
  // int64_t products of a part).
  llvm::Function* add_parts_function(const std::string& symbol) {
    std::vector<llvm::Type*> types(y_argument() + 1, builder_.getPtrTy());
    types.insert(types.end(), form_.dim_count + form_.stride_count + 2, builder_.getInt64Ty());
    typed_ = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt64Ty(), types, false),
                                    llvm::Function::InternalLinkage, symbol, module_);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", typed_));
    const ItemSizes sizes = {size(form_.m), size(form_.n), size(form_.k)};
    Value* items = i64(1);
    for (const BatchAxis& axis : form_.batch) {
      Value* extent = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, size(axis.a_extent), size(axis.b_extent));
      items = builder_.CreateMul(items, extent);
    }
    Value* by_size =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, items, most_parts(builder_, schedule_, sizes));
    // In floating-point, because it may be more than 64 bits hold.
    llvm::Type* real = builder_.getDoubleTy();
    const unsigned threads_argument = first_dim() + static_cast<unsigned>(form_.dim_count + form_.stride_count);
    Value *threads = typed_->getArg(threads_argument), *products = typed_->getArg(threads_argument + 1);
    Value* is_given = builder_.CreateICmpSGT(products, i64(0));
    Value* by_work = llvm::ConstantFP::get(real, 1);
    for (Value* factor : {sizes.m, sizes.n, sizes.k, items}) {
      by_work = builder_.CreateFMul(by_work, builder_.CreateUIToFP(factor, real));
    }
    Value* of_part = builder_.CreateSelect(is_given, products, i64(kProductsOfPart));
    by_work = builder_.CreateFDiv(by_work, builder_.CreateSIToFP(of_part, real));
    by_work = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, by_work, builder_.CreateSIToFP(threads, real));
    Value* parts = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                                  builder_.CreateFPToSI(by_work, threads->getType()), by_size);
    builder_.CreateRet(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, parts, i64(1)));
    return typed_;
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

  // A part has its share of every item, or, where there are many, they come out even or have too few tiles, its share
  // of the items.
  void deal_out_items(const std::vector<BatchValues>& batch) {
    if (part_.parts == nullptr || batch.empty()) return;
    Value* items = i64(1);
    for (const BatchValues& axis : batch) items = builder_.CreateMul(items, axis.extent);
    constexpr int64_t kMany = 4;
    Value* are_many = builder_.CreateICmpUGE(items, builder_.CreateMul(part_.parts, i64(kMany)));
    Value* are_even = builder_.CreateICmpEQ(builder_.CreateURem(items, part_.parts), i64(0));
    Value* are_small = builder_.CreateICmpULT(most_parts(builder_, schedule_, {m_, n_, k_}), part_.parts);
    Value* deals = builder_.CreateOr(builder_.CreateOr(are_many, are_even), are_small);
    const Share own = share_of(builder_, items, part_);
    own_items_ = {builder_.CreateSelect(deals, own.begin, i64(0)), builder_.CreateSelect(deals, own.count, items)};
    part_ = {builder_.CreateSelect(deals, i64(0), part_.part), builder_.CreateSelect(deals, i64(1), part_.parts)};
  }

  void emit_if_own(Value* item, const std::function<void()>& body) {
    if (own_items_.count == nullptr) return body();
    llvm::BasicBlock* own = llvm::BasicBlock::Create(module_.getContext(), "own", typed_);
    llvm::BasicBlock* after = llvm::BasicBlock::Create(module_.getContext(), "after", typed_);
    builder_.CreateCondBr(builder_.CreateICmpULT(builder_.CreateSub(item, own_items_.begin), own_items_.count), own,
                          after);
    builder_.SetInsertPoint(own);
    body();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  using Item = std::function<void(const ItemOperands& operands)>;
  void emit_batch_loops(const std::vector<BatchValues>& batch, size_t axis, const ItemOperands& operands,
                        Value* index_of_item, const Item& item) {
    if (axis == batch.size()) return emit_if_own(index_of_item, [&] { item(operands); });
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
      Value* inner = builder_.CreateAdd(builder_.CreateMul(index_of_item, batch[axis].extent), index);
      emit_batch_loops(batch, axis + 1, moved, inner, item);
    });
  }

  llvm::Module& module_;
  const ExtraArguments extra_;
  const KernelBody& body_;
  const Problem& problem_;
  const LoopForm& form_;
  const Schedule& schedule_;
  IRBuilder<> builder_;
  llvm::Function* typed_ = nullptr;
  llvm::BasicBlock* invalid_ = nullptr;
  Value *m_ = nullptr, *n_ = nullptr, *k_ = nullptr;
  Share own_items_ = {};  // where parts deal out the items of a batch
  PartValues part_;       // of each of them
};

}  // namespace

void add_thunk(llvm::Module& module, const std::vector<KernelBody>& bodies, const std::string& symbol) {
  const KernelBody& general = bodies.front();
  const int64_t scratch = scratch_bytes(bodies);
  const ExtraArguments extra{.has_scratch = scratch > 0, .has_parts = may_be_worth_parts(general.form)};
  const std::string body_name = extra.any() ? symbol + ".body" : symbol;
  ThunkBuilder builder(module, general, extra);
  llvm::Function* body = builder.add_typed_function(body_name);
  if (bodies.size() > 1) {
    std::vector<DispatchedBody> variants;
    for (size_t i = 1; i < bodies.size(); ++i) {
      ThunkBuilder variant(module, bodies[i], extra);
      variants.push_back({variant.add_typed_function(body_symbol(bodies[i], symbol)), bodies[i].when, general.form.m});
    }
    body->setName(body_symbol(general, symbol));
    body = add_dispatch(module, body_name, *body, builder.first_dim(), variants);
  }
  llvm::Function* parts = nullptr;
  if (extra.has_parts) parts = ThunkBuilder(module, general, {}).add_parts_function(symbol + ".parts");
  add_entries(module, symbol, {general.form, general.schedule.packs_b, body, extra, scratch, parts});
  if (general.schedule.packs_b) {
    add_pack_entry(module, general.problem, general.form, general.schedule, symbol + "_pack_b");
  }
}

}  // namespace gemmc
