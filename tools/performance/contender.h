// Whoever computes one product in a race: gemmc's kernel or a peer library's call.
#pragma once

#include <cstdint>
#include <string>

namespace gemmc {

// Y = op(A) op(B), row-major, dense; op transposes a stored matrix.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool trans_a = false;
  bool trans_b = false;

  double operations() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
  int64_t lda() const { return trans_a ? m : k; }
  int64_t ldb() const { return trans_b ? k : n; }
  // "64x10x128", "1x1000x512 tb"
  std::string to_string() const {
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + (trans_a ? " ta" : "") +
           (trans_b ? " tb" : "");
  }
};

// The race's matrices; owned by the caller, alive as long as the contenders.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* y = nullptr;
};

// One product, prepared. The loop is inside run(), so that a virtual call does not weigh on products of 10 ns.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual void run(int64_t calls) = 0;
};

}  // namespace gemmc
