// What the families with register tiles over all of K share: the function over one column of tiles of one height, its
// arguments and output. N, K and the strides are static.
#pragma once

#include <string>
#include <vector>

#include "compiler/halide_families.h"

namespace gemmc {

struct TileColumn {
  // The contract of the function `name` of pipelines.h. `b` holds op(B), as it is or packed.
  TileColumn(const Problem& problem, const LoopForm& form, int height, int b_dimensions);

  // The strides and bounds of all buffers but a packed B; call it last.
  HalideFunction function(const std::string& name);

  const LoopForm& form;
  int height, n, k;
  Halide::Param<int> tiles;  // of `height` rows
  Halide::ImageParam a, b;
  std::vector<AddedOperand> added;
  Halide::Func y;
};

}  // namespace gemmc
