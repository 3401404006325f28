// The products that benchmarks time: sizes known, dense, row-major, with at most one dimension of batches.
#pragma once

#include <cstdint>
#include <string>

namespace gemmc {

// Y = op(A) op(B), `batch` times, where op transposes a stored matrix. The items of an operand follow each other
// without gaps. Sizes are in elements.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool trans_a = false;
  bool trans_b = false;
  int64_t batch = 1;
  // One matrix for all items.
  bool shares_a = false;
  bool shares_b = false;

  bool operator==(const Product&) const = default;
  int64_t lda() const { return trans_a ? m : k; }
  int64_t ldb() const { return trans_b ? k : n; }
  // From one item to the next.
  int64_t a_step() const { return shares_a ? 0 : m * k; }
  int64_t b_step() const { return shares_b ? 0 : k * n; }
  int64_t y_step() const { return m * n; }
  int64_t a_count() const { return (shares_a ? 1 : batch) * m * k; }
  int64_t b_count() const { return (shares_b ? 1 : batch) * k * n; }
  int64_t y_count() const { return batch * m * n; }

  // A multiply and an add count as two.
  double operations() const {
    return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  // "64x10x128", "1x1000x512 tb", "12 of 128x64x128 shared b"
  std::string to_string() const {
    return (batch == 1 ? "" : std::to_string(batch) + " of ") + std::to_string(m) + "x" + std::to_string(n) + "x" +
           std::to_string(k) + (trans_a ? " ta" : "") + (trans_b ? " tb" : "") + (shares_a ? " shared a" : "") +
           (shares_b ? " shared b" : "");
  }
};

}  // namespace gemmc
