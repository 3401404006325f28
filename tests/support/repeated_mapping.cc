#include "tests/support/repeated_mapping.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace gemmc::testing {
namespace {

void require(bool is_done, const char* what) {
  if (!is_done) throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace

RepeatedMapping::RepeatedMapping(size_t bytes, std::span<const uint8_t> block) {
  const int file = memfd_create("gemmc-repeated", MFD_CLOEXEC);
  require(file >= 0, "memfd_create");
  require(write(file, block.data(), block.size()) == static_cast<ssize_t>(block.size()), "write");
  size_ = (bytes + block.size() - 1) / block.size() * block.size();
  base_ = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(base_ != MAP_FAILED, "mmap");
  for (size_t offset = 0; offset < size_; offset += block.size()) {
    void* const place = static_cast<uint8_t*>(base_) + offset;
    require(mmap(place, block.size(), PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == place, "mmap");
  }
  close(file);
}

RepeatedMapping::~RepeatedMapping() { munmap(base_, size_); }

}  // namespace gemmc::testing
