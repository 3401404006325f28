// The Halide code of each kernel family. Halide's errors leave as exceptions; pipelines.cc turns them into Status.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

#include "core/loop_form.h"
#include "core/problem.h"
#include "core/target.h"
#include "schedules/schedule.h"

namespace gemmc {

struct HalideFunction {
  std::string name;
  std::vector<Halide::Argument> arguments;  // in call order; the output buffer follows
  Halide::Func output;
};

// See pipelines.h for what the functions do.
std::vector<HalideFunction> tiled_functions(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                            const Target& target);
std::vector<HalideFunction> dots_functions(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                           const Target& target);
std::vector<HalideFunction> rows_functions(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                           const Target& target);
std::vector<HalideFunction> general_functions(const Problem& problem, const LoopForm& form, const Schedule& schedule,
                                              const Target& target);

// An operand that is read after the sums: C, or one of the epilogue. Matrices (n, m) with the strides declared.
struct AddedOperand {
  Halide::ImageParam buffer;
  MatrixStrides strides;
};
// In the order of the arguments.
std::vector<AddedOperand> added_operands(const LoopForm& form, Halide::Type stored);
std::vector<Halide::Expr> elements_at(const std::vector<AddedOperand>& added, const Halide::Expr& column,
                                      const Halide::Expr& row);

// Declares the stride of one dimension where it is known now, so that loads and stores along it become vectors; where
// not, it is left to the call. Halide otherwise takes the innermost stride to be 1.
void declare_stride(Halide::Internal::Dimension dimension, const StrideExpr& stride);

}  // namespace gemmc
