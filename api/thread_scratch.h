// Scratch memory of the calling thread, for kernels that want some where the caller lends none.
#pragma once

#include <cstdint>

#include "gemmc/gemmc.h"

namespace gemmc {

// Sets the call's scratch and scratch_bytes to memory of at least `bytes_of_part` for each part that the call may be
// cut into, valid until the thread ends or asks for more; to none where there is no memory, and where none is wanted.
// The thread keeps it: a later request of no more bytes allocates nothing.
void lend_thread_scratch(int64_t bytes_of_part, gemmc_call& call);

}  // namespace gemmc
