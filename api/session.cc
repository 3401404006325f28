#include "api/session.h"

namespace gemmc {

Expected<Session::Result> Session::kernel(const Problem& problem, const CompileOptions& options) {
  GEMMC_RETURN_IF_ERROR(check_runs_here(target_));
  Expected<KernelPlan> planned = plan(problem, target_, options);
  if (!planned) return planned.status();
  // A chosen symbol is part of the object, but not of the key's text.
  Expected<std::shared_ptr<const Kernel>> kernel =
      cache_.get_or_make(planned->key_text + planned->symbol, [&]() -> Expected<std::shared_ptr<const Kernel>> {
        Expected<Artifact> artifact = compile(*planned);
        if (!artifact) return artifact.status();
        return load_kernel(*std::move(artifact));
      });
  if (!kernel) return kernel.status();
  return Result{*std::move(kernel), std::move(planned->canonical.dim_names)};
}

}  // namespace gemmc
