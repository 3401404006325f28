// Whoever computes one product in a race: gemmc's kernel or a peer library's call.
#pragma once

#include <cstdint>

namespace gemmc {

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
