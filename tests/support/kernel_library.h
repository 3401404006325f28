// A shared library of kernels built ahead of time, loaded into this process. Needs neither the compiler nor the
// runtime.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/status.h"
#include "gemmc/gemmc.h"

namespace gemmc::testing {

class KernelLibrary {
 public:
  static Expected<std::unique_ptr<KernelLibrary>> open(const std::filesystem::path& file);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  // Null if the library does not have it.
  void* address(const std::string& symbol) const;
  // The uniform entry of the kernel with this symbol; null if the library does not have it.
  gemmc_kernel_entry entry(const std::string& symbol) const;

 private:
  explicit KernelLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace gemmc::testing
