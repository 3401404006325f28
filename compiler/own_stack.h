// A stack for the compilers, whatever the caller's is.
#pragma once

#include <functional>

#include "core/status.h"

namespace gemmc {

// Runs `body` on a thread of its own, whose stack is large enough for Halide and LLVM, and waits for it: hosts compile
// on threads with small stacks, and `ulimit -s` may make every stack small. The thread has the default floating-point
// state. What `body` throws is thrown here.
// Environment: the thread cannot be made; then `body` did not run.
Status run_on_own_stack(const std::function<void()>& body);

}  // namespace gemmc
