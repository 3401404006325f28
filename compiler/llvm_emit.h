// LLVM module -> bytes of a file, for x86-64. Errors become Status here.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#include <memory>
#include <string>

#include "core/status.h"

namespace gemmc {

llvm::Triple llvm_triple();

// `cpu`: LLVM's name of a CPU level, "x86-64-v3".
Expected<std::unique_ptr<llvm::TargetMachine>> make_machine(const std::string& cpu);

// Emitting changes the module.
Expected<llvm::SmallVector<char, 0>> emit_module(llvm::Module& module, llvm::TargetMachine& machine,
                                                 llvm::CodeGenFileType type);

}  // namespace gemmc
