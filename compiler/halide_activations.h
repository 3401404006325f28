// The functions of epilogue steps as Halide expressions, for float32 and float64 accumulators. What each is and how
// exact: docs/numbers.md.
#pragma once

#include <Halide.h>

#include <string_view>
#include <vector>

namespace gemmc {

// `op` of `x`, a step that reads no operand (core/epilogue.h); `values` are the op's constants.
Halide::Expr activation(std::string_view op, const std::vector<float>& values, const Halide::Expr& x);

}  // namespace gemmc
