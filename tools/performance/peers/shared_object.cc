#include "tools/performance/peers/shared_object.h"

#include <string>
#include <system_error>

namespace gemmc {

namespace fs = std::filesystem;

Expected<SharedObject> SharedObject::open(const std::vector<fs::path>& paths) {
  std::string why = "not installed";
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedObject(handle);
    why = dlerror();
  }
  return Status::environment(why);
}

fs::path site_packages(const fs::path& python_prefix) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(python_prefix / "lib", error))
    if (entry.path().filename().string().starts_with("python3")) return entry.path() / "site-packages";
  return python_prefix / "lib/python3/site-packages";
}

}  // namespace gemmc
