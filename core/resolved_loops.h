// A LoopForm with the numbers of one call in it, computed on the host: what a call reads and writes, for the checked
// call; and how tests read a form, and run one as a kernel that is plain loops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/loop_form.h"
#include "core/status.h"

namespace gemmc {

struct ResolvedLoops {
  struct Axis {
    int64_t extent, a, b, y;
  };
  std::vector<Axis> batch;
  int64_t m = 0, n = 0, k = 0;
  int64_t a_row = 0, a_col = 0, b_row = 0, b_col = 0, c_row = 0, c_col = 0, y_row = 0, y_col = 0;
};

// Fails with invalid argument where a dimension is negative, or batches do not broadcast, as kernels do.
// `dims` and `strides` have form.dim_count and form.stride_count elements.
Expected<ResolvedLoops> resolve(const LoopForm& form, std::span<const int64_t> dims, std::span<const int64_t> strides);

}  // namespace gemmc
