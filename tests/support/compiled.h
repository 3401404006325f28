// Problem -> Artifact in one step, for tests that need no plan.
#pragma once

#include "compiler/compile.h"

namespace gemmc::testing {

inline Expected<Artifact> compile_problem(const Problem& problem, const Target& target,
                                          const CompileOptions& options = {}, Explanation* explanation = nullptr) {
  const Expected<KernelPlan> planned = plan(problem, target, options);
  return planned ? compile(*planned, explanation) : planned.status();
}

}  // namespace gemmc::testing
