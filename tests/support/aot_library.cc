#include "tests/support/aot_library.h"

#include <fmt/format.h>

#include "compiler/bundle.h"
#include "core/problem_string.h"

namespace gemmc::testing {

Expected<std::filesystem::path> build_aot_library(std::vector<Artifact> artifacts,
                                                  const std::filesystem::path& folder) {
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
  Expected<BundleFiles> files = write_bundle(bundle, folder);
  if (!files) return files.status();
  std::filesystem::path library = folder / "libconformance.so";
  if (!std::filesystem::exists(library)) {
    return Status::environment(fmt::format("the bundle has no shared library: {}", fmt::join(files->notes, "; ")));
  }
  return library;
}

}  // namespace gemmc::testing
