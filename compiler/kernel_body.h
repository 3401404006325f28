// A kernel's body: one problem with its schedule and pipelines. Every kernel has a general one; variants stand beside
// it with run-time dimensions bound to likely values (schedules/variants.h).
//
// Flow: Variants + Pipelines -> **bodies** -> LLVM module. Made by compile.cc, read by llvm_object.cc and the thunk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/pipelines.h"
#include "core/body_condition.h"
#include "core/loop_form.h"
#include "core/problem.h"
#include "schedules/schedule.h"

namespace gemmc {

struct KernelBody {
  BodyCondition when;
  Problem problem;
  LoopForm form;
  Schedule schedule;
  std::vector<Pipeline> pipelines;
};

// The symbol of a pipeline's function in the module. No C symbol has a dot, so a kernel may have any name.
std::string pipeline_symbol(const KernelBody& body, const std::string& function);

// The symbol of a body's function where there are several: "NAME.general", "NAME.d0_128". Local; profilers show it.
std::string body_symbol(const KernelBody& body, const std::string& kernel);

// The scratch memory that a caller may lend to a kernel of these bodies; 0: none of them uses any.
int64_t scratch_bytes(const std::vector<KernelBody>& bodies);

}  // namespace gemmc
