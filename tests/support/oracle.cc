#include "tests/support/oracle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "tests/support/oracle_epilogue.h"
#include "tests/support/oracle_loops.h"

namespace gemmc::oracle {
namespace {

// A 1-D operand of MatMul as a matrix: A becomes a row, B a column.
View as_matrices(View view, bool is_left) {
  if (view.shape.size() != 1) return view;
  const int64_t extent = view.shape[0], stride = view.strides[0];
  view.shape = is_left ? std::vector<int64_t>{1, extent} : std::vector<int64_t>{extent, 1};
  view.strides = is_left ? std::vector<int64_t>{0, stride} : std::vector<int64_t>{stride, 0};
  return view;
}

MatrixView last_two(const View& view, size_t element_bytes, const std::vector<int64_t>& batch_index) {
  const size_t batch_rank = view.shape.size() - 2;
  MatrixView matrix;
  matrix.base = static_cast<const uint8_t*>(view.base);
  matrix.rows = view.shape[batch_rank];
  matrix.cols = view.shape[batch_rank + 1];
  matrix.row_stride = view.strides[batch_rank];
  matrix.col_stride = view.strides[batch_rank + 1];
  // Batch dimensions align at the right; a dimension of one repeats.
  for (size_t i = 0; i < batch_rank; ++i) {
    const int64_t index = batch_index[batch_index.size() - batch_rank + i];
    if (view.shape[i] == 1) continue;
    matrix.base += index * view.strides[i] * static_cast<int64_t>(element_bytes);
  }
  return matrix;
}

MatrixView transposed(MatrixView matrix) {
  std::swap(matrix.rows, matrix.cols);
  std::swap(matrix.row_stride, matrix.col_stride);
  return matrix;
}

MatrixView broadcast_c(const View& c, int64_t m, int64_t n) {
  MatrixView matrix;
  matrix.base = static_cast<const uint8_t*>(c.base);
  matrix.rows = m;
  matrix.cols = n;
  const size_t rank = c.shape.size();
  assert(rank <= 2);
  if (rank >= 1 && c.shape[rank - 1] != 1) matrix.col_stride = c.strides[rank - 1];
  if (rank == 2 && c.shape[0] != 1) matrix.row_stride = c.strides[0];
  return matrix;
}

std::vector<int64_t> broadcast_batch(const View& a, const View& b) {
  const size_t rank_a = a.shape.size() - 2, rank_b = b.shape.size() - 2;
  std::vector<int64_t> batch(std::max(rank_a, rank_b), 1);
  for (size_t i = 0; i < batch.size(); ++i) {
    const size_t from_right = batch.size() - i;
    const int64_t extent_a = from_right <= rank_a ? a.shape[rank_a - from_right] : 1;
    const int64_t extent_b = from_right <= rank_b ? b.shape[rank_b - from_right] : 1;
    assert(extent_a == extent_b || extent_a == 1 || extent_b == 1);
    batch[i] = extent_a == 1 ? extent_b : extent_a;
  }
  return batch;
}

// Calls `visit` with every index of a box, last dimension fastest.
template <typename Visit>
void for_each_index(const std::vector<int64_t>& extents, const Visit& visit) {
  for (const int64_t extent : extents) {
    if (extent == 0) return;
  }
  std::vector<int64_t> index(extents.size(), 0);
  while (true) {
    visit(index);
    size_t i = extents.size();
    while (i > 0 && ++index[i - 1] == extents[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

// `factor`, an integral number, modulo 2^64.
uint64_t modular(float factor) {
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(factor), &exponent);
  const auto significand = static_cast<uint64_t>(std::ldexp(fraction, 24));
  const int shift = exponent - 24;
  uint64_t magnitude = 0;
  if (shift < 0) magnitude = shift <= -64 ? 0 : significand >> -shift;
  if (shift >= 0 && shift < 64) magnitude = significand << shift;
  return factor < 0 ? uint64_t{0} - magnitude : magnitude;
}

double to_double(Type type, uint64_t value) {
  if (type == Type::kUInt32 || type == Type::kUInt64) return static_cast<double>(value);
  return static_cast<double>(static_cast<int64_t>(value));
}

// Toward zero, to the nearest value of the type where it does not fit.
uint64_t truncate_saturating(Type type, double value) {
  const bool is_signed = type == Type::kInt32 || type == Type::kInt64;
  const int value_bits = static_cast<int>(element_bytes(type)) * 8 - (is_signed ? 1 : 0);
  const double limit = std::ldexp(1.0, value_bits);
  const uint64_t highest = value_bits == 64 ? std::numeric_limits<uint64_t>::max() : (uint64_t{1} << value_bits) - 1;
  if (value >= limit) return highest;
  if (!is_signed) return value <= 0 ? 0 : static_cast<uint64_t>(value);
  if (value <= -limit) return ~highest;
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

uint64_t integer_result(const Product& product, uint64_t dot, const void* c_element) {
  const Type type = product.type;
  const bool alpha_is_fractional = product.alpha != std::trunc(product.alpha);
  const bool beta_is_fractional = c_element != nullptr && product.beta != std::trunc(product.beta);
  const uint64_t c = c_element != nullptr ? decode_integer(type, c_element) : 0;
  if (!alpha_is_fractional && !beta_is_fractional) {
    return modular(product.alpha) * dot + (c_element != nullptr ? modular(product.beta) * c : 0);
  }
  // The product is a number of the type first: wrapped, then converted with one rounding.
  uint64_t wrapped = 0;
  encode_integer(type, dot, &wrapped);
  const double scaled = static_cast<double>(product.alpha) * to_double(type, decode_integer(type, &wrapped));
  if (c_element == nullptr) return truncate_saturating(type, scaled);
  const double scaled_c = static_cast<double>(product.beta) * to_double(type, c);
  return truncate_saturating(type, scaled + scaled_c);
}

std::optional<Mismatch> find_integer_mismatch(const Product& product, const BatchItem& item) {
  const Type type = product.type;
  const size_t bytes = element_bytes(type);
  const int64_t depth = item.a.cols;
  std::vector<uint64_t> row(static_cast<size_t>(depth));
  std::vector<uint64_t> columns(static_cast<size_t>(depth * item.b.cols));
  for (int64_t n = 0; n < item.b.cols; ++n) {
    for (int64_t k = 0; k < depth; ++k) columns[n * depth + k] = decode_integer(type, item.b.at(k, n, bytes));
  }
  for (int64_t m = 0; m < item.y.rows; ++m) {
    for (int64_t k = 0; k < depth; ++k) row[k] = decode_integer(type, item.a.at(m, k, bytes));
    for (int64_t n = 0; n < item.y.cols; ++n) {
      uint64_t dot = 0;
      for (int64_t k = 0; k < depth; ++k) dot += row[k] * columns[n * depth + k];
      const void* c_element = item.c.base != nullptr ? item.c.at(m, n, bytes) : nullptr;
      uint64_t result = integer_result(product, dot, c_element);
      for (size_t i = 0; i < product.epilogue.size(); ++i) {
        const MatrixView& operand = item.epilogue[i];
        const uint64_t read = operand.base != nullptr ? decode_integer(type, operand.at(m, n, bytes)) : 0;
        result = integer_after_step(product.epilogue[i], type, result, read);
      }
      uint64_t allowed = 0;
      encode_integer(type, result, &allowed);
      const void* found = item.y.at(m, n, bytes);
      if (decode_integer(type, found) == decode_integer(type, &allowed)) continue;
      return Mismatch{output_index(product, item, m, n), element_text(type, found), element_text(type, &allowed)};
    }
  }
  return std::nullopt;
}

template <typename FindInItem>
std::optional<Mismatch> find_in_batch(const Product& product, const View& y, const FindInItem& find) {
  for (const BatchItem& item : batch_items(product, y)) {
    if (std::optional<Mismatch> mismatch = find(product, item)) return mismatch;
  }
  return std::nullopt;
}

}  // namespace

std::vector<int64_t> View::dense_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i > 0; --i) {
    strides[i - 1] = stride;
    // Shapes with a zero may have other dimensions that multiply past 64 bits; no element is ever reached there.
    if (__builtin_mul_overflow(stride, shape[i - 1], &stride)) stride = 0;
  }
  return strides;
}

std::vector<int64_t> output_shape(const Product& product) {
  if (product.is_gemm) {
    return {product.a.shape[product.trans_a ? 1 : 0], product.b.shape[product.trans_b ? 0 : 1]};
  }
  const View a = as_matrices(product.a, true), b = as_matrices(product.b, false);
  std::vector<int64_t> shape = broadcast_batch(a, b);
  if (product.a.shape.size() > 1) shape.push_back(a.shape[a.shape.size() - 2]);
  if (product.b.shape.size() > 1) shape.push_back(b.shape.back());
  return shape;
}

namespace {

// Y, or what has its shape, with the dimensions that 1-D operands have not.
View result_as_matrices(const Product& product, View y) {
  if (product.is_gemm) return y;
  if (product.b.shape.size() == 1) {
    y.shape.push_back(1);
    y.strides.push_back(0);
  }
  if (product.a.shape.size() == 1) {
    y.shape.insert(y.shape.end() - 1, 1);
    y.strides.insert(y.strides.end() - 1, 0);
  }
  return y;
}

std::vector<MatrixView> epilogue_of_item(const Product& product, const std::vector<int64_t>& batch_index) {
  std::vector<MatrixView> operands;
  for (const Step& step : product.epilogue) {
    operands.push_back(
        step.operand ? last_two(result_as_matrices(product, *step.operand), element_bytes(product.type), batch_index)
                     : MatrixView{});
  }
  return operands;
}

}  // namespace

std::vector<BatchItem> batch_items(const Product& product, const View& y) {
  const size_t bytes = element_bytes(product.type);
  std::vector<BatchItem> items;
  if (product.is_gemm) {
    BatchItem item;
    item.a = last_two(product.a, bytes, {});
    if (product.trans_a) item.a = transposed(item.a);
    item.b = last_two(product.b, bytes, {});
    if (product.trans_b) item.b = transposed(item.b);
    item.y = last_two(y, bytes, {});
    // beta = 0 means that C is not read.
    if (product.c && product.beta != 0) item.c = broadcast_c(*product.c, item.y.rows, item.y.cols);
    item.epilogue = epilogue_of_item(product, {});
    if (item.y.rows > 0 && item.y.cols > 0) items.push_back(item);
    return items;
  }
  const View a = as_matrices(product.a, true), b = as_matrices(product.b, false);
  const View y_matrices = result_as_matrices(product, y);
  const int64_t rows = a.shape[a.shape.size() - 2], cols = b.shape.back();
  if (rows == 0 || cols == 0) return items;
  for_each_index(broadcast_batch(a, b), [&](const std::vector<int64_t>& index) {
    BatchItem item;
    item.a = last_two(a, bytes, index);
    item.b = last_two(b, bytes, index);
    item.y = last_two(y_matrices, bytes, index);
    item.epilogue = epilogue_of_item(product, index);
    item.batch_index = index;
    items.push_back(item);
  });
  return items;
}

std::vector<int64_t> output_index(const Product& product, const BatchItem& item, int64_t m, int64_t n) {
  std::vector<int64_t> index = item.batch_index;
  if (product.is_gemm || product.a.shape.size() > 1) index.push_back(m);
  if (product.is_gemm || product.b.shape.size() > 1) index.push_back(n);
  return index;
}

std::string Mismatch::text() const {
  return fmt::format("Y[{}] is {}, allowed: {}", fmt::join(index, ", "), found, allowed);
}

std::optional<Mismatch> find_mismatch(const Product& product, const View& y) {
  return find_in_batch(product, y, is_float(product.type) ? find_float_mismatch : find_integer_mismatch);
}

std::optional<Mismatch> find_chain_mismatch(const Product& product, const View& y) {
  return find_in_batch(product, y, is_float(product.type) ? find_float_chain_mismatch : find_integer_mismatch);
}

}  // namespace gemmc::oracle
