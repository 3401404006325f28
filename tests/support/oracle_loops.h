// How the oracle walks a product: NumPy's and Gemm's shape rules turned into plain matrices. Used by oracle.cc and
// oracle_float.cc only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/support/oracle.h"

namespace gemmc::oracle {

// A matrix in memory; rows and columns after any transposition. A broadcast direction has stride 0.
struct MatrixView {
  const uint8_t* base = nullptr;
  int64_t rows = 0, cols = 0;
  int64_t row_stride = 0, col_stride = 0;  // in elements

  const void* at(int64_t row, int64_t col, size_t element_bytes) const {
    return base + (row * row_stride + col * col_stride) * static_cast<int64_t>(element_bytes);
  }
};

// One matrix product of the batch.
struct BatchItem {
  MatrixView a, b, c, y;             // c.base is null where there is no C or beta is 0
  std::vector<MatrixView> epilogue;  // one for each step; base is null where it reads nothing
  std::vector<int64_t> batch_index;  // in Y's batch dimensions
};

std::vector<BatchItem> batch_items(const Product& product, const View& y);

// The index in Y of row m, column n of an item, in Y's own rank (MatMul drops the dimension of a 1-D operand).
std::vector<int64_t> output_index(const Product& product, const BatchItem& item, int64_t m, int64_t n);

// See find_mismatch() and find_chain_mismatch(); these take one item of a floating-point product.
std::optional<Mismatch> find_float_mismatch(const Product& product, const BatchItem& item);
std::optional<Mismatch> find_float_chain_mismatch(const Product& product, const BatchItem& item);

}  // namespace gemmc::oracle
