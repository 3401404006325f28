#include "tools/performance/gemmc_contender.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/problem_string.h"
#include "tools/performance/timing.h"

namespace gemmc {
namespace {

// Static sizes: the typed entry takes nothing but the three pointers.
class StaticContender : public Contender {
 public:
  StaticContender(std::shared_ptr<const Kernel> kernel, const Operands& operands)
      : kernel_(std::move(kernel)), operands_(operands) {}
  void run(int64_t calls) override {
    using Entry = int32_t (*)(const void* a, const void* b, void* y);
    const Entry entry = reinterpret_cast<Entry>(kernel_->typed_entry());
    for (int64_t call = 0; call < calls; ++call) entry(operands_.a, operands_.b, operands_.y);
  }

 private:
  std::shared_ptr<const Kernel> kernel_;
  Operands operands_;
};

class RuntimeContender : public Contender {
 public:
  RuntimeContender(Session::Result kernel, const Product& product, const Operands& operands)
      : kernel_(std::move(kernel.kernel)) {
    for (size_t i = 0; i < kernel.dim_names.size() && i < dims_.size(); ++i) {
      const std::string& name = kernel.dim_names[i];
      dims_[i] = name == "m" ? product.m : name == "n" ? product.n : product.k;
    }
    call_.size_bytes = sizeof(call_);
    call_.a = operands.a;
    call_.b = operands.b;
    call_.y = operands.y;
    call_.dims = dims_.data();
  }
  void run(int64_t calls) override {
    const gemmc_kernel_entry entry = kernel_->entry();
    for (int64_t call = 0; call < calls; ++call) entry(&call_);
  }

 private:
  std::shared_ptr<const Kernel> kernel_;
  std::array<int64_t, 3> dims_ = {};
  gemmc_call call_ = {};
};

}  // namespace

Expected<GemmcKernel> prepare_gemmc(Session& session, DType dtype, const Product& product, Sizes sizes,
                                    const Operands& operands) {
  const bool is_static = sizes == Sizes::kStatic;
  const std::string text =
      fmt::format("gemm {} {}{}{}", short_name(dtype),
                  is_static ? fmt::format("m={} n={} k={}", product.m, product.n, product.k) : "m=?m n=?n k=?k",
                  product.trans_a ? " ta" : "", product.trans_b ? " tb" : "");
  const Expected<Problem> problem = parse_problem(text);
  if (!problem) return problem.status();

  const double start = cpu_time_ns();
  Expected<Session::Result> result = session.kernel(*problem);
  const double compile_ns = cpu_time_ns() - start;
  if (!result) return result.status();
  GemmcKernel kernel;
  kernel.problem = text;
  kernel.schedule = result->kernel->artifact().schedule;
  kernel.compile_ns = compile_ns;
  if (is_static) {
    kernel.contender = std::make_unique<StaticContender>(result->kernel, operands);
  } else {
    kernel.contender = std::make_unique<RuntimeContender>(*std::move(result), product, operands);
  }
  return kernel;
}

}  // namespace gemmc
