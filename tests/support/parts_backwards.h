// A host's parallel-for for tests: the parts one after the other in the calling thread, the last one first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gemmc/gemmc.h"

namespace gemmc::testing {

class PartsBackwards {
 public:
  // Splits whatever can be split.
  explicit PartsBackwards(int32_t threads)
      : hook_{sizeof(gemmc_parallel), threads, /*products_of_part=*/1, &PartsBackwards::run, this} {}
  PartsBackwards(const PartsBackwards&) = delete;
  PartsBackwards& operator=(const PartsBackwards&) = delete;

  const gemmc_parallel* hook() const { return &hook_; }
  // Of the calls so far; 0: none was split.
  int32_t most_parts() const { return most_parts_; }

 private:
  static void run(void* context, int32_t parts, void (*body)(void*, int32_t), void* body_context) {
    auto& self = *static_cast<PartsBackwards*>(context);
    self.most_parts_ = std::max(self.most_parts_, parts);
    for (int32_t part = parts; part-- > 0;) body(body_context, part);
  }

  gemmc_parallel hook_;
  int32_t most_parts_ = 0;
};

}  // namespace gemmc::testing
