// Weights that a model stores in a narrower type than it computes with, so that a kernel can read them as they are.
//
// Flow: Constant -> **NarrowWeights** -> ModelNode -> `gemmc build --narrow`. A Cast of bfloat16, float16 or int8
// values is exact. A scale of int8 values, for the whole tensor or for each column, moves behind the product of a type
// of 32 bits or more: A (Q s) = (A Q) s. As exporters write it: Mul(Cast(Q), s), DequantizeLinear(Q, s) without a zero
// point.
#pragma once

#include <cstddef>
#include <optional>

#include "compiler/onnx_constant.h"
#include "core/dtype.h"
#include "core/epilogue.h"
#include "core/status.h"

namespace gemmc {

struct NarrowWeights {
  Constant stored;  // of the weights' shape
  DType storage = DType::kInt8;
  Constant scale;                               // null: none
  std::optional<EpilogueStep> scale_step = {};  // the scale as the first step of the epilogue
};

// Of a matrix whose columns are counted by `column_axis`. Nothing where the weights are stored as they are computed, or
// in another way. Fails only where a zero point cannot be read.
Expected<std::optional<NarrowWeights>> find_narrow_weights(const Constant& weights, size_t column_axis,
                                                           ModelFiles& files);

}  // namespace gemmc
