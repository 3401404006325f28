// Problem + target -> object file. The whole of the compiler behind two calls.
//
// Flow: Problem -> **KernelPlan** -> Halide pipelines -> LLVM module + thunk -> **Artifact**. The plan alone has the
// key, so that a cache can answer before anything is compiled. Thread-safe: any number of threads may compile at once.
// Halide's and LLVM's errors come back as Status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/problem.h"
#include "core/status.h"
#include "core/target.h"
#include "schedules/schedule.h"
#include "schedules/variants.h"

namespace gemmc {

struct CompileOptions {
  std::string symbol;                // empty: from the key; else a C identifier, see docs/kernel-abi.md
  std::optional<Schedule> schedule;  // of the general body; absent: chosen by the family table
};

// The texts that `gemmc explain` shows.
struct Explanation {
  std::string loop_nest;  // Halide's lowered statements, one per pipeline, the general body's first
  std::string llvm_ir;    // after the thunk was linked in and optimised
  std::string assembly;
};

// "halide 21.0.0; llvm 22.1.8; gemmc <build id>", part of every key. The build id changes with gemmc's own code.
std::string compiler_identity();

// Everything that decides a kernel, before it is compiled.
struct KernelPlan {
  CanonicalProblem canonical;
  Target target;
  Schedule schedule;  // of the general body
  std::vector<Variant> variants;
  std::string key_text;
  std::string symbol;
};
// Invalid argument: the problem, the symbol or the schedule is wrong. Unsupported: no kernel can do this yet.
Expected<KernelPlan> plan(const Problem& problem, const Target& target, const CompileOptions& options = {});

// Works on a thread of its own, because the compilers need more stack than a host's threads may have. Environment: no
// thread, memory or memory file for it. Internal: a fault of gemmc, Halide or LLVM.
Expected<Artifact> compile(const KernelPlan& plan, Explanation* explanation = nullptr);

}  // namespace gemmc
