// The operators that take shapes apart, compute with them and rearrange dimensions. Their results' contents are
// followed, so that the target of a Reshape that was made of Shape, Gather and Concat is known as far as it can be.
#pragma once

#include "compiler/onnx_shapes.h"

namespace gemmc {

// Rules of the table in onnx_shapes.cc.
Status infer_shape_of(const Inference& inference);
Status infer_concat(const Inference& inference);
Status infer_gather(const Inference& inference);
Status infer_slice(const Inference& inference);
Status infer_squeeze(const Inference& inference);
Status infer_split(const Inference& inference);
Status infer_flatten(const Inference& inference);
Status infer_reduce(const Inference& inference);
Status infer_expand(const Inference& inference);

}  // namespace gemmc
