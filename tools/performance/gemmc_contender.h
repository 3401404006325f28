// gemmc's own kernel as a contender, compiled at run time for this machine.
#pragma once

#include <memory>
#include <string>

#include "api/session.h"
#include "tools/performance/contender.h"

namespace gemmc {

struct GemmcKernel {
  std::unique_ptr<Contender> contender;
  std::string problem;    // the line that repeats it: gemmc explain '<problem>'
  std::string schedule;   // what the family table chose
  double compile_ns = 0;  // first request: schedule, Halide, LLVM, linking into the process
};

enum class Sizes { kStatic, kRuntime };

// Sizes::kRuntime leaves M, N and K as arguments of each call.
Expected<GemmcKernel> prepare_gemmc(Session& session, DType dtype, const Product& product, Sizes sizes,
                                    const Operands& operands);

}  // namespace gemmc
