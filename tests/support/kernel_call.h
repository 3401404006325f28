// The arguments of a kernel's uniform entry.
#pragma once

#include "gemmc/gemmc.h"

namespace gemmc::testing {

// A call with these operands; dims and strides, where the kernel has any, are the caller's to set.
inline gemmc_call make_call(const void* a, const void* b, const void* c, void* y) {
  gemmc_call call = {};
  call.size_bytes = sizeof call;
  call.a = a;
  call.b = b;
  call.c = c;
  call.y = y;
  return call;
}

}  // namespace gemmc::testing
