#include "compiler/bundle.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "compiler/bundle/archive.h"
#include "compiler/bundle/c_names.h"
#include "compiler/bundle/header_text.h"
#include "compiler/bundle/manifest_text.h"
#include "compiler/bundle/shared_library.h"
#include "compiler/bundle/staged_files.h"
#include "compiler/bundle/weights_image.h"
#include "compiler/bundle/weights_object.h"
#include "compiler/held_signals.h"

namespace gemmc {
namespace {

Status check(const Bundle& bundle) {
  if (bundle.name != bundle_name(bundle.name)) {
    return Status::invalid(
        fmt::format("library name '{}'; allowed: a C identifier that starts with a letter and is no file of the system",
                    bundle.name));
  }
  if (bundle.artifacts.empty()) return Status::invalid("there is no kernel to write");
  std::set<std::string> symbols;
  for (const Weights& weights : bundle.weights) symbols.insert(weights.symbol);
  for (const Artifact& artifact : bundle.artifacts) {
    if (!symbols.insert(artifact.symbol).second) {
      return Status::internal(fmt::format("two kernels have the symbol {}", artifact.symbol));
    }
  }
  return Status::ok();
}

std::string_view as_text(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string weights_file_name(const Bundle& bundle) {
  return bundle.name + (bundle.has_weights_in_file ? "_weights.bin" : "_weights.o");
}

Expected<BundleFiles> write_bundle(const Bundle& bundle, const std::filesystem::path& directory) {
  GEMMC_RETURN_IF_ERROR(check(bundle));
  const std::string static_library = "lib" + bundle.name + ".a";
  const std::string shared_library = "lib" + bundle.name + ".so";
  std::vector<ObjectFile> objects;
  for (const Artifact& artifact : bundle.artifacts) objects.push_back({artifact.symbol + ".o", artifact.object});
  if (!bundle.weights.empty() && !bundle.has_weights_in_file) {
    Expected<std::vector<uint8_t>> weights = weights_object(bundle.weights);
    if (!weights) return weights.status();
    objects.push_back({weights_file_name(bundle), *std::move(weights)});
  }
  const Expected<std::string> archive = archive_bytes(objects);
  if (!archive) return archive.status();

  const HeldSignals held;  // until `files` has put its files in place or removed them
  Expected<StagedFiles> files = StagedFiles::create(directory);
  if (!files) return files.status();
  for (const ObjectFile& object : objects) GEMMC_RETURN_IF_ERROR(files->write(object.name, as_text(object.bytes)));
  GEMMC_RETURN_IF_ERROR(files->write(static_library, *archive));
  if (!bundle.weights.empty() && bundle.has_weights_in_file) {
    GEMMC_RETURN_IF_ERROR(files->write(weights_file_name(bundle), as_text(weights_image(bundle.weights))));
  }
  BundleFiles result;
  const std::optional<std::filesystem::path> cc = find_program("cc");
  if (cc) {
    GEMMC_RETURN_IF_ERROR(link_shared_library(*cc, files->staging_path(static_library), shared_library,
                                              files->staging_path(shared_library)));
    files->add(shared_library);
  } else {
    result.notes.push_back(fmt::format("no 'cc' on PATH: {} is not written", shared_library));
  }
  GEMMC_RETURN_IF_ERROR(files->write(bundle.name + ".h", header_text(bundle)));
  GEMMC_RETURN_IF_ERROR(files->write("manifest.json", manifest_text(bundle, cc.has_value())));

  Expected<std::vector<std::filesystem::path>> written = files->commit();
  if (!written) return written.status();
  result.written = *std::move(written);
  if (!cc) {
    // One from an earlier build would not belong to the other files.
    std::error_code ignored;
    std::filesystem::remove(directory / shared_library, ignored);
  }
  return result;
}

}  // namespace gemmc
