// Tensors as a model stores them: TensorProto -> values. Also what ONNX's element types are called and measure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/status.h"

namespace onnx {
class TensorProto;
}

namespace gemmc {

class ModelFiles;

inline constexpr size_t kMaxRank = 32;

// ONNX numbers its element types (TensorProto.DataType); 0 is "not known".
using ElementType = int32_t;

std::string element_type_name(ElementType type);  // "float32", "uint8", "float8e4m3fn", ...
std::optional<DType> to_dtype(ElementType type);  // nothing for types outside the eight
// Bytes of one decoded element; 0 for types whose values are not read (strings, complex numbers, 8-bit floats, ...).
size_t element_bytes(ElementType type);

// Any numeric tensor, dense row-major, little-endian; 4-bit integers take one byte each.
struct OnnxTensor {
  ElementType type = 0;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
};

// The product of the dimensions, or nothing where an element's address would not fit into int64.
std::optional<int64_t> element_count(std::span<const int64_t> dims);

// The only dimension that is not 1, counted from the last one, which is 0; nothing where there is none, or are more.
// Other numbers than sizes, such as symbols, are not 1.
std::optional<size_t> sole_axis_from_end(std::span<const int64_t> dims);

// The tensor's dimensions, after checking that they are sane and that the data kept in the message has their size.
Expected<std::vector<int64_t>> check_tensor(const ::onnx::TensorProto& tensor, const std::string& label);

// The values. Unsupported: a type whose values are not read. `label` names the tensor in messages.
Expected<OnnxTensor> decode_tensor(const ::onnx::TensorProto& tensor, const std::string& label, ModelFiles& files);

}  // namespace gemmc
