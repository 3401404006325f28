#include "compiler/pack_entry.h"

#include <llvm/IR/IRBuilder.h>

#include "compiler/ir_loops.h"
#include "schedules/packed_panels.h"

namespace gemmc {

void add_pack_entry(llvm::Module& module, const Problem& problem, const LoopForm& form, const Schedule& schedule,
                    const std::string& symbol) {
  using llvm::Value;
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  const auto i64 = [&](int64_t value) { return builder.getInt64(static_cast<uint64_t>(value)); };
  auto* pack = llvm::Function::Create(
      llvm::FunctionType::get(builder.getInt64Ty(), {builder.getPtrTy(), builder.getPtrTy()}, false),
      llvm::Function::ExternalLinkage, symbol, module);
  pack->addParamAttr(0, llvm::Attribute::ReadOnly);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context, "done", pack);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", pack, done));
  llvm::BasicBlock* write = llvm::BasicBlock::Create(context, "write", pack, done);
  builder.CreateCondBr(builder.CreateIsNull(pack->getArg(1)), done, write);
  builder.SetInsertPoint(write);

  const PackedPanels panels = packed_panels(form, schedule);
  const auto element_bytes = static_cast<int64_t>(size_bytes(b_dtype(problem)));
  llvm::Type* element = builder.getIntNTy(static_cast<unsigned>(8 * element_bytes));
  const auto at = [&](Value* base, Value* index) {
    return builder.CreateGEP(builder.getInt8Ty(), base, builder.CreateMul(index, i64(element_bytes)));
  };
  const auto b_stride = [&](const StrideExpr& expr) { return i64(*expr.static_value()); };
  emit_loop(builder, i64(panels.count()), i64(1), [&](Value* panel) {
    emit_loop(builder, i64(panels.k), i64(1), [&](Value* k) {
      Value* row = builder.CreateAdd(builder.CreateMul(panel, i64(panels.k)), k);
      emit_loop(builder, i64(panels.nr), i64(1), [&](Value* x) {
        Value* column = builder.CreateAdd(builder.CreateMul(panel, i64(panels.nr)), x);
        Value* exists = builder.CreateICmpSLT(column, i64(panels.n));
        Value* from = builder.CreateAdd(builder.CreateMul(k, b_stride(form.b.row)),
                                        builder.CreateMul(column, b_stride(form.b.col)));
        // Past the last column, any element is read in place of the one that is not there.
        Value* place = at(pack->getArg(0), builder.CreateSelect(exists, from, i64(0)));
        Value* value = builder.CreateAlignedLoad(element, place, llvm::Align(1));
        value = builder.CreateSelect(exists, value, llvm::Constant::getNullValue(element));
        Value* to = builder.CreateAdd(builder.CreateMul(row, i64(panels.nr)), x);
        builder.CreateAlignedStore(value, at(pack->getArg(1), to), llvm::Align(1));
      });
    });
  });
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
  builder.CreateRet(i64(panels.elements() * element_bytes));
}

}  // namespace gemmc
