// gemmc's own kernel as a contender, compiled at run time for this machine.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/session.h"
#include "schedules/schedule.h"
#include "tools/performance/contender.h"
#include "tools/performance/product_problem.h"

namespace gemmc {

struct GemmcRequest {
  Sizes sizes = Sizes::kStatic;
  bool has_constant_b = false;               // the kernel may then want B packed, which is done here, outside the calls
  std::optional<Schedule> schedule;          // absent: the family table's choice
  const gemmc_parallel* parallel = nullptr;  // threads for the calls; null: one
};

struct GemmcKernel {
  std::unique_ptr<Contender> contender;
  std::string problem;    // the line that repeats it: gemmc explain '<problem>'
  std::string schedule;   // of the general body
  double compile_ns = 0;  // first request: schedule, Halide, LLVM, linking into the process
};

// Unsupported or invalid argument: gemmc has no such kernel for the product, or the schedule does not suit it.
Expected<GemmcKernel> prepare_gemmc(Session& session, DType dtype, const Product& product, const GemmcRequest& request,
                                    const Operands& operands);

}  // namespace gemmc
