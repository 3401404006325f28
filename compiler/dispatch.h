// The typed entry of a kernel that has variants: it compares dimensions and the number of rows and jumps to a body.
//
// Flow: bodies of the thunk -> **dispatch** -> typed entry. A function of its own and not the head of the general body,
// because that one's frame would then be made in every call, and lie below a variant's.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "core/body_condition.h"
#include "core/loop_form.h"

namespace gemmc {

struct DispatchedBody {
  llvm::Function* function;  // its arguments are the general body's without the bound dimensions
  BodyCondition when;        // names as in the canonical problem
  SizeExpr m;                // of the general body's dims
};

// Adds `symbol`, which has the arguments of the general body; those from `first_dim` on are the call's dims. `general`
// has another name already. The bodies become local to the module.
llvm::Function* add_dispatch(llvm::Module& module, const std::string& symbol, llvm::Function& general,
                             unsigned first_dim, const std::vector<DispatchedBody>& variants);

}  // namespace gemmc
