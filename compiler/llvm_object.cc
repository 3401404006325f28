#include "compiler/llvm_object.h"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/column_mask.h"
#include "compiler/fma_pass.h"
#include "compiler/llvm_emit.h"
#include "compiler/pair_pass.h"
#include "compiler/thunk.h"
#include "compiler/unroll_mark.h"

namespace gemmc {
namespace {

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

Status link_pipeline(llvm::Module& linked, const KernelBody& body, const Pipeline& pipeline) {
  llvm::MemoryBufferRef buffer(pipeline.bitcode, pipeline.function);
  auto module = llvm::parseBitcodeFile(buffer, linked.getContext());
  if (!module)
    return Status::internal(fmt::format("LLVM, reading {}: {}", pipeline.function, text(module.takeError())));
  llvm::Function* function = (*module)->getFunction(pipeline.function);
  function->setName(pipeline_symbol(body, pipeline.function));
  if (body.schedule.masks_columns) {
    const auto columns = static_cast<unsigned>(*body.form.n.static_value());
    GEMMC_RETURN_IF_ERROR(mask_columns(*function, static_cast<unsigned>(body.schedule.lanes), columns));
  }
  if (linked.getDataLayoutStr().empty()) linked.setDataLayout((*module)->getDataLayout());
  if (llvm::Linker::linkModules(linked, std::move(*module))) {
    return Status::internal(fmt::format("LLVM cannot link {}", pipeline.function));
  }
  return Status::ok();
}

Expected<std::unique_ptr<llvm::Module>> link_pipelines(llvm::LLVMContext& context,
                                                       const std::vector<KernelBody>& bodies) {
  auto linked = std::make_unique<llvm::Module>("gemmc", context);
  linked->setTargetTriple(llvm_triple());
  for (const KernelBody& body : bodies) {
    for (const Pipeline& pipeline : body.pipelines) GEMMC_RETURN_IF_ERROR(link_pipeline(*linked, body, pipeline));
  }
  return linked;
}

// Halide's type-based alias metadata says that two buffers never meet; C and Y may, and so do the accumulators before
// and after a block. Its alignments take operands to be aligned to their elements; a caller's need not be.
void drop_assumptions_about_operands(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    instruction.setMetadata(llvm::LLVMContext::MD_tbaa, nullptr);
    instruction.setMetadata(llvm::LLVMContext::MD_invariant_load, nullptr);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) load->setAlignment(llvm::Align(1));
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) store->setAlignment(llvm::Align(1));
  }
}

// IEEE arithmetic as written, in the caller's floating-point state.
void make_arithmetic_strict(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::FPMathOperator>(instruction)) instruction.copyFastMathFlags(llvm::FastMathFlags());
  }
}

void set_function_attributes(llvm::Function& function, const Target& target) {
  for (const char* foreign : {"denormal-fp-math", "denormal-fp-math-f32", "no-nans-fp-math", "no-infs-fp-math",
                              "no-signed-zeros-fp-math", "unsafe-fp-math", "approx-func-fp-math"}) {
    function.removeFnAttr(foreign);
  }
  function.addFnAttr("target-cpu", target.level);
  function.addFnAttr("target-features", target.has(kAvx512Bf16) ? "+avx512bf16" : "");
  function.addFnAttr("tune-cpu", target.tune_cpu);
  function.addFnAttr("prefer-vector-width", std::to_string(target.vector_bytes() * 8));
  function.addFnAttr("probe-stack", "inline-asm");
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

void run_passes(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);
  const auto run = [&](const char* pipeline) {
    llvm::ModulePassManager passes;
    if (auto error = builder.parsePassPipeline(passes, pipeline)) llvm::report_fatal_error(std::move(error));
    passes.run(module, modules);
  };
  run("always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm)),"
      "globaldce,strip-dead-prototypes");
  mark_sum_loops_for_unrolling(module);
  run("function(loop-unroll<runtime>,instcombine<no-verify-fixpoint>,early-cse,simplifycfg)");
}

}  // namespace

Expected<ObjectCode> emit_object(const std::vector<KernelBody>& bodies, const Target& target, const std::string& symbol,
                                 bool with_texts) {
  llvm::LLVMContext context;
  auto linked = link_pipelines(context, bodies);
  if (!linked) return linked.status();
  llvm::Module& module = **linked;
  module.setSourceFileName("gemmc");
  if (llvm::NamedMDNode* ident = module.getNamedMetadata("llvm.ident")) ident->eraseFromParent();

  GEMMC_RETURN_IF_ERROR(fuse_marked_products(module, target.has(kFma)));
  GEMMC_RETURN_IF_ERROR(multiply_marked_pairs(module));
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    drop_assumptions_about_operands(function);
    make_arithmetic_strict(function);
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  add_thunk(module, bodies, symbol);
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) set_function_attributes(function, target);
  }
  std::string problems;
  llvm::raw_string_ostream problem_stream(problems);
  if (llvm::verifyModule(module, &problem_stream)) return Status::internal("LLVM finds the module broken: " + problems);

  Expected<std::unique_ptr<llvm::TargetMachine>> created = make_machine(target.level);
  if (!created) return created.status();
  llvm::TargetMachine* const machine = created->get();
  run_passes(module, *machine);

  ObjectCode result;
  if (with_texts) {
    llvm::raw_string_ostream stream(result.llvm_ir);
    module.print(stream, nullptr);
    // Emitting changes the module, so the assembly comes from a copy.
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
    auto assembly = emit_module(*copy, *machine, llvm::CodeGenFileType::AssemblyFile);
    if (!assembly) return assembly.status();
    result.assembly.assign(assembly->begin(), assembly->end());
  }
  auto object = emit_module(module, *machine, llvm::CodeGenFileType::ObjectFile);
  if (!object) return object.status();
  result.object.assign(object->begin(), object->end());
  return result;
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace gemmc
