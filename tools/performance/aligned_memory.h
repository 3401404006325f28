// Memory for operands, aligned to a cache line as users are told to align theirs.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "core/status.h"

namespace gemmc {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<void, FreeMemory>;

inline Expected<AlignedMemory> allocate_aligned(size_t bytes) {
  constexpr size_t kLine = 64;
  void* memory = std::aligned_alloc(kLine, (bytes / kLine + 1) * kLine);
  if (memory == nullptr) return Status::environment(fmt::format("no memory for an operand of {} bytes", bytes));
  return AlignedMemory(memory);
}

}  // namespace gemmc
