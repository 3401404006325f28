// The in-memory kernel cache: one compilation per key, however many threads ask.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/status.h"
#include "runtime/kernel.h"

namespace gemmc {

class MemoryCache {
 public:
  using Make = std::function<Expected<std::shared_ptr<const Kernel>>()>;
  MemoryCache();
  ~MemoryCache();

  // The kernel under `key_text`. The first asker runs `make` without holding the lock; others with the same key wait
  // for its result; other keys are not held up. A failure, or what `make` throws, is given to everyone who waited and
  // is then forgotten.
  Expected<std::shared_ptr<const Kernel>> get_or_make(const std::string& key_text, const Make& make);

  // How many times `make` was run, for tests and statistics.
  size_t made_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gemmc
