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

Value* count_tiles(llvm::IRBuilder<>& builder, Value* extent, int tile) {
  const auto constant = [&](int value) { return builder.getInt64(static_cast<uint64_t>(value)); };
  return builder.CreateUDiv(builder.CreateAdd(extent, constant(tile - 1)), constant(tile));
}

class ItemLoops {
 public:
  ItemLoops(llvm::Module& module, llvm::IRBuilder<>& builder, const KernelBody& body, const ItemSizes& sizes,
            Value* lent, const PartValues& part)
      : module_(module),
        builder_(builder),
        buffers_(module, builder),
        body_(body),
        problem_(body.problem),
        form_(body.form),
        schedule_(body.schedule),
        m_(sizes.m),
        n_(sizes.n),
        k_(sizes.k),
        lent_(lent),
        part_(part) {}

  void emit_tile_columns(const ItemOperands& item) {
    const int64_t last = last_k_block(form_, schedule_);
    if (last == 0) return emit_rows(item, {i64(0), k_}, Part::kAll);
    const bool are_equal = has_equal_k_blocks(problem_, form_, schedule_);
    emit_loop(builder_, are_equal ? k_ : i64(last), i64(schedule_.kc), [&](Value* k0) {
      emit_rows(item, {k0, i64(schedule_.kc)}, Part::kCarried);
    });
    if (!are_equal) emit_rows(item, {i64(last), builder_.CreateSub(k_, i64(last))}, Part::kLast);
  }

  void emit_general_blocks(const ItemOperands& item) {
    const Schedule& s = schedule_;
    std::vector<Value*> m_strides = {item.a.row, item.y.row}, n_strides = {item.b.col, item.y.col};
    for (const MatrixValues& matrix : item.added) {
      m_strides.push_back(matrix.row);
      n_strides.push_back(matrix.col);
    }
    Blocks blocks = {.mc = block_size(s.mc, m_strides),
                     .nc = block_size(widest_block(s), n_strides),
                     .kc = block_size(s.kc, {item.a.col, item.b.row})};
    const bool may_need_sums = may_need_many_blocks(form_, s);
    blocks.packed = on_stack(factor_bytes(s, problem_.dtype) * s.kc * s.nc);
    if (s.lent_nc > 0) {
      Value* has_none = builder_.CreateIsNull(lent_);
      Value* aligned = builder_.CreateIntrinsic(
          llvm::Intrinsic::ptrmask, {lent_->getType(), builder_.getInt64Ty()},
          {builder_.CreateConstGEP1_64(builder_.getInt8Ty(), lent_, kScratchAlignment - 1), i64(-kScratchAlignment)});
      blocks.packed = builder_.CreateSelect(has_none, blocks.packed, aligned);
      Value* most = builder_.CreateSelect(has_none, i64(s.nc), i64(s.lent_nc));
      blocks.nc = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, blocks.nc, most);
    }
    if (copies_a(s, problem_.dtype)) blocks.converted = on_stack(factor_bytes(s, problem_.dtype) * s.mc * s.kc);
    const auto sum_bytes = static_cast<int64_t>(size_bytes(accumulator(problem_.dtype)));
    if (!s.sums_in_y) blocks.sums = on_stack(may_need_sums ? sum_bytes * s.mc * s.nc : sum_bytes);
    // The first product of the last K block. kc shrinks only where strides are long.
    blocks.last_k0 =
        builder_.CreateMul(builder_.CreateUDiv(builder_.CreateSub(k_, non_zero(k_)), blocks.kc), blocks.kc);
    blocks.rows = {i64(0), m_};
    blocks.columns = {i64(0), n_};
    if (part_.parts != nullptr) split_blocks(blocks);
    emit_loop_over(blocks.columns, blocks.nc, [&](At n) {
      s.sums_in_y ? emit_columns_with_sums_in_y(item, blocks, n) : emit_columns(item, blocks, n);
    });
  }

 private:
  Value* i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  Value* advance(Value* base, Value* elements, int64_t element_bytes) {
    return gemmc::advance(builder_, base, elements, element_bytes);
  }

  using At = std::pair<Value*, Value*>;  // where a block begins and its extent

  struct Blocks {
    At rows = {}, columns = {};  // what is computed of the item
    Value *mc, *nc, *kc;
    Value *packed = nullptr, *converted = nullptr, *sums = nullptr;  // memory, where it is needed
    Value* last_k0 = nullptr;
  };

  At share(Value* units) {
    const Share own = share_of(builder_, units, part_);
    return {own.begin, own.count};
  }

  // The part's share of an extent, in whole tiles.
  At share_of_extent(Value* extent, int tile) {
    const At units = share(tiles(extent, tile));
    Value* begin = builder_.CreateMul(units.first, i64(tile));
    return block_at({begin, builder_.CreateSub(extent, begin)}, i64(0), builder_.CreateMul(units.second, i64(tile)));
  }

  // By columns where there are panels enough, because B is then packed once in all; else by rows.
  void split_blocks(Blocks& blocks) {
    Value* is_by_columns = builder_.CreateICmpUGE(tiles(n_, schedule_.nr), part_.parts);
    const auto choose = [&](const At& columns, const At& rows) {
      return At{builder_.CreateSelect(is_by_columns, columns.first, rows.first),
                builder_.CreateSelect(is_by_columns, columns.second, rows.second)};
    };
    blocks.columns = choose(share_of_extent(n_, schedule_.nr), blocks.columns);
    blocks.rows = choose(blocks.rows, share_of_extent(m_, schedule_.mr));
  }

  // Calls body for each block of the range.
  void emit_loop_over(const At& range, Value* block, const std::function<void(At)>& body) {
    emit_loop(builder_, range.second, block, [&](Value* from) { body(block_at(range, from, block)); });
  }

  // Which of the K blocks of register tiles.
  enum class Part { kAll, kCarried, kLast };

  // The rows in register tiles, as tile_heights() says, mc rows at most in one call.
  void emit_rows(const ItemOperands& item, At k, Part part) {
    Value* all_tiles = tiles(m_, schedule_.mr);
    Value* tallest = builder_.CreateUDiv(builder_.CreateSub(builder_.CreateAdd(m_, all_tiles), i64(1)), all_tiles);
    Value* lower = builder_.CreateSub(tallest, i64(1));
    Value* tallest_tiles = builder_.CreateSub(m_, builder_.CreateMul(all_tiles, lower));
    Value* lower_tiles = builder_.CreateSub(all_tiles, tallest_tiles);
    Value* first_row = i64(0);
    Value* first_tile = i64(0);
    const At own = part_.parts != nullptr ? share(all_tiles) : At{i64(0), all_tiles};
    for (int height : tile_heights(form_.m, schedule_)) {
      Value* is_tallest = builder_.CreateICmpEQ(tallest, i64(height));
      Value* is_lower = builder_.CreateICmpEQ(lower, i64(height));
      Value* count =
          builder_.CreateSelect(is_tallest, tallest_tiles, builder_.CreateSelect(is_lower, lower_tiles, i64(0)));
      // Those of this height that are this part's.
      const At range = part_.parts == nullptr ? At{i64(0), count} : intersect({first_tile, count}, own);
      emit_loop_over(range, i64(schedule_.mc / schedule_.mr), [&](At tile) {
        Value* row = builder_.CreateAdd(first_row, builder_.CreateMul(tile.first, i64(height)));
        emit_tile_column(item, height, row, tile.second, k, part);
      });
      first_row = builder_.CreateAdd(first_row, builder_.CreateMul(count, i64(height)));
      first_tile = builder_.CreateAdd(first_tile, count);
    }
  }

  // What of `range` lies in `own`, counted from the range's begin; its extent may be negative where nothing does.
  At intersect(const At& range, const At& own) {
    Value* own_begin = builder_.CreateSub(own.first, range.first);
    Value* own_end = builder_.CreateAdd(own_begin, own.second);
    Value* begin = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, own_begin, i64(0));
    Value* end = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, own_end, range.second);
    return {begin, builder_.CreateSub(end, begin)};
  }

  // The block that lies `from` elements behind the range's begin.
  At block_at(const At& range, Value* from, Value* block) {
    return {builder_.CreateAdd(range.first, from), block_extent(range.second, from, block)};
  }

  Value* buffer_at(const MatrixValues& matrix, At rows, At cols) {
    Value* offset =
        builder_.CreateAdd(builder_.CreateMul(rows.first, matrix.row), builder_.CreateMul(cols.first, matrix.col));
    return buffers_.make(advance(matrix.base, offset, matrix.element_bytes),
                         {{cols.second, matrix.col}, {rows.second, matrix.row}});
  }

  // The elements along K of a packed block of so many products.
  Value* along_k(Value* products) { return schedule_.pairs_products ? tiles(products, kProductsPerPair) : products; }

  Value* packed_buffer(const Blocks& blocks, At n, At k) {
    const int nr = schedule_.nr;
    return buffers_.make(blocks.packed, {{i64(nr), i64(1)},
                                         {along_k(k.second), i64(nr)},
                                         {tiles(n.second, nr), i64(nr * packed_factors(schedule_, schedule_.kc))}});
  }

  Value* a_buffer(const ItemOperands& item, const Blocks& blocks, At m, At k) {
    Value* a = buffer_at(item.a, m, k);
    if (blocks.converted == nullptr) return a;
    const CopiedAStrides strides = copied_a_strides(form_, schedule_);
    Value* converted =
        buffers_.make(blocks.converted, {{along_k(k.second), i64(strides.k)}, {m.second, i64(strides.m)}});
    call("convert_a", {a, converted});
    return converted;
  }

  // The last K block of some rows and columns: `before` are the sums of those before it.
  void finish(const ItemOperands& item, Value* a, Value* packed, Value* before, At m, At n, At k) {
    std::vector<Value*> arguments = {a, packed, before, builder_.CreateICmpEQ(k.first, i64(0))};
    for (const MatrixValues& matrix : item.added) arguments.push_back(buffer_at(matrix, m, n));
    arguments.push_back(buffer_at(item.y, m, n));
    call("finish", arguments);
  }

  // One block of columns. B is packed once for each K block, and all rows pass by it.
  void emit_columns_with_sums_in_y(const ItemOperands& item, const Blocks& blocks, At n) {
    const auto for_rows = [&](At k, const std::function<void(Value * packed, At m)>& body) {
      Value* packed = packed_buffer(blocks, n, k);
      call("pack_b", {buffer_at(item.b, k, n), packed});
      emit_loop_over(blocks.rows, blocks.mc, [&](At m) { body(packed, m); });
    };
    if (may_need_many_blocks(form_, schedule_)) {
      emit_loop(builder_, blocks.last_k0, blocks.kc, [&](Value* k0) {
        const At k = {k0, blocks.kc};
        for_rows(k, [&](Value* packed, At m) {
          Value* y = buffer_at(item.y, m, n);
          call(has_equal_k_blocks(problem_, form_, schedule_) ? "finish" : "carry",
               {a_buffer(item, blocks, m, k), packed, y, builder_.CreateICmpEQ(k0, i64(0)), y});
        });
      });
    }
    const At last = {blocks.last_k0, builder_.CreateSub(k_, blocks.last_k0)};
    for_rows(last, [&](Value* packed, At m) {
      finish(item, a_buffer(item, blocks, m, last), packed, buffer_at(item.y, m, n), m, n, last);
    });
  }

  // One block of columns. The sums of some rows wait on the stack, so that B is packed again for each block of rows
  // unless there is one K block.
  void emit_columns(const ItemOperands& item, const Blocks& blocks, At n) {
    const Schedule& s = schedule_;
    emit_loop_over(blocks.rows, blocks.mc, [&](At m) {
      Value* sums = buffers_.make(blocks.sums, {{i64(s.nr), i64(1)},
                                                {i64(s.mr), i64(s.nr)},
                                                {tiles(n.second, s.nr), i64(int64_t{s.nr} * s.mr)},
                                                {tiles(m.second, s.mr), i64(int64_t{s.nc} * s.mr)}});
      if (may_need_many_blocks(form_, s)) {
        emit_loop(builder_, blocks.last_k0, blocks.kc, [&](Value* k0) {
          const At k = {k0, blocks.kc};
          Value* packed = packed_buffer(blocks, n, k);
          call("pack_b", {buffer_at(item.b, k, n), packed});
          call("multiply", {a_buffer(item, blocks, m, k), packed, sums, builder_.CreateICmpEQ(k0, i64(0)), sums});
        });
      }
      const At last = {blocks.last_k0, builder_.CreateSub(k_, blocks.last_k0)};
      Value* packed = packed_buffer(blocks, n, last);
      Value* has_one_block = builder_.CreateICmpEQ(blocks.last_k0, i64(0));
      emit_if_not(builder_.CreateAnd(has_one_block, builder_.CreateICmpNE(m.first, blocks.rows.first)), [&] {
        call("pack_b", {buffer_at(item.b, last, n), packed});
      });
      finish(item, a_buffer(item, blocks, m, last), packed, sums, m, n, last);
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

  // The rows of op(B) in a K block, as they are or packed.
  Value* tiled_b(const MatrixValues& b, At k) {
    if (!schedule_.packs_b) return buffer_at(b, k, {i64(0), n_});
    const PackedPanels panels = packed_panels(form_, schedule_);
    Value* base = advance(b.base, builder_.CreateMul(k.first, i64(panels.nr)), b.element_bytes);
    return buffers_.make(
        base, {{i64(panels.nr), i64(1)}, {k.second, i64(panels.nr)}, {i64(panels.count()), i64(panels.nr * panels.k)}});
  }

  void emit_tile_column(const ItemOperands& item, int height, Value* first_row, Value* tile_count, At k, Part part) {
    const At rows = {first_row, builder_.CreateMul(tile_count, i64(height))}, cols = {i64(0), n_};
    Value* y = buffer_at(item.y, rows, cols);
    std::vector<Value*> arguments = {buffer_at(item.a, rows, k), tiled_b(item.b, k)};
    if (part != Part::kAll) arguments.push_back(y);
    if (part == Part::kCarried) {
      arguments.push_back(builder_.CreateICmpEQ(k.first, i64(0)));
    } else {
      for (const MatrixValues& added : item.added) arguments.push_back(buffer_at(added, rows, cols));
    }
    arguments.push_back(tile_count);
    arguments.push_back(y);
    const bool is_carry = part == Part::kCarried && !has_equal_k_blocks(problem_, form_, schedule_);
    const std::string_view function = is_carry ? "carry" : name(schedule_.family);
    call(fmt::format("{}_{}", function, height), arguments);
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

  Value* on_stack(int64_t bytes) {
    llvm::Type* type = llvm::ArrayType::get(builder_.getInt8Ty(), static_cast<uint64_t>(bytes));
    llvm::AllocaInst* memory = buffers_.stack(type);
    memory->setAlignment(llvm::Align(64));
    return memory;
  }

  Value* tiles(Value* extent, int tile) { return count_tiles(builder_, extent, tile); }

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
  Value* const lent_;
  const PartValues part_;
};

}  // namespace

Value* advance(llvm::IRBuilder<>& builder, Value* base, Value* elements, int64_t element_bytes) {
  Value* bytes = builder.CreateMul(elements, builder.getInt64(static_cast<uint64_t>(element_bytes)));
  return builder.CreateGEP(builder.getInt8Ty(), base, bytes);
}

void emit_item(llvm::Module& module, llvm::IRBuilder<>& builder, const KernelBody& body, const ItemSizes& sizes,
               const ItemOperands& item, Value* lent, const PartValues& part) {
  ItemLoops loops(module, builder, body, sizes, lent, part);
  body.schedule.family == Family::kGeneral ? loops.emit_general_blocks(item) : loops.emit_tile_columns(item);
}

Value* most_parts(llvm::IRBuilder<>& builder, const Schedule& schedule, const ItemSizes& sizes) {
  Value* strips = count_tiles(builder, sizes.m, schedule.mr);
  if (schedule.family != Family::kGeneral) return strips;
  return builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, strips, count_tiles(builder, sizes.n, schedule.nr));
}

}  // namespace gemmc
