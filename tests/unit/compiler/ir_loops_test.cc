#include "compiler/ir_loops.h"

#include <gtest/gtest.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>

namespace gemmc {
namespace {

std::unique_ptr<llvm::orc::LLJIT> make_jit() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  return llvm::cantFail(llvm::orc::LLJITBuilder().create());
}

// A function that runs a loop, with the extent and step as arguments or as constants, and writes down its indices.
class LoopFunction {
 public:
  LoopFunction(std::optional<int64_t> constant_extent, std::optional<int64_t> constant_step) : jit_(make_jit()) {
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("loops", *context);
    module->setDataLayout(jit_->getDataLayout());
    llvm::IRBuilder<> builder(*context);
    llvm::Type* i64 = builder.getInt64Ty();
    auto* function = llvm::Function::Create(llvm::FunctionType::get(i64, {i64, i64, builder.getPtrTy()}, false),
                                            llvm::Function::ExternalLinkage, "indices", *module);
    builder.SetInsertPoint(llvm::BasicBlock::Create(*context, "entry", function));
    llvm::Value* count = builder.CreateAlloca(i64);
    builder.CreateStore(builder.getInt64(0), count);
    llvm::Value* extent =
        constant_extent ? builder.getInt64(*constant_extent) : static_cast<llvm::Value*>(function->getArg(0));
    llvm::Value* step =
        constant_step ? builder.getInt64(*constant_step) : static_cast<llvm::Value*>(function->getArg(1));
    emit_loop(builder, extent, step, [&](llvm::Value* index) {
      llvm::Value* n = builder.CreateLoad(i64, count);
      builder.CreateStore(index, builder.CreateGEP(i64, function->getArg(2), n));
      builder.CreateStore(builder.CreateAdd(n, builder.getInt64(1)), count);
    });
    builder.CreateRet(builder.CreateLoad(i64, count));
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
    blocks_ = function->size();
    llvm::cantFail(jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
    run_ = llvm::cantFail(jit_->lookup("indices")).toPtr<int64_t(int64_t, int64_t, int64_t*)>();
  }

  std::vector<int64_t> indices(int64_t extent, int64_t step) const {
    std::vector<int64_t> found(100, -1);
    found.resize(static_cast<size_t>(run_(extent, step, found.data())));
    return found;
  }
  size_t blocks() const { return blocks_; }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  int64_t (*run_)(int64_t, int64_t, int64_t*) = nullptr;
  size_t blocks_ = 0;
};

std::vector<int64_t> expected(int64_t extent, int64_t step) {
  std::vector<int64_t> indices;
  for (int64_t index = 0; index < extent; index += step) indices.push_back(index);
  return indices;
}

TEST(IrLoops, RunTimeExtentAndStep) {
  const LoopFunction loop(std::nullopt, std::nullopt);
  for (int64_t extent : {0, 1, 2, 3, 4, 5, 6, 7, 64}) {
    for (int64_t step : {1, 2, 3, 5, 100}) {
      EXPECT_EQ(loop.indices(extent, step), expected(extent, step)) << extent << " by " << step;
    }
  }
  EXPECT_EQ(loop.indices(-5, 1), expected(0, 1)) << "a negative extent is none";
}

TEST(IrLoops, ConstantExtentAndStep) {
  for (int64_t extent : {0, 1, 2, 3, 6, 7}) {
    for (int64_t step : {1, 3, 7}) {
      const LoopFunction loop(extent, step);
      EXPECT_EQ(loop.indices(77, 77), expected(extent, step)) << extent << " by " << step;
      if (extent <= step) {
        EXPECT_EQ(loop.blocks(), 1u) << "no loop is needed: " << extent << " by " << step;
      }
    }
  }
}

TEST(IrLoops, ConstantExtentRunTimeStep) {
  for (int64_t extent : {0, 1, 7}) {
    const LoopFunction loop(extent, std::nullopt);
    for (int64_t step : {1, 3, 100}) {
      EXPECT_EQ(loop.indices(77, step), expected(extent, step)) << extent << " by " << step;
    }
  }
}

}  // namespace
}  // namespace gemmc
