// The oracle: says, for one product with all its operands in memory, which results are right.
//
// Y = alpha * op(A) op(B) + beta * C with ONNX's shapes (Gemm, or MatMul with NumPy's broadcasting). Shares no code
// with the library. Rules: docs/numbers.md. Two questions:
//   * find_mismatch(): is Y within the documented bounds (floats), or exactly right (integers)?
//   * find_chain_mismatch(): is Y, bit for bit, the chain of fma in k order that order=k promises?
// NaN equals NaN whatever its payload. All strides are in elements. No state; any thread may ask.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/oracle_number.h"

namespace gemmc::oracle {

// A tensor in memory.
struct View {
  const void* base = nullptr;  // the element with index (0, ..., 0)
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // one per dimension; may be zero or negative

  static std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape);
};

// One step of the epilogue, applied to alpha A B + beta C in the type of the sums.
struct Step {
  std::string op;             // "bias", "scale", "relu", ... (docs/numbers.md)
  std::vector<float> values;  // of leaky_relu: the slope; of clip: the ends
  // What bias and scale read: of Y's shape; broadcast along dimensions of stride 0.
  std::optional<View> operand;
};

struct Product {
  bool is_gemm = true;
  Type type = Type::kFloat32;
  View a, b;
  std::optional<View> c;
  bool trans_a = false, trans_b = false;
  float alpha = 1, beta = 1;
  std::vector<Step> epilogue = {};
  // Whether factors and sums of the product below 2^-126, the smallest normal float32, may count as 0.
  bool may_flush = false;
};

// Y's shape. The shapes must be valid: the oracle judges results, not descriptions.
std::vector<int64_t> output_shape(const Product& product);

// What a floating-point element of Y may be: a finite number in [low, high], or one of the marked special values.
// More than one kind is possible where the order of summation decides whether a partial sum overflows.
struct AllowedFloat {
  bool finite = false, nan = false, positive_infinity = false, negative_infinity = false;
  long double low = 0, high = 0;

  static AllowedFloat only(long double value);
  bool contains(long double value) const;
  std::string text() const;
};

struct Mismatch {
  std::vector<int64_t> index;
  std::string found, allowed;
  std::string text() const;  // "Y[1, 2] is 3, allowed: 4"
};

// The first element of `y` that is wrong. `y` has output_shape(); its strides are its own.
std::optional<Mismatch> find_mismatch(const Product& product, const View& y);

// The first element of `y` that differs from acc = fma(a_k, b_k, acc) for k = 0, 1, ... (starting at +0), then t = acc
// or alpha * acc rounded where alpha is not 1, then t, t + c rounded where beta is 1, or fma(beta, c, t), then the
// steps of the epilogue, each rounded (those that are no single operation within their bound); 16-bit floats in float32
// with one rounding at the end; integers exact.
std::optional<Mismatch> find_chain_mismatch(const Product& product, const View& y);

}  // namespace gemmc::oracle
