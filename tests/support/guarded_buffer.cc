#include "tests/support/guarded_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace gemmc::testing {
namespace {

constexpr size_t kPageBytes = 4096;
// Wide, so that an access some rows away is caught too.
constexpr size_t kGuardBytes = 64 * kPageBytes;
// So much around the placed bytes is filled and looked at afterwards.
constexpr size_t kWindowBytes = 512;

}  // namespace

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

void GuardedBuffer::reserve(size_t bytes) {
  if (bytes <= usable_bytes_) return;
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
  mapping_ = nullptr;
  usable_bytes_ = std::max<size_t>((bytes + kPageBytes - 1) / kPageBytes * kPageBytes, 16 * kPageBytes);
  mapping_bytes_ = usable_bytes_ + 2 * kGuardBytes;
  void* mapping = mmap(nullptr, mapping_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<uint8_t*>(mapping);
  usable_ = mapping_ + kGuardBytes;
  set_writable(true);
}

void GuardedBuffer::set_writable(bool writable) {
  if (mprotect(usable_, usable_bytes_, writable ? PROT_READ | PROT_WRITE : PROT_READ) != 0) throw std::bad_alloc();
}

uint8_t* GuardedBuffer::place(size_t bytes, Side side, uint8_t fill, size_t offset_bytes) {
  reserve(bytes + offset_bytes + kWindowBytes);
  placed_ = side == Side::kStart ? usable_ + offset_bytes : usable_ + usable_bytes_ - bytes - offset_bytes;
  placed_bytes_ = bytes;
  fill_ = fill;
  const uint8_t* const usable_end = usable_ + usable_bytes_;
  uint8_t* const first = std::max(usable_, placed_ - kWindowBytes);
  const uint8_t* const last = std::min<const uint8_t*>(usable_end, placed_ + bytes + kWindowBytes);
  std::memset(first, fill, static_cast<size_t>(last - first));
  return placed_;
}

bool GuardedBuffer::surroundings_are_intact() const {
  const auto is_fill = [&](uint8_t byte) { return byte == fill_; };
  const uint8_t* const placed_end = placed_ + placed_bytes_;
  const uint8_t* const usable_end = usable_ + usable_bytes_;
  return std::all_of(std::max<const uint8_t*>(usable_, placed_ - kWindowBytes), static_cast<const uint8_t*>(placed_),
                     is_fill) &&
         std::all_of(placed_end, std::min(usable_end, placed_end + kWindowBytes), is_fill);
}

std::optional<std::string> GuardedBuffer::locate(const void* address) const {
  const auto* byte = static_cast<const uint8_t*>(address);
  if (mapping_ == nullptr || byte < mapping_ || byte >= mapping_ + mapping_bytes_) return std::nullopt;
  if (byte < placed_) return fmt::format("{} bytes before its start", placed_ - byte);
  if (byte >= placed_ + placed_bytes_) return fmt::format("{} bytes past its end", byte - placed_ - placed_bytes_);
  return fmt::format("at its byte {}", byte - placed_);
}

}  // namespace gemmc::testing
