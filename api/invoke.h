// Arrays in, Y out: one problem run once. The convenient, checked way to call a kernel; `gemmc run` and the conformance
// tests are its users. It allocates buffers and checks every shape, so it is not what a runtime calls in a loop.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "api/call_plan.h"
#include "api/session.h"
#include "compiler/node.h"
#include "core/status.h"
#include "gemmc/gemmc.h"

namespace gemmc {

// The operands' values, dense row-major in the shapes that the problem gives them. A null C: none given.
struct Arrays {
  const Tensor* a = nullptr;
  const Tensor* b = nullptr;
  const Tensor* c = nullptr;
  std::vector<const Tensor*> epilogue = {};  // the operands of the epilogue's steps, in order
};

// What served a call.
struct InvokeReport {
  std::shared_ptr<const Kernel> kernel;
  int64_t call_ns = 0;  // laying the operands out, the kernel's calls, gathering Y; not compiling
};

// Compiles (or finds) the kernel in `session`, calls it, and returns Y in its ONNX shape. Run-time dimensions are bound
// by the arrays' shapes. Refused with invalid argument: arrays of another type or shape than the problem's, equal names
// with different sizes, a missing operand. A C that the problem does not have is refused; one that beta = 0 makes
// unread is checked all the same. `parallel`: threads that each of its calls may use; null: the calling one.
Expected<Tensor> invoke(Session& session, const Problem& problem, const Arrays& arrays,
                        const CompileOptions& options = {}, InvokeReport* report = nullptr,
                        const gemmc_parallel* parallel = nullptr);

// The same for a node: arrays that are null are taken from the inputs' `data` and the node's `epilogue_data`. Errors
// name the node.
Expected<Tensor> invoke(Session& session, const Node& node, const Arrays& arrays, const CompileOptions& options = {},
                        InvokeReport* report = nullptr, const gemmc_parallel* parallel = nullptr);

// A node's operands, with `data` in the place of null arrays, checked against the node's types and shapes.
Expected<Arrays> node_arrays(const Node& node, const Arrays& given);

// The call itself, for a kernel from anywhere: lays the operands out as `plan` says, packs B for a kernel that wants
// it, makes its calls, and gathers Y. The arrays must have the shapes that the plan was made from.
Expected<Tensor> run_plan(const CallPlan& plan, const KernelEntries& entries, const Arrays& arrays,
                          const gemmc_parallel* parallel = nullptr);

}  // namespace gemmc
