// The loops of one item of a batch in LLVM IR: over rows and blocks, around calls of the pipelines.
//
// Flow: thunk -> **loops** -> pipelines (pipelines.h). Sizes and strides are int64 elements here; a pipeline sees one
// block, whose indices fit in 32 bits.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <vector>

#include "compiler/kernel_body.h"
#include "compiler/parts.h"

namespace gemmc {

struct MatrixValues {
  llvm::Value* base;
  llvm::Value* row;
  llvm::Value* col;
  int64_t element_bytes;
};

// The address that lies so many elements behind `base`.
llvm::Value* advance(llvm::IRBuilder<>& builder, llvm::Value* base, llvm::Value* elements, int64_t element_bytes);

struct ItemOperands {
  MatrixValues a, b, y;             // b: the packed one where the schedule packs B
  std::vector<MatrixValues> added;  // C, where there is one, and the operands of the epilogue
};

struct ItemSizes {
  llvm::Value *m, *n, *k;
};

// Emits the product of one item where `builder` stands. M and N are not 0. `module` holds the body's pipelines. `lent`:
// scratch memory of scratch_bytes(schedule), or null at run time; read where the schedule wants some. Parts end between
// panels of columns or between tiles of rows; each element belongs to one part, and is the same whatever their number.
void emit_item(llvm::Module& module, llvm::IRBuilder<>& builder, const KernelBody& body, const ItemSizes& sizes,
               const ItemOperands& item, llvm::Value* lent, const PartValues& part);

// How many parts an item has at most that are not empty: for a body's own sizes.
llvm::Value* most_parts(llvm::IRBuilder<>& builder, const Schedule& schedule, const ItemSizes& sizes);

}  // namespace gemmc
