#include "compiler/thunk.h"

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "compiler/call_size.h"
#include "compiler/dispatch.h"
#include "compiler/ir_buffers.h"
#include "compiler/ir_loops.h"
#include "compiler/pack_entry.h"
#include "compiler/pipelines.h"
#include "gemmc/gemmc.h"
#include "schedules/blocking.h"
#include "schedules/packed_panels.h"

namespace gemmc {
namespace {

using llvm::IRBuilder;
using llvm::Value;

struct MatrixValues {
  Value* base;
  Value* row;
  Value* col;
  int64_t element_bytes;
};

// The operands of one item of the batch.
struct Operands {
  MatrixValues a, b, y;
  std::vector<MatrixValues> added;  // C, where there is one, and the operands of the epilogue
};

class ThunkBuilder {
 public:
  ThunkBuilder(llvm::Module& module, const KernelBody& body)
      : module_(module),
        body_(body),
        problem_(body.problem),
        form_(body.form),
        schedule_(body.schedule),
        builder_(module.getContext()),
        buffers_(module, builder_) {}

  // All of the kernel where it has one body; else one of those that the entry of add_dispatch() chooses from.
  llvm::Function* add_typed_function(const std::string& symbol) {
    std::vector<llvm::Type*> types(y_argument() + 1, builder_.getPtrTy());
    types.insert(types.end(), form_.dim_count + form_.stride_count, builder_.getInt64Ty());
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
    Operands operands = {matrix(typed_->getArg(0), form_.a, problem_.dtype),
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
    emit_batch_loops(batch, 0, operands, [&](const Operands& item) {
      if (schedule_.family == Family::kTiled)
        emit_tiled(item);
      else
        emit_general_blocks(item);
    });
    builder_.CreateRet(builder_.getInt32(GEMMC_OK));
    return typed_;
  }

  // int32_t NAME_call(const gemmc_call*)
  void add_uniform_entry(llvm::Function* typed) {
    auto* uniform = llvm::Function::Create(llvm::FunctionType::get(builder_.getInt32Ty(), {builder_.getPtrTy()}, false),
                                           llvm::Function::ExternalLinkage, typed->getName() + "_call", module_);
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
    builder_.CreateRet(builder_.CreateCall(typed, arguments));
  }

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
  Value* dim_argument(int index) { return typed_->getArg(y_argument() + 1 + static_cast<unsigned>(index)); }

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

  Value* advance(Value* base, Value* elements, int64_t element_bytes) {
    return builder_.CreateGEP(builder_.getInt8Ty(), base, builder_.CreateMul(elements, i64(element_bytes)));
  }

  using Item = std::function<void(const Operands& operands)>;
  void emit_batch_loops(const std::vector<BatchValues>& batch, size_t axis, const Operands& operands,
                        const Item& item) {
    if (axis == batch.size()) {
      item(operands);
      return;
    }
    emit_loop(builder_, batch[axis].extent, i64(1), [&](Value* index) {
      const auto move = [&](MatrixValues& matrix, Value* stride) {
        matrix.base = advance(matrix.base, builder_.CreateMul(index, stride), matrix.element_bytes);
      };
      Operands moved = operands;
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

  void call(const std::string& function_name, std::vector<Value*> arguments) {
    llvm::Function* function = module_.getFunction(pipeline_symbol(body_, function_name));
    for (unsigned i = 0; i < arguments.size(); ++i) {
      llvm::Type* wanted = function->getFunctionType()->getParamType(i);
      if (wanted->isIntegerTy()) arguments[i] = builder_.CreateZExtOrTrunc(arguments[i], wanted);
    }
    builder_.CreateCall(function, arguments);
  }

  // The rows in register tiles, as tile_heights() says, mc rows at most in one call.
  void emit_tiled(const Operands& item) {
    Value* all_tiles = tiles(m_, schedule_.mr);
    Value* tallest = builder_.CreateUDiv(builder_.CreateSub(builder_.CreateAdd(m_, all_tiles), i64(1)), all_tiles);
    Value* lower = builder_.CreateSub(tallest, i64(1));
    Value* tallest_tiles = builder_.CreateSub(m_, builder_.CreateMul(all_tiles, lower));
    Value* lower_tiles = builder_.CreateSub(all_tiles, tallest_tiles);
    Value* first_row = i64(0);
    for (int height : tile_heights(form_.m, schedule_)) {
      Value* is_tallest = builder_.CreateICmpEQ(tallest, i64(height));
      Value* is_lower = builder_.CreateICmpEQ(lower, i64(height));
      Value* count =
          builder_.CreateSelect(is_tallest, tallest_tiles, builder_.CreateSelect(is_lower, lower_tiles, i64(0)));
      Value* block = i64(schedule_.mc / schedule_.mr);
      emit_loop(builder_, count, block, [&](Value* tile) {
        Value* row = builder_.CreateAdd(first_row, builder_.CreateMul(tile, i64(height)));
        emit_tile_column(item, height, row, block_extent(count, tile, block));
      });
      first_row = builder_.CreateAdd(first_row, builder_.CreateMul(count, i64(height)));
    }
  }

  Value* tiled_b(const MatrixValues& b) {
    if (!schedule_.packs_b) return buffers_.make(b.base, {{n_, b.col}, {k_, b.row}});
    const PackedPanels panels = packed_panels(form_, schedule_);
    return buffers_.make(
        b.base, {{i64(panels.nr), i64(1)}, {k_, i64(panels.nr)}, {i64(panels.count()), i64(panels.nr * panels.k)}});
  }

  void emit_tile_column(const Operands& item, int height, Value* first_row, Value* tile_count) {
    Value* rows = builder_.CreateMul(tile_count, i64(height));
    const auto buffer = [&](const MatrixValues& matrix, Value* cols) {
      Value* base = advance(matrix.base, builder_.CreateMul(first_row, matrix.row), matrix.element_bytes);
      return buffers_.make(base, {{cols, matrix.col}, {rows, matrix.row}});
    };
    std::vector<Value*> arguments = {buffer(item.a, k_), tiled_b(item.b)};
    for (const MatrixValues& added : item.added) arguments.push_back(buffer(added, n_));
    arguments.push_back(tile_count);
    arguments.push_back(buffer(item.y, n_));
    call(fmt::format("tiled_{}", height), arguments);
  }

  // One where a stride is so long that an index inside the block could overflow: then the stride no longer matters.
  Value* block_size(int wanted, const std::vector<Value*>& strides) {
    Value* is_long = builder_.getFalse();
    const int64_t limit = longest_stride(wanted);
    for (Value* stride : strides) {
      Value* shifted = builder_.CreateAdd(stride, i64(limit));
      is_long = builder_.CreateOr(is_long, builder_.CreateICmpUGT(shifted, i64(2 * limit)));
    }
    return builder_.CreateSelect(is_long, i64(1), i64(wanted));
  }

  Value* block_extent(Value* total, Value* start, Value* block) {
    Value* rest = builder_.CreateSub(total, start);
    return builder_.CreateSelect(builder_.CreateICmpSLT(rest, block), rest, block);
  }

  Value* scratch(int64_t elements) {
    llvm::Type* type = llvm::ArrayType::get(builder_.getInt8Ty(),
                                            static_cast<uint64_t>(elements) * size_bytes(accumulator(problem_.dtype)));
    llvm::AllocaInst* memory = buffers_.stack(type);
    memory->setAlignment(llvm::Align(64));
    return memory;
  }

  Value* tiles(Value* extent, int tile) {
    return builder_.CreateUDiv(builder_.CreateAdd(extent, i64(tile - 1)), i64(tile));
  }

  void emit_general_blocks(const Operands& item) {
    const Schedule& s = schedule_;
    const auto& [a, b, y, added] = item;
    std::vector<Value*> m_strides = {a.row, y.row}, n_strides = {b.col, y.col};
    for (const MatrixValues& matrix : added) {
      m_strides.push_back(matrix.row);
      n_strides.push_back(matrix.col);
    }
    Value* mc = block_size(s.mc, m_strides);
    Value* nc = block_size(s.nc, n_strides);
    Value* kc = block_size(s.kc, {a.col, b.row});
    const bool converts = converts_a(problem_.dtype);
    Value* packed = scratch(int64_t{s.kc} * s.nc);
    const bool may_need_sums = may_need_many_blocks(form_, s);
    Value* sums = scratch(may_need_sums ? int64_t{s.mc} * s.nc : 1);
    Value* converted = converts ? scratch(int64_t{s.mc} * s.kc) : nullptr;

    // The first product of the last K block. kc shrinks only where strides are long.
    Value* last_k0 = builder_.CreateMul(builder_.CreateUDiv(builder_.CreateSub(k_, non_zero(k_)), kc), kc);
    Value* has_one_block = builder_.CreateICmpEQ(last_k0, i64(0));

    emit_loop(builder_, n_, nc, [&](Value* n0) {
      Value* nb = block_extent(n_, n0, nc);
      emit_loop(builder_, m_, mc, [&](Value* m0) {
        Value* mb = block_extent(m_, m0, mc);
        const auto at = [&](const MatrixValues& matrix, Value* row, Value* col) {
          return advance(matrix.base,
                         builder_.CreateAdd(builder_.CreateMul(row, matrix.row), builder_.CreateMul(col, matrix.col)),
                         matrix.element_bytes);
        };
        Value* panels = tiles(nb, s.nr);
        Value* sum_buffer = buffers_.make(sums, {{i64(s.nr), i64(1)},
                                                 {i64(s.mr), i64(s.nr)},
                                                 {panels, i64(int64_t{s.nr} * s.mr)},
                                                 {tiles(mb, s.mr), i64(int64_t{s.nc} * s.mr)}});
        // A and B of one block of products, as multiply and finish take them.
        const auto factors = [&](Value* k0, Value* kb, Value* is_packed) {
          Value* packed_buffer =
              buffers_.make(packed, {{i64(s.nr), i64(1)}, {kb, i64(s.nr)}, {panels, i64(int64_t{s.nr} * s.kc)}});
          emit_if_not(is_packed, [&] {
            call("pack_b", {buffers_.make(at(b, k0, n0), {{nb, b.col}, {kb, b.row}}), packed_buffer});
          });
          Value* a_buffer = buffers_.make(at(a, m0, k0), {{kb, a.col}, {mb, a.row}});
          if (converts) {
            Value* converted_buffer = buffers_.make(converted, {{kb, i64(1)}, {mb, i64(s.kc)}});
            call("convert_a", {a_buffer, converted_buffer});
            a_buffer = converted_buffer;
          }
          return std::vector<Value*>{a_buffer, packed_buffer, sum_buffer, builder_.CreateICmpEQ(k0, i64(0))};
        };
        if (may_need_sums) {
          emit_loop(builder_, last_k0, kc, [&](Value* k0) {
            std::vector<Value*> arguments = factors(k0, kc, builder_.getFalse());
            arguments.push_back(sum_buffer);
            call("multiply", arguments);
          });
        }
        // Packed once for all rows where there is one block.
        Value* is_packed = builder_.CreateAnd(has_one_block, builder_.CreateICmpNE(m0, i64(0)));
        std::vector<Value*> arguments = factors(last_k0, builder_.CreateSub(k_, last_k0), is_packed);
        for (const MatrixValues& matrix : added) {
          arguments.push_back(buffers_.make(at(matrix, m0, n0), {{nb, matrix.col}, {mb, matrix.row}}));
        }
        arguments.push_back(buffers_.make(at(y, m0, n0), {{nb, y.col}, {mb, y.row}}));
        call("finish", arguments);
      });
    });
  }

  // 1, or 0 for 0.
  Value* non_zero(Value* value) {
    return builder_.CreateZExt(builder_.CreateICmpNE(value, i64(0)), builder_.getInt64Ty());
  }

  void emit_if_not(Value* condition, const std::function<void()>& body) {
    Value* times = builder_.CreateSelect(condition, i64(0), i64(1));
    emit_loop(builder_, times, i64(1), [&](Value*) { body(); });
  }

  llvm::Module& module_;
  const KernelBody& body_;
  const Problem& problem_;
  const LoopForm& form_;
  const Schedule& schedule_;
  IRBuilder<> builder_;
  HalideBuffers buffers_;
  llvm::Function* typed_ = nullptr;
  llvm::BasicBlock* invalid_ = nullptr;
  Value *m_ = nullptr, *n_ = nullptr, *k_ = nullptr;
};

}  // namespace

void add_thunk(llvm::Module& module, const std::vector<KernelBody>& bodies, const std::string& symbol) {
  const KernelBody& general = bodies.front();
  ThunkBuilder builder(module, general);
  llvm::Function* typed = builder.add_typed_function(symbol);
  if (bodies.size() > 1) {
    std::vector<DispatchedBody> variants;
    for (size_t i = 1; i < bodies.size(); ++i) {
      variants.push_back(
          {ThunkBuilder(module, bodies[i]).add_typed_function(body_symbol(bodies[i], symbol)), bodies[i].dims});
    }
    const auto first_dim = static_cast<unsigned>(typed->arg_size()) -
                           static_cast<unsigned>(general.form.dim_count + general.form.stride_count);
    typed->setName(body_symbol(general, symbol));
    typed = add_dispatch(module, symbol, *typed, first_dim, variants);
  }
  builder.add_uniform_entry(typed);
  if (general.schedule.packs_b) {
    add_pack_entry(module, general.problem, general.form, general.schedule, symbol + "_pack_b");
  }
}

}  // namespace gemmc
