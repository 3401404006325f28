// Pipelines + thunk -> one object file, with our own LLVM, whose errors become Status here.
//
// Flow: Halide pipelines -> **LLVM module -> object**. Thread-safe: each call has its own LLVMContext. Same input, same
// bytes: nothing of time, paths, addresses or the build machine's CPU goes in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/kernel_body.h"
#include "core/status.h"
#include "core/target.h"

namespace gemmc {

struct ObjectCode {
  std::vector<uint8_t> object;
  std::string llvm_ir;   // only where asked for
  std::string assembly;  // only where asked for
};

// The first body is the general one.
Expected<ObjectCode> emit_object(const std::vector<KernelBody>& bodies, const Target& target, const std::string& symbol,
                                 bool with_texts);

// LLVM's version, "22.1.8".
std::string llvm_version();

}  // namespace gemmc
