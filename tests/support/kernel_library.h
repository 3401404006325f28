// A shared library of kernels built ahead of time, loaded into this process. Needs neither the compiler nor the
// runtime.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/status.h"
#include "runtime/kernel_entries.h"

namespace gemmc::testing {

class KernelLibrary {
 public:
  static Expected<std::unique_ptr<KernelLibrary>> open(const std::filesystem::path& file);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  // Null if the library does not have it.
  void* address(const std::string& symbol) const;
  // Of the kernel with this symbol; null if the library does not have it.
  KernelEntries entries(const std::string& symbol) const;

 private:
  explicit KernelLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace gemmc::testing
