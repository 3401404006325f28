#include "compiler/pipelines.h"

#include <Halide.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <limits>
#include <sstream>

#include "compiler/halide_families.h"

namespace gemmc {
namespace {

// A file that lives in memory: Halide writes bitcode only to a path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("gemmc-bitcode", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }
  std::string contents() const {
    std::string bytes;
    char chunk[1 << 16];
    ssize_t count = 0;
    while ((count = pread(descriptor_, chunk, sizeof chunk, static_cast<off_t>(bytes.size()))) > 0) {
      bytes.append(chunk, static_cast<size_t>(count));
    }
    return bytes;
  }

 private:
  int descriptor_;
};

// Far above what any pipeline's bitcode needs.
constexpr rlim_t kBitcodeFileBytes = 1 << 20;

// A write beyond the limit would end the process: by SIGXFSZ, or by LLVM, which takes a failed write for fatal.
Status check_file_size_limit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= kBitcodeFileBytes) return Status::ok();
  return Status::environment(
      fmt::format("files may have {} bytes (ulimit -f); allowed: {} and more, for the compiler's bitcode",
                  limit.rlim_cur, kBitcodeFileBytes));
}

Halide::Target halide_target(const Target& target) {
  Halide::Target result(Halide::Target::Linux, Halide::Target::X86, 64);
  std::vector<Halide::Target::Feature> features = {Halide::Target::SSE41, Halide::Target::NoRuntime,
                                                   Halide::Target::NoAsserts, Halide::Target::NoBoundsQuery,
                                                   Halide::Target::StrictFloat};
  if (target.has(kAvx2)) features.insert(features.end(), {Halide::Target::AVX, Halide::Target::AVX2});
  if (target.has(kFma)) features.push_back(Halide::Target::FMA);
  if (target.has(kF16c)) features.push_back(Halide::Target::F16C);
  if (target.has(kAvx512)) features.insert(features.end(), {Halide::Target::AVX512, Halide::Target::AVX512_Skylake});
  result.set_features(features);
  return result;
}

// Halide's messages end with a line break.
std::string one_message(const Halide::Error& error) {
  std::string text = error.what();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::vector<HalideFunction> functions_of(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                         const Target& target) {
  switch (schedule.family) {
    case Family::kDots:
      return dots_functions(problem, form, schedule, target);
    case Family::kRows:
      return rows_functions(problem, form, schedule, target);
    case Family::kTiled:
      return tiled_functions(problem, form, schedule, target);
    case Family::kGeneral:
      return general_functions(problem, form, schedule, target);
  }
  return {};
}

Pipeline lower(HalideFunction function, const Halide::Target& target, bool with_loop_nest) {
  Halide::Module module = function.output.compile_to_module(function.arguments, function.name, target);
  // External linkage leaves out Halide's argv wrapper and metadata, which would keep the body alive.
  for (Halide::Internal::LoweredFunc& lowered : module.functions()) lowered.linkage = Halide::LinkageType::External;
  Pipeline pipeline{.function = function.name};
  if (with_loop_nest) {
    std::ostringstream text;
    text << module;
    pipeline.loop_nest = text.str();
  }
  MemoryFile file;
  if (!file.is_open()) return pipeline;
  module.compile({{Halide::OutputFileType::bitcode, file.path()}});
  pipeline.bitcode = file.contents();
  return pipeline;
}

}  // namespace

void declare_stride(Halide::Internal::Dimension dimension, const StrideExpr& stride) {
  const auto value = stride.static_value();
  // A negative constant could make a constant negative index, at which Halide's alias metadata asserts.
  const bool fits = value && *value >= 0 && *value <= std::numeric_limits<int32_t>::max();
  dimension.set_stride(fits ? Halide::Expr(static_cast<int32_t>(*value)) : Halide::Expr());
}

std::vector<AddedOperand> added_operands(const LoopForm& form, Halide::Type stored) {
  std::vector<AddedOperand> added;
  const auto add = [&](const std::string& name, const MatrixStrides& strides) {
    Halide::ImageParam buffer(stored, 2, name);
    declare_stride(buffer.dim(0), strides.col);
    declare_stride(buffer.dim(1), strides.row);
    added.push_back({buffer, strides});
  };
  if (form.has_c) add("C", form.c);
  for (size_t i = 0; i < form.epilogue.size(); ++i) add(fmt::format("E{}", i), form.epilogue[i].strides);
  return added;
}

std::vector<Halide::Expr> elements_at(const std::vector<AddedOperand>& added, const Halide::Expr& column,
                                      const Halide::Expr& row) {
  std::vector<Halide::Expr> elements;
  for (const AddedOperand& operand : added) elements.push_back(operand.buffer(column, row));
  return elements;
}

Expected<std::vector<Pipeline>> build_pipelines(const Problem& problem, const Schedule& schedule, const Target& target,
                                                bool with_loop_nests) {
  GEMMC_RETURN_IF_ERROR(check_file_size_limit());
  try {
    const LoopForm form = loop_form(problem);
    std::vector<Pipeline> pipelines;
    for (const HalideFunction& function : functions_of(problem, form, schedule, target)) {
      pipelines.push_back(lower(function, halide_target(target), with_loop_nests));
      if (pipelines.back().bitcode.empty())
        return Status::environment("no memory file for the compiler's bitcode (memfd_create)");
    }
    return pipelines;
  } catch (const Halide::Error& error) {
    return Status::internal(fmt::format("Halide: {}", one_message(error)));
  } catch (const std::exception& error) {
    return Status::environment(fmt::format("while compiling: {}", error.what()));
  }
}

std::string halide_version() {
  return fmt::format("{}.{}.{}", HALIDE_VERSION_MAJOR, HALIDE_VERSION_MINOR, HALIDE_VERSION_PATCH);
}

}  // namespace gemmc
