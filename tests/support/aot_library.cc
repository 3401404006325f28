#include "tests/support/aot_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "compiler/bundle.h"
#include "core/problem_string.h"
#include "tests/support/temporary_folder.h"

namespace gemmc::testing {

Expected<std::unique_ptr<AotLibrary>> AotLibrary::build(std::vector<Artifact> artifacts) {
  const TemporaryFolder folder;
  Bundle bundle;
  bundle.name = "conformance";
  bundle.artifacts = std::move(artifacts);
  for (size_t i = 0; i < bundle.artifacts.size(); ++i) {
    BundleNode node;
    node.name = fmt::format("node{}", i);
    node.output = "Y";
    node.problem = print_problem(bundle.artifacts[i].problem);
    node.artifact = i;
    bundle.nodes.push_back(std::move(node));
  }
  Expected<BundleFiles> files = write_bundle(bundle, folder.path());
  if (!files) return files.status();
  const std::filesystem::path library = folder.path() / "libconformance.so";
  if (!std::filesystem::exists(library)) {
    return Status::environment(fmt::format("the bundle has no shared library: {}", fmt::join(files->notes, "; ")));
  }
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Status::internal(fmt::format("dlopen: {}", dlerror()));
  return std::unique_ptr<AotLibrary>(new AotLibrary(handle));
}

AotLibrary::~AotLibrary() { dlclose(handle_); }

gemmc_kernel_entry AotLibrary::entry(const std::string& symbol) const {
  return reinterpret_cast<gemmc_kernel_entry>(dlsym(handle_, (symbol + "_call").c_str()));
}

}  // namespace gemmc::testing
