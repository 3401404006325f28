// What a model says of a tensor's type and shape -> what is known of it.
#pragma once

#include "compiler/onnx_value.h"
#include "core/status.h"

namespace onnx {
class TypeProto;
}

namespace gemmc {

// Whose the names of dimensions are. Equal names in two calls of a function need not be equal sizes, so a function's
// say nothing.
enum class DimNames { kModel, kFunction };

// Adds what the model says of the tensor. A size that was inferred is nearer to the truth than a written one, which
// tools leave stale; a written name is better than an unknown size.
Status declare(Value& value, const ::onnx::TypeProto& type, DimNames names, ValueTable& table);

}  // namespace gemmc
