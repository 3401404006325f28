// Parts of a call: what threads of the caller's compute at the same time, each for itself.
//
// The kernel decides how many a call is worth (thunk.cc) and each part computes its share; which elements lie in which
// part changes no value, because no sum is cut.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>

#include "core/loop_form.h"

namespace gemmc {

// Which of how many; both null: there is one.
struct PartValues {
  llvm::Value* part = nullptr;
  llvm::Value* parts = nullptr;
};

struct Share {
  llvm::Value *begin, *count;
};
// A part's share of so many units: shares differ by one at most.
Share share_of(llvm::IRBuilder<>& builder, llvm::Value* units, const PartValues& part);

// Multiply-adds that earn back what handing a part to another thread costs, some microseconds, unless the call says.
constexpr int64_t kProductsOfPart = 1 << 20;
// Whether a call of the kernel may be worth parts for the quickest of hosts: not in static kernels of less than this.
constexpr double kFewestProducts = 1 << 16;
bool may_be_worth_parts(const LoopForm& form);

// What a kernel's body takes behind the arguments of its typed entry: scratch memory or null; part and parts.
struct ExtraArguments {
  bool has_scratch = false;
  bool has_parts = false;
  unsigned count() const { return (has_scratch ? 1u : 0u) + (has_parts ? 2u : 0u); }
  bool any() const { return count() > 0; }
};

}  // namespace gemmc
