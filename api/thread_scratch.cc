#include "api/thread_scratch.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace gemmc {
namespace {

struct Scratch {
  std::unique_ptr<std::byte[]> memory;
  int64_t bytes = 0;
};
thread_local Scratch scratch;

}  // namespace

void lend_thread_scratch(int64_t bytes_of_part, gemmc_call& call) {
  if (bytes_of_part == 0) return;
  const int64_t bytes = bytes_of_part * (call.parallel == nullptr ? 1 : std::max(call.parallel->threads, 1));
  if (scratch.bytes < bytes) {
    scratch.memory.reset(new (std::nothrow) std::byte[static_cast<size_t>(bytes)]);
    scratch.bytes = scratch.memory == nullptr ? 0 : bytes;
  }
  call.scratch = scratch.memory.get();
  call.scratch_bytes = static_cast<uint64_t>(scratch.bytes);
}

}  // namespace gemmc
