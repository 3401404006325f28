// The functions of a kernel that callers with one type for all kernels use. See docs/kernel-abi.md.
#pragma once

#include "gemmc/gemmc.h"

namespace gemmc {

struct KernelEntries {
  gemmc_kernel_entry call = nullptr;
  gemmc_pack_entry pack_b = nullptr;  // null: B is read where it is
};

}  // namespace gemmc
