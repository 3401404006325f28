// What the families with register tiles in columns share: the function over one column of tiles of one height, its
// arguments and output. N, K and the strides are static.
#pragma once

#include <string>
#include <vector>

#include "compiler/halide_families.h"

namespace gemmc {

struct TileColumn {
  // The contract of the function `name` of pipelines.h, over `products` products. `b` holds op(B), as it is or packed.
  TileColumn(const Problem& problem, const LoopForm& form, int height, int64_t products, int b_dimensions);

  // The strides and bounds of all buffers but a packed B; call it last. `sums` follow B in the arguments.
  HalideFunction function(const std::string& name, const std::vector<Halide::Argument>& sums = {});

  const LoopForm& form;
  int height, n, k;
  Halide::Param<int> tiles;  // of `height` rows
  Halide::ImageParam a, b;
  std::vector<AddedOperand> added;
  Halide::Func y;
};

}  // namespace gemmc
