#include "tools/performance/gemmc_contender.h"

#include <array>
#include <utility>

#include "core/problem_string.h"
#include "tools/performance/aligned_memory.h"
#include "tools/performance/timing.h"

namespace gemmc {
namespace {

// A kernel, and B as it wants it.
class LoadedKernel {
 public:
  LoadedKernel(std::shared_ptr<const Kernel> kernel, const Operands& operands)
      : kernel_(std::move(kernel)), operands_(operands) {}
  // Environment: no memory for the packed B or for scratch.
  Status prepare_memory(int32_t threads) {
    if (const int64_t bytes = kernel_->entries().scratch_bytes * threads; bytes > 0) {
      Expected<AlignedMemory> memory = allocate_aligned(static_cast<size_t>(bytes));
      if (!memory) return memory.status();
      scratch_ = *std::move(memory);
      scratch_bytes_ = bytes;
    }
    const gemmc_pack_entry pack = kernel_->entries().pack_b;
    if (pack == nullptr) return Status::ok();
    Expected<AlignedMemory> memory = allocate_aligned(static_cast<size_t>(pack(operands_.b, nullptr)));
    if (!memory) return memory.status();
    packed_b_ = *std::move(memory);
    pack(operands_.b, packed_b_.get());
    return Status::ok();
  }
  const Kernel& kernel() const { return *kernel_; }
  const Operands& operands() const { return operands_; }
  // Null where it wants none.
  void* scratch() const { return scratch_.get(); }
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // Null where B is read where it is.
  const void* packed_b() const { return packed_b_.get(); }

 private:
  std::shared_ptr<const Kernel> kernel_;
  Operands operands_;
  AlignedMemory packed_b_, scratch_;
  int64_t scratch_bytes_ = 0;
};

// Static sizes without scratch memory: the typed entry takes nothing but the three pointers.
class TypedContender : public Contender {
 public:
  explicit TypedContender(LoadedKernel loaded) : loaded_(std::move(loaded)) {}
  void run(int64_t calls) override {
    using Entry = int32_t (*)(const void* a, const void* b, void* y);
    const Entry entry = reinterpret_cast<Entry>(loaded_.kernel().typed_entry());
    const Operands& operands = loaded_.operands();
    const void* b = loaded_.packed_b() != nullptr ? loaded_.packed_b() : operands.b;
    for (int64_t call = 0; call < calls; ++call) entry(operands.a, b, operands.y);
  }

 private:
  LoadedKernel loaded_;
};

class UniformContender : public Contender {
 public:
  UniformContender(LoadedKernel loaded, const std::vector<std::string>& dim_names, const Product& product,
                   const gemmc_parallel* parallel)
      : loaded_(std::move(loaded)) {
    for (size_t i = 0; i < dim_names.size() && i < dims_.size(); ++i) {
      const std::string& name = dim_names[i];
      dims_[i] = name == "batch" ? product.batch : name == "m" ? product.m : name == "n" ? product.n : product.k;
    }
    call_.size_bytes = sizeof(call_);
    call_.a = loaded_.operands().a;
    call_.b = loaded_.operands().b;
    call_.y = loaded_.operands().y;
    call_.dims = dims_.data();
    call_.packed[1] = loaded_.packed_b();
    call_.scratch = loaded_.scratch();
    call_.scratch_bytes = static_cast<uint64_t>(loaded_.scratch_bytes());
    call_.parallel = parallel;
  }
  void run(int64_t calls) override {
    const gemmc_kernel_entry entry = loaded_.kernel().entry();
    for (int64_t call = 0; call < calls; ++call) entry(&call_);
  }

 private:
  LoadedKernel loaded_;
  std::array<int64_t, 4> dims_ = {};
  gemmc_call call_ = {};
};

}  // namespace

Expected<GemmcKernel> prepare_gemmc(Session& session, DType dtype, const Product& product, const GemmcRequest& request,
                                    const Operands& operands) {
  const Expected<Problem> problem = problem_of(dtype, product, request.sizes, request.has_constant_b);
  if (!problem) return problem.status();

  CompileOptions options;
  options.schedule = request.schedule;
  const double start = cpu_time_ns();
  Expected<Session::Result> result = session.kernel(*problem, options);
  const double compile_ns = cpu_time_ns() - start;
  if (!result) return result.status();
  GemmcKernel kernel;
  kernel.problem = print_problem(*problem);
  kernel.schedule = result->kernel->artifact().schedule;
  kernel.compile_ns = compile_ns;
  LoadedKernel loaded(std::move(result->kernel), operands);
  GEMMC_RETURN_IF_ERROR(loaded.prepare_memory(request.parallel == nullptr ? 1 : request.parallel->threads));
  if (request.sizes == Sizes::kStatic && loaded.scratch() == nullptr && request.parallel == nullptr) {
    kernel.contender = std::make_unique<TypedContender>(std::move(loaded));
  } else {
    kernel.contender =
        std::make_unique<UniformContender>(std::move(loaded), result->dim_names, product, request.parallel);
  }
  return kernel;
}

}  // namespace gemmc
