// For tests where a refusal is a fault of the test or of what it builds on.
#pragma once

#include <stdexcept>
#include <utility>

#include "core/status.h"

namespace gemmc::testing {

// The value, or std::runtime_error with the refusal's message.
template <typename T>
T value_or_throw(Expected<T> expected) {
  if (!expected) throw std::runtime_error(expected.status().message());
  return std::move(*expected);
}

}  // namespace gemmc::testing
