// A case file's operands and expectation, ready for a kernel.
#pragma once

#include "core/problem.h"
#include "tests/support/cases.h"
#include "tests/support/instance.h"
#include "tests/support/kernel_run.h"

namespace gemmc::testing {

// `problem`: the case's own, or a variant of it that leaves more to the call.
ArrayShapes shapes_of(const Case& test_case);
GivenOperands operands_of(const Case& test_case);
Instance instance_of(const Case& test_case, const Problem& problem);

// The expected values within the case's tolerance, then the oracle's bounds. `expect` must outlive the check.
Check meets(const CaseExpectation& expect);

}  // namespace gemmc::testing
