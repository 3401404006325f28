#include "compiler/bundle/weights_object.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/LLVMContext.h>

#include "compiler/llvm_emit.h"

namespace gemmc {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 31;

}  // namespace

Expected<std::vector<uint8_t>> weights_object(const std::vector<Weights>& weights) {
  uint64_t bytes = 0;
  for (const Weights& w : weights) bytes += w.bytes.size();
  if (bytes > kMostBytes) {
    return Status::unsupported(
        fmt::format("weights of {} bytes in one library; allowed: up to {} (--weights file puts "
                    "them beside it, none leaves them out)",
                    bytes, kMostBytes));
  }
  llvm::LLVMContext context;
  llvm::Module module("gemmc", context);
  module.setTargetTriple(llvm_triple());
  const Expected<std::unique_ptr<llvm::TargetMachine>> machine = make_machine("x86-64");
  if (!machine) return machine.status();
  module.setDataLayout((*machine)->createDataLayout());
  for (const Weights& w : weights) {
    const llvm::StringRef raw(reinterpret_cast<const char*>(w.bytes.data()), w.bytes.size());
    llvm::Constant* values = llvm::ConstantDataArray::getRaw(raw, raw.size(), llvm::Type::getInt8Ty(context));
    auto* symbol = new llvm::GlobalVariable(module, values->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::ExternalLinkage, values, w.symbol);
    symbol->setAlignment(llvm::Align(kWeightsAlignment));
  }
  const auto object = emit_module(module, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!object) return object.status();
  return std::vector<uint8_t>(object->begin(), object->end());
}

}  // namespace gemmc
