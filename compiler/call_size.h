// How much of gemmc_call a kernel reads.
#pragma once

#include <cstddef>

#include "core/loop_form.h"
#include "gemmc/gemmc.h"

namespace gemmc {

// The least gemmc_call::size_bytes that a kernel of this form takes: callers that were compiled before a field was
// added may call kernels that do not read it.
inline size_t least_call_bytes(const LoopForm& form) {
  return form.epilogue.empty() ? offsetof(gemmc_call, epilogue) : sizeof(gemmc_call);
}

}  // namespace gemmc
