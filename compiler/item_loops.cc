#include "compiler/item_loops.h"

#include <fmt/format.h>

#include <functional>
#include <string>

#include "compiler/ir_buffers.h"
#include "compiler/ir_loops.h"
#include "compiler/pipelines.h"
#include "schedules/blocking.h"
#include "schedules/packed_panels.h"

namespace gemmc {
namespace {

using llvm::Value;

class ItemLoops {
 public:
  ItemLoops(llvm::Module& module, llvm::IRBuilder<>& builder, const KernelBody& body, const ItemSizes& sizes)
      : module_(module),
        builder_(builder),
        buffers_(module, builder),
        body_(body),
        problem_(body.problem),
        form_(body.form),
        schedule_(body.schedule),
        m_(sizes.m),
        n_(sizes.n),
        k_(sizes.k) {}

  // The rows in register tiles, as tile_heights() says, mc rows at most in one call.
  void emit_tile_columns(const ItemOperands& item) {
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

  void emit_general_blocks(const ItemOperands& item) {
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

 private:
  Value* i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  Value* advance(Value* base, Value* elements, int64_t element_bytes) {
    return gemmc::advance(builder_, base, elements, element_bytes);
  }

  void call(const std::string& function_name, std::vector<Value*> arguments) {
    llvm::Function* function = module_.getFunction(pipeline_symbol(body_, function_name));
    for (unsigned i = 0; i < arguments.size(); ++i) {
      llvm::Type* wanted = function->getFunctionType()->getParamType(i);
      if (wanted->isIntegerTy()) arguments[i] = builder_.CreateZExtOrTrunc(arguments[i], wanted);
    }
    builder_.CreateCall(function, arguments);
  }

  Value* tiled_b(const MatrixValues& b) {
    if (!schedule_.packs_b) return buffers_.make(b.base, {{n_, b.col}, {k_, b.row}});
    const PackedPanels panels = packed_panels(form_, schedule_);
    return buffers_.make(
        b.base, {{i64(panels.nr), i64(1)}, {k_, i64(panels.nr)}, {i64(panels.count()), i64(panels.nr * panels.k)}});
  }

  void emit_tile_column(const ItemOperands& item, int height, Value* first_row, Value* tile_count) {
    Value* rows = builder_.CreateMul(tile_count, i64(height));
    const auto buffer = [&](const MatrixValues& matrix, Value* cols) {
      Value* base = advance(matrix.base, builder_.CreateMul(first_row, matrix.row), matrix.element_bytes);
      return buffers_.make(base, {{cols, matrix.col}, {rows, matrix.row}});
    };
    std::vector<Value*> arguments = {buffer(item.a, k_), tiled_b(item.b)};
    for (const MatrixValues& added : item.added) arguments.push_back(buffer(added, n_));
    arguments.push_back(tile_count);
    arguments.push_back(buffer(item.y, n_));
    call(fmt::format("{}_{}", name(schedule_.family), height), arguments);
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

  // 1, or 0 for 0.
  Value* non_zero(Value* value) {
    return builder_.CreateZExt(builder_.CreateICmpNE(value, i64(0)), builder_.getInt64Ty());
  }

  void emit_if_not(Value* condition, const std::function<void()>& body) {
    Value* times = builder_.CreateSelect(condition, i64(0), i64(1));
    emit_loop(builder_, times, i64(1), [&](Value*) { body(); });
  }

  llvm::Module& module_;
  llvm::IRBuilder<>& builder_;
  HalideBuffers buffers_;
  const KernelBody& body_;
  const Problem& problem_;
  const LoopForm& form_;
  const Schedule& schedule_;
  Value *const m_, *const n_, *const k_;
};

}  // namespace

Value* advance(llvm::IRBuilder<>& builder, Value* base, Value* elements, int64_t element_bytes) {
  Value* bytes = builder.CreateMul(elements, builder.getInt64(static_cast<uint64_t>(element_bytes)));
  return builder.CreateGEP(builder.getInt8Ty(), base, bytes);
}

void emit_item(llvm::Module& module, llvm::IRBuilder<>& builder, const KernelBody& body, const ItemSizes& sizes,
               const ItemOperands& item) {
  ItemLoops loops(module, builder, body, sizes);
  body.schedule.family == Family::kGeneral ? loops.emit_general_blocks(item) : loops.emit_tile_columns(item);
}

}  // namespace gemmc
