// The functions of a kernel that callers with one type for all kernels use. See docs/kernel-abi.md.
#pragma once

#include <cstdint>

#include "gemmc/gemmc.h"

namespace gemmc {

struct KernelEntries {
  gemmc_kernel_entry call = nullptr;
  gemmc_pack_entry pack_b = nullptr;  // null: B is read where it is
  int64_t scratch_bytes = 0;          // scratch memory that a call may lend; 0: it is not used
};

}  // namespace gemmc
