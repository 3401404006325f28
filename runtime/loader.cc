// Artifact -> Kernel, with ORC. The one place of the runtime where LLVM's errors become Status.
#include <fmt/format.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/TargetSelect.h>

#include <cstring>
#include <mutex>

#include "runtime/kernel.h"

namespace gemmc {
namespace {

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
  });
}

// Owns the linker session whose memory the code lives in.
class OrcKernel final : public Kernel {
 public:
  OrcKernel(Artifact artifact, KernelEntries entries, void* typed, std::unique_ptr<llvm::orc::LLJIT> jit)
      : Kernel(std::move(artifact), entries, typed), jit_(std::move(jit)) {}

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

// What the linker said while it worked; the error of the lookup that started it names only the symbol.
struct LinkReports {
  std::mutex mutex;
  std::string text;

  void add(llvm::Error error) {
    const std::lock_guard lock(mutex);
    text += "; " + llvm::toString(std::move(error));
  }
  std::string take() {
    const std::lock_guard lock(mutex);
    return std::move(text);
  }
};

// The functions that LLVM calls of itself, see docs/kernel-abi.md. Nothing else of this process is visible to a kernel.
llvm::Error define_memory_functions(llvm::orc::LLJIT& jit) {
  const auto symbol = [](auto* function) {
    return llvm::orc::ExecutorSymbolDef(llvm::orc::ExecutorAddr::fromPtr(function),
                                        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable);
  };
  llvm::orc::ExecutionSession& session = jit.getExecutionSession();
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols({{session.intern("memcpy"), symbol(&std::memcpy)},
                                                                  {session.intern("memmove"), symbol(&std::memmove)},
                                                                  {session.intern("memset"), symbol(&std::memset)}}));
}

// Null where the kernel has no such symbol.
llvm::Expected<llvm::orc::ExecutorAddr> find_if_defined(llvm::orc::LLJIT& jit, const std::string& symbol) {
  const llvm::orc::SymbolStringPtr name = jit.mangleAndIntern(symbol);
  auto found = jit.getExecutionSession().lookup(
      {{&jit.getMainJITDylib(), llvm::orc::JITDylibLookupFlags::MatchExportedSymbolsOnly}},
      llvm::orc::SymbolLookupSet(name, llvm::orc::SymbolLookupFlags::WeaklyReferencedSymbol));
  if (!found) return found.takeError();
  return found->empty() ? llvm::orc::ExecutorAddr() : found->begin()->second.getAddress();
}

}  // namespace

Expected<std::shared_ptr<const Kernel>> load_kernel(Artifact artifact) {
  GEMMC_RETURN_IF_ERROR(check_runs_here(artifact.target));
  initialize_llvm();
  // The object needs no code generator; the session only links it.
  auto jit =
      llvm::orc::LLJITBuilder()
          .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(llvm::Triple("x86_64-unknown-linux-gnu")))
          .setLinkProcessSymbolsByDefault(false)
          .setPlatformSetUp([](llvm::orc::LLJIT&) -> llvm::Expected<llvm::orc::JITDylibSP> { return nullptr; })
          .setObjectLinkingLayerCreator(
              [](llvm::orc::ExecutionSession& session) -> llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> {
                auto memory = llvm::jitlink::InProcessMemoryManager::Create();
                if (!memory) return memory.takeError();
                return std::make_unique<llvm::orc::ObjectLinkingLayer>(session, std::move(*memory));
              })
          .create();
  const auto reports = std::make_shared<LinkReports>();
  const auto failure = [&](llvm::Error error) {
    return Status::internal(
        fmt::format("loading kernel {}: {}{}", artifact.symbol, llvm::toString(std::move(error)), reports->take()));
  };
  if (!jit) return failure(jit.takeError());
  (*jit)->getExecutionSession().setErrorReporter([reports](llvm::Error error) { reports->add(std::move(error)); });
  if (auto error = define_memory_functions(**jit)) return failure(std::move(error));
  const llvm::StringRef object(reinterpret_cast<const char*>(artifact.object.data()), artifact.object.size());
  if (auto error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, artifact.symbol))) {
    return failure(std::move(error));
  }
  auto typed = (*jit)->lookup(artifact.symbol);
  if (!typed) return failure(typed.takeError());
  auto uniform = (*jit)->lookup(artifact.symbol + "_call");
  if (!uniform) return failure(uniform.takeError());
  auto pack_b = find_if_defined(**jit, artifact.symbol + "_pack_b");
  if (!pack_b) return failure(pack_b.takeError());
  const KernelEntries entries{uniform->toPtr<gemmc_kernel_entry>(), pack_b->toPtr<gemmc_pack_entry>(),
                              artifact.scratch_bytes};
  return std::shared_ptr<const Kernel>(
      std::make_shared<OrcKernel>(std::move(artifact), entries, typed->toPtr<void*>(), std::move(*jit)));
}

}  // namespace gemmc
