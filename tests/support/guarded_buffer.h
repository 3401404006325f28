// Memory between unreadable pages, so that one byte read or written outside an operand is a fault at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gemmc::testing {

class GuardedBuffer {
 public:
  enum class Side { kStart, kEnd };  // the end of the bytes that touches an unreadable page

  GuardedBuffer() = default;
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  // `bytes` writable bytes whose start or end lies `offset_bytes` from an unreadable page. They and the bytes around
  // them are set to `fill`. Valid until the next place(). Throws std::bad_alloc if the system refuses.
  uint8_t* place(size_t bytes, Side side, uint8_t fill, size_t offset_bytes = 0);

  void set_writable(bool writable);

  // Whether the bytes around the placed ones, as far as they can be written, still are `fill`.
  bool surroundings_are_intact() const;

  // Where an address lies, if in this buffer or its unreadable pages: "8 bytes past its end".
  std::optional<std::string> locate(const void* address) const;

 private:
  void reserve(size_t bytes);

  uint8_t* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  uint8_t* usable_ = nullptr;
  size_t usable_bytes_ = 0;
  uint8_t* placed_ = nullptr;
  size_t placed_bytes_ = 0;
  uint8_t fill_ = 0;
};

}  // namespace gemmc::testing
