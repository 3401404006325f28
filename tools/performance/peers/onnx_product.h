// A product as an ONNX model with one node: Gemm where a matrix is transposed, else MatMul. Written in Protocol
// Buffers' wire format by hand, because a handful of fields is all that the peer needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "tools/performance/product.h"

namespace gemmc {

struct OnnxProduct {
  struct Tensor {
    std::vector<int64_t> shape;  // as stored
    size_t bytes = 0;
  };
  // What a model in one message can hold beside everything else.
  static constexpr size_t kMostConstantBytes = size_t{1} << 30;

  // ONNX has no node for a batch of transposed matrices.
  static bool can_express(const Product& product) {
    return product.batch == 1 || !(product.trans_a || product.trans_b);
  }

  OnnxProduct(DType dtype, const Product& product);
  // The bytes of the model: inputs A and B, output Y. Where `constant_b` is given, B is an initializer instead.
  std::string model(const void* constant_b) const;

  int type;  // ONNX's number of the element type
  Tensor a, b, y;
  bool trans_a, trans_b;
};

}  // namespace gemmc
