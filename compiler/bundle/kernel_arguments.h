// The names of a kernel's run-time arguments, in call order: for its C prototype, its header comment and the manifest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/loop_form.h"
#include "core/problem.h"
#include "schedules/packed_panels.h"

namespace gemmc {

struct KernelArguments {
  // Of the epilogue's steps that read an operand, as C parameter names: "e0_bias".
  std::vector<std::string> epilogue;
  std::vector<std::string> dims;     // C parameter names: "dim_batch"
  std::vector<std::string> strides;  // C parameter names: "stride_a0", dimension 0 of A
};

// `dim_names`: what a node calls the kernel's run-time dimensions, in call order; those that are missing or empty are
// named by their place. `problem` is canonical.
KernelArguments kernel_arguments(const Problem& problem, const std::vector<std::string>& dim_names);

// "float32 [dim_batch, 128, 384]", with strides where they are not dense, for each operand and Y.
std::string describe_operand(const Problem& problem, char operand, const KernelArguments& arguments);

// The same for the operands of the epilogue, in the order of arguments.epilogue.
std::vector<std::string> describe_epilogue_operands(const Problem& problem, const KernelArguments& arguments);

// "12 * dim_batch"
std::string describe_size(const SizeExpr& size, const std::vector<std::string>& dims);

// "Y = gelu(0.5 * A transpose(B) + C + e0_bias)"
std::string describe_formula(const Problem& problem, const KernelArguments& arguments);

}  // namespace gemmc
