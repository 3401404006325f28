// Products that leave every value of a 16-bit type as it is: no rounding takes part, only the type's conversions.
#pragma once

#include <string>

#include "core/dtype.h"
#include "core/problem.h"
#include "tests/support/cases.h"
#include "tests/support/instance.h"

namespace gemmc::testing {

struct EveryValue {
  Problem problem;
  ArrayShapes shapes;
  GivenOperands operands;
  CaseExpectation expect;  // all 65536 values in their order, exactly
};

// `operand`: 'A', 'B' or 'C', which has the values.
EveryValue every_value(DType dtype, char operand);

}  // namespace gemmc::testing
