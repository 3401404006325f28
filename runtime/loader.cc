// Artifact -> Kernel, with ORC. The one place of the runtime where LLVM's errors become Status.
#include <fmt/format.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/TargetSelect.h>

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
  OrcKernel(Artifact artifact, gemmc_kernel_entry uniform, void* typed, std::unique_ptr<llvm::orc::LLJIT> jit)
      : Kernel(std::move(artifact), uniform, typed), jit_(std::move(jit)) {}

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

Status failure(const Artifact& artifact, llvm::Error error) {
  return Status::internal(fmt::format("loading kernel {}: {}", artifact.symbol, llvm::toString(std::move(error))));
}

}  // namespace

Expected<std::shared_ptr<const Kernel>> load_kernel(Artifact artifact) {
  GEMMC_RETURN_IF_ERROR(check_runs_here(artifact.target));
  initialize_llvm();
  // The object needs no code generator; the session only links it.
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(llvm::Triple("x86_64-unknown-linux-gnu")))
                 .setLinkProcessSymbolsByDefault(false)
                 .setPlatformSetUp([](llvm::orc::LLJIT&) -> llvm::Expected<llvm::orc::JITDylibSP> { return nullptr; })
                 .setObjectLinkingLayerCreator([](llvm::orc::ExecutionSession& session)
                                                   -> llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>> {
                   auto memory = llvm::jitlink::InProcessMemoryManager::Create();
                   if (!memory) return memory.takeError();
                   return std::make_unique<llvm::orc::ObjectLinkingLayer>(session, std::move(*memory));
                 })
                 .create();
  if (!jit) return failure(artifact, jit.takeError());
  const llvm::StringRef object(reinterpret_cast<const char*>(artifact.object.data()), artifact.object.size());
  if (auto error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, artifact.symbol))) {
    return failure(artifact, std::move(error));
  }
  auto typed = (*jit)->lookup(artifact.symbol);
  if (!typed) return failure(artifact, typed.takeError());
  auto uniform = (*jit)->lookup(artifact.symbol + "_call");
  if (!uniform) return failure(artifact, uniform.takeError());
  return std::shared_ptr<const Kernel>(std::make_shared<OrcKernel>(
      std::move(artifact), uniform->toPtr<gemmc_kernel_entry>(), typed->toPtr<void*>(), std::move(*jit)));
}

}  // namespace gemmc
