// A peer's library, opened with dlopen.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "core/status.h"

namespace gemmc {

// Stays open until the process ends: peers keep thread pools and tables that do not survive dlclose.
class SharedObject {
 public:
  // The first of `paths` that exists and can be opened. Environment: none, and why.
  static Expected<SharedObject> open(const std::vector<std::filesystem::path>& paths);

  // Null where the symbol is absent.
  template <typename Function>
  Function symbol(const char* name) const {
    return reinterpret_cast<Function>(dlsym(handle_, name));
  }

 private:
  explicit SharedObject(void* handle) : handle_(handle) {}
  void* handle_;
};

// A library that is there, but not as expected.
inline Status symbol_is_missing() { return Status::environment("a symbol is missing"); }

// <prefix>/lib/python3.x/site-packages
std::filesystem::path site_packages(const std::filesystem::path& python_prefix);

}  // namespace gemmc
