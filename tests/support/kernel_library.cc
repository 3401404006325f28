#include "tests/support/kernel_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace gemmc::testing {

Expected<std::unique_ptr<KernelLibrary>> KernelLibrary::open(const std::filesystem::path& file) {
  // A path without a slash would be searched for in the system's folders.
  void* handle = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Status::environment(fmt::format("dlopen: {}", dlerror()));
  return std::unique_ptr<KernelLibrary>(new KernelLibrary(handle));
}

KernelLibrary::~KernelLibrary() { dlclose(handle_); }

void* KernelLibrary::address(const std::string& symbol) const { return dlsym(handle_, symbol.c_str()); }

KernelEntries KernelLibrary::entries(const std::string& symbol) const {
  return {reinterpret_cast<gemmc_kernel_entry>(address(symbol + "_call")),
          reinterpret_cast<gemmc_pack_entry>(address(symbol + "_pack_b"))};
}

}  // namespace gemmc::testing
