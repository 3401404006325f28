#include "compiler/bundle/archive.h"

#include <fmt/format.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>

namespace gemmc {

Expected<std::string> archive_bytes(const std::vector<ObjectFile>& objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (const ObjectFile& object : objects) {
    const llvm::StringRef bytes(reinterpret_cast<const char*>(object.bytes.data()), object.bytes.size());
    members.emplace_back(llvm::MemoryBufferRef(bytes, object.name));
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
