#include "compiler/ir_buffers.h"

namespace gemmc {

using llvm::IRBuilder;
using llvm::Value;

HalideBuffers::HalideBuffers(llvm::Module& module, IRBuilder<>& builder) : builder_(builder) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* i8 = builder.getInt8Ty();
  llvm::Type* i16 = builder.getInt16Ty();
  llvm::Type* i32 = builder.getInt32Ty();
  llvm::Type* i64 = builder.getInt64Ty();
  llvm::Type* pointer = builder.getPtrTy();
  // min, extent, stride, flags
  dimension_ = llvm::StructType::create(context, {i32, i32, i32, i32}, "halide_dimension");
  // device, device interface, host, flags, type (code, bits, lanes), dimensions, dim, padding
  buffer_ = llvm::StructType::create(context, {i64, pointer, pointer, i64, i8, i8, i16, i32, pointer, pointer},
                                     "halide_buffer");
}

Value* HalideBuffers::make(Value* host, const std::vector<BufferDim>& dims) {
  Value* dim_array = stack(llvm::ArrayType::get(dimension_, dims.size()));
  for (unsigned i = 0; i < dims.size(); ++i) {
    const auto store = [&](unsigned field, Value* value) {
      Value* place = builder_.CreateConstInBoundsGEP2_32(dimension_, dim_array, i, field);
      builder_.CreateStore(builder_.CreateTrunc(value, builder_.getInt32Ty()), place);
    };
    store(0, builder_.getInt64(0));
    store(1, dims[i].extent);
    store(2, dims[i].stride);
    store(3, builder_.getInt64(0));
  }
  Value* buffer = stack(buffer_);
  builder_.CreateStore(host, builder_.CreateStructGEP(buffer_, buffer, 2));
  builder_.CreateStore(builder_.getInt32(static_cast<uint32_t>(dims.size())),
                       builder_.CreateStructGEP(buffer_, buffer, 7));
  builder_.CreateStore(dim_array, builder_.CreateStructGEP(buffer_, buffer, 8));
  return buffer;
}

llvm::AllocaInst* HalideBuffers::stack(llvm::Type* type) {
  llvm::BasicBlock& entry = builder_.GetInsertBlock()->getParent()->getEntryBlock();
  IRBuilder<> at_entry(&entry, entry.begin());
  return at_entry.CreateAlloca(type);
}

}  // namespace gemmc
