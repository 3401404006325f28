// The epilogue of a problem: steps on its result, in order, in the accumulator's type, before the one rounding to Y's.
//
// A part of Problem (problem.h). Steps are written as text in node descriptions and problem strings and checked here;
// what each computes is in docs/numbers.md. Plain values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/status.h"

namespace gemmc {

struct EpilogueStep {
  std::string op;    // "bias", "relu", "gelu", ...
  std::string axis;  // "n", "m", "mn" or "" (scalar, or no operand)
  std::string name;  // the operand's name, for steps that read one
  // The op's constants, one for each of its value_names, or none: its defaults.
  std::vector<float> values = {};
  bool operator==(const EpilogueStep&) const = default;
};

struct EpilogueRule {
  std::string_view op;
  bool reads_operand = false;
  bool takes_integers = false;
  std::span<const std::string_view> value_names = {};
  std::span<const float> defaults = {};  // of the values
};

// Null where there is no such op.
const EpilogueRule* find_epilogue_rule(std::string_view op);

// The step's constants: its own or the defaults. The op must be known.
std::vector<float> epilogue_values(const EpilogueStep& step);

// Leaves the values out where they are the defaults: each step has one form.
void drop_default_values(EpilogueStep& step);

// Each step is code in every register tile, so that a kernel takes seconds to compile with some hundreds.
inline constexpr size_t kMostEpilogueSteps = 32;

// How the operand of a step that reads one lies over Y.
enum class EpilogueOperandKind {
  kNone,     // the step reads no operand
  kScalar,   // one number
  kColumns,  // (N): one for each column
  kRows,     // (M): one for each row, the same in every item of a batch
  kFull,     // Y's shape and strides
};
EpilogueOperandKind operand_kind(const EpilogueStep& step);

// The indices of the steps that read an operand: the order of a call's operands of the epilogue.
std::vector<size_t> operand_steps(std::span<const EpilogueStep> steps);

// For messages: "operand e1 of the epilogue (residual 'layer_norm')", the index-th of those operands.
std::string epilogue_operand_text(std::span<const EpilogueStep> steps, size_t index);

// Whether a step reads one value for each row of an item: then items of a batch cannot become rows.
bool reads_rows(std::span<const EpilogueStep> steps);

// Too many steps, unknown ops, axes and values that an op does not have, and types that it does not take.
Status check_epilogue(std::span<const EpilogueStep> steps, DType dtype);

// Steps that are right but that no kernel can do yet.
Status refuse_unbuilt_steps(std::span<const EpilogueStep> steps, DType dtype);

}  // namespace gemmc
