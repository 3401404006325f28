// Small questions about the shapes of a problem, shared by validation, canonicalisation and printing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/problem.h"

namespace gemmc {

// left * right for sizes, or 2^63-1 where that is larger. Products that pass 2^63 belong to operands without elements
// (validate() refuses others): no address is made of them.
int64_t saturating_product(int64_t left, int64_t right);

// "64" or "?seq", for messages.
std::string dim_text(const Dim& dim);

// "(?batch, 12, 64)", for messages.
std::string shape_text(const Shape& shape);
std::string shape_text(std::span<const int64_t> shape);

// The same static size or the same run-time name; hints do not count.
bool same_size(const Dim& left, const Dim& right);

struct GemmDims {
  Dim m, n, k, k_of_b;
};
// M, N and both operands' K of a Gemm whose operands have rank 2.
GemmDims gemm_dims(const Problem& problem);

// The shape of Y. Requires operands of known rank that fit each other. Where two batch dimensions of different names
// meet, the result is a run-time dimension that prints as "max(a,b)": its size is decided at the call.
Shape output_shape(const Problem& problem);

// The stride of a dimension, where it is static, or dense and decided by static extents. `strides` may be empty: all
// dense.
std::optional<int64_t> known_stride(const Shape& shape, const Strides& strides, size_t dimension);

// Refuses strides under which two elements of Y could share a place. Looks at the dimensions whose extent and stride
// are known, by the sufficient rule that each stride reaches beyond everything the smaller strides span.
Status check_y_elements_apart(const Shape& y, const Strides& strides);

}  // namespace gemmc
