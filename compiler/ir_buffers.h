// Halide's buffer structs in LLVM IR, for calls of the pipelines. After inlining nothing of them is left.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace gemmc {

// One dimension of a Halide buffer.
struct BufferDim {
  llvm::Value* extent;
  llvm::Value* stride;
};

// Builds halide_buffer_t and halide_dimension_t (HalideRuntime.h) on the stack.
class HalideBuffers {
 public:
  HalideBuffers(llvm::Module& module, llvm::IRBuilder<>& builder);

  llvm::Value* make(llvm::Value* host, const std::vector<BufferDim>& dims);

  // An allocation in the entry block, so that a loop does not grow the stack.
  llvm::AllocaInst* stack(llvm::Type* type);

 private:
  llvm::IRBuilder<>& builder_;
  llvm::StructType* dimension_;
  llvm::StructType* buffer_;
};

}  // namespace gemmc
