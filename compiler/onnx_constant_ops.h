// The operators that constants are followed through: their shapes, and the expressions of their results.
#pragma once

#include <string>
#include <string_view>

#include "compiler/onnx_shapes.h"

namespace onnx {
class SparseTensorProto;
}

namespace gemmc {

// The constant that a tensor of the model is, checked.
Expected<Constant> stored_constant(const ::onnx::TensorProto& tensor, std::string_view origin,
                                   const std::string& label);
Expected<Constant> sparse_constant(const ::onnx::SparseTensorProto& tensor, std::string_view origin,
                                   const std::string& label);
// Makes the value that constant, with its type and shape.
void set_constant(Value& value, Constant constant);

// Rules of the table in onnx_shapes.cc.
Status infer_constant(const Inference& inference);
Status infer_identity(const Inference& inference);
Status infer_cast(const Inference& inference);
Status infer_multiply(const Inference& inference);
Status infer_transpose(const Inference& inference);
Status infer_reshape(const Inference& inference);
Status infer_unsqueeze(const Inference& inference);
Status infer_dequantize(const Inference& inference);

}  // namespace gemmc
