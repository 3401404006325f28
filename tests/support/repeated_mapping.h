// Gigabytes of readable memory that cost little: one block of bytes mapped again and again, end to end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gemmc::testing {

class RepeatedMapping {
 public:
  // At least `bytes` bytes, read-only, that repeat `block`, whose size is a multiple of the page size. Throws
  // std::runtime_error where the system gives no memory. A block size that divides no power of two makes bytes whose
  // distance is a power of two differ, so that an index that lost its upper bits is seen.
  RepeatedMapping(size_t bytes, std::span<const uint8_t> block);
  ~RepeatedMapping();
  RepeatedMapping(const RepeatedMapping&) = delete;
  RepeatedMapping& operator=(const RepeatedMapping&) = delete;

  const void* data() const { return base_; }

 private:
  void* base_ = nullptr;
  size_t size_ = 0;
};

}  // namespace gemmc::testing
