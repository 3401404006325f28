#include "compiler/bundle/archive.h"

#include <fmt/format.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>

namespace gemmc {

Expected<std::string> archive_bytes(const std::vector<Artifact>& artifacts) {
  std::vector<std::string> names;
  for (const Artifact& artifact : artifacts) names.push_back(artifact.symbol + ".o");
  std::vector<llvm::NewArchiveMember> members;
  for (size_t i = 0; i < artifacts.size(); ++i) {
    const std::vector<uint8_t>& object = artifacts[i].object;
    const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
    members.emplace_back(llvm::MemoryBufferRef(bytes, names[i]));
  }
  constexpr bool kDeterministic = true, kThin = false;
  auto archive = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, kDeterministic, kThin);
  if (!archive) {
    return Status::internal(fmt::format("the static library cannot be made: {}", llvm::toString(archive.takeError())));
  }
  return (*archive)->getBuffer().str();
}

}  // namespace gemmc
