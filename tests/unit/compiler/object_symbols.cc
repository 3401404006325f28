#include "tests/unit/compiler/object_symbols.h"

#include <gtest/gtest.h>
#include <llvm/Object/ObjectFile.h>

namespace gemmc::testing {

ObjectSymbols object_symbols(const std::vector<uint8_t>& object) {
  ObjectSymbols symbols;
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernel"));
  if (!file) {
    ADD_FAILURE() << llvm::toString(file.takeError());
    return symbols;
  }
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    const std::string name = llvm::cantFail(symbol.getName()).str();
    const uint32_t flags = llvm::cantFail(symbol.getFlags());
    if (flags & llvm::object::BasicSymbolRef::SF_Undefined) {
      if (!name.empty()) symbols.undefined.insert(name);  // ELF's first symbol is nameless
    } else if (flags & llvm::object::BasicSymbolRef::SF_Global) {
      symbols.defined.insert(name);
    }
  }
  return symbols;
}

}  // namespace gemmc::testing
