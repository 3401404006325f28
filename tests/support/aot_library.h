// Many kernels built ahead of time as users build them: one bundle, one shared library, loaded into this process.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/status.h"
#include "gemmc/gemmc.h"

namespace gemmc::testing {

class AotLibrary {
 public:
  // Writes the bundle into a temporary folder, which is removed at once. Needs `cc`.
  static Expected<std::unique_ptr<AotLibrary>> build(std::vector<Artifact> artifacts);
  ~AotLibrary();
  AotLibrary(const AotLibrary&) = delete;
  AotLibrary& operator=(const AotLibrary&) = delete;

  // The uniform entry of the kernel with this symbol; null if the library does not have it.
  gemmc_kernel_entry entry(const std::string& symbol) const;

 private:
  explicit AotLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace gemmc::testing
