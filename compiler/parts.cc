#include "compiler/parts.h"

#include <algorithm>

namespace gemmc {

Share share_of(llvm::IRBuilder<>& builder, llvm::Value* units, const PartValues& part) {
  llvm::Value* each = builder.CreateUDiv(units, part.parts);
  llvm::Value* left = builder.CreateURem(units, part.parts);
  const auto begin_of = [&](llvm::Value* index) {
    llvm::Value* longer = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, index, left);
    return builder.CreateAdd(builder.CreateMul(each, index), longer);
  };
  llvm::Value* begin = begin_of(part.part);
  llvm::Value* end = begin_of(builder.CreateAdd(part.part, builder.getInt64(1)));
  return {begin, builder.CreateSub(end, begin)};
}

bool may_be_worth_parts(const LoopForm& form) {
  double products = 1;
  const auto multiply = [&](const SizeExpr& size) {
    if (!size.is_static()) return false;
    products *= static_cast<double>(*size.static_value());
    return true;
  };
  for (const SizeExpr* size : {&form.m, &form.n, &form.k}) {
    if (!multiply(*size)) return true;
  }
  for (const BatchAxis& axis : form.batch) {
    if (!axis.a_extent.is_static() || !axis.b_extent.is_static()) return true;
    products *= static_cast<double>(std::max(*axis.a_extent.static_value(), *axis.b_extent.static_value()));
  }
  return products >= kFewestProducts;
}

}  // namespace gemmc
