// One run of a problem: shapes, strides and values of every operand, and the arguments of the kernel's call.
//
// Everything follows from (problem, shapes, seed), so that one line of text repeats a failing run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/call_plan.h"
#include "core/problem.h"
#include "tests/support/oracle.h"

namespace gemmc::testing {

struct InstanceOperand {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements, one per dimension; dense where the problem's rank is unknown
  std::vector<uint8_t> values;   // dense row-major, in the type that the operand is stored in
};

struct Instance {
  Problem problem;
  InstanceOperand a, b;
  std::optional<InstanceOperand> c;
  std::vector<InstanceOperand> epilogue;  // of the steps that read an operand, in order
  std::vector<int64_t> y_shape, y_strides;
  // The kernel's arguments. Outer axes only where operands of unknown rank broadcast unevenly.
  std::vector<int64_t> call_dims, call_strides;
  std::vector<CallPlan::OuterAxis> outer;
  std::string repeat;  // the command that makes this instance again

  // The operand whose buffer Y may be, if there is one: C, or an operand of the epilogue, that is full and laid out
  // like Y.
  const InstanceOperand* in_place_operand() const;
};

// Chooses run-time strides and values at random by `seed`. Throws std::runtime_error where the shapes do not fit the
// problem: that is a fault of the test.
Instance make_instance(const Problem& problem, const ArrayShapes& shapes, uint64_t seed);

// The same with the values given (dense row-major), run-time strides from `a_strides` and so on where not empty, and no
// `repeat`. For the case files.
struct GivenOperand {
  std::vector<uint8_t> values;
  std::vector<int64_t> strides;
};
struct GivenOperands {
  GivenOperand a, b;
  std::optional<GivenOperand> c;
  std::vector<int64_t> y_strides;  // and no epilogue that reads operands
};
Instance make_instance(const Problem& problem, const ArrayShapes& shapes, const GivenOperands& given);

oracle::Type oracle_type(DType dtype);

// "2x3 3x4 scalar", the text of --shapes, and back. Fails on anything else.
std::string print_shapes(const ArrayShapes& shapes);
std::optional<ArrayShapes> parse_shapes(const std::string& text);

}  // namespace gemmc::testing
