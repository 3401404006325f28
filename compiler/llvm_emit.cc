#include "compiler/llvm_emit.h"

#include <llvm/Analysis/RuntimeLibcallInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetOptions.h>

#include <mutex>

namespace gemmc {
namespace {

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

// What TargetMachine::addPassesToEmitFile() adds, without shrink-wrapping: that moves the prologue behind checks at the
// entry, where r11 may already hold an argument, and the prologue's loop of inline stack probes overwrites r11
// (LLVM 22.1.8: X86FrameLowering::canUseAsPrologue() asks only for the flags).
bool add_code_generation(llvm::legacy::PassManager& passes, llvm::TargetMachine& machine,
                         llvm::raw_pwrite_stream& stream, llvm::CodeGenFileType type) {
  // Without it LLVM knows of no memset and memcpy that it may call.
  passes.add(new llvm::RuntimeLibraryInfoWrapper(machine.getTargetTriple()));
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->disablePass(&llvm::ShrinkWrapID);
  auto* machine_module = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(config);
  passes.add(machine_module);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, type, machine_module->getMMI().getContext())) return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace

llvm::Triple llvm_triple() { return llvm::Triple("x86_64-unknown-linux-gnu"); }

Expected<std::unique_ptr<llvm::TargetMachine>> make_machine(const std::string& cpu) {
  initialize_llvm();
  std::string error;
  const llvm::Target* backend = llvm::TargetRegistry::lookupTarget(llvm_triple(), error);
  if (backend == nullptr) return Status::internal("LLVM: " + error);
  return std::unique_ptr<llvm::TargetMachine>(
      backend->createTargetMachine(llvm_triple(), cpu, "", llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt,
                                   llvm::CodeGenOptLevel::Aggressive));
}

Expected<llvm::SmallVector<char, 0>> emit_module(llvm::Module& module, llvm::TargetMachine& machine,
                                                 llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (!add_code_generation(passes, machine, stream, type)) {
    return Status::internal("LLVM cannot emit this kind of file");
  }
  passes.run(module);
  return bytes;
}

}  // namespace gemmc
