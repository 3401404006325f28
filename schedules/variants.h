// Variants: bodies of a kernel for few rows and for likely values of its run-time dimensions, beside the general body.
//
// Flow: Problem + Target -> Schedule, **Variants** -> Halide pipelines. Called by compile.cc; compiler/dispatch.h
// chooses between the bodies in each call. A variant binds every dimension with likely values that N, K or a stride
// depends on, because only together do they make those known. Only where there is none does it bind M: more loops and
// better tiles come of the others.
#pragma once

#include <string>
#include <vector>

#include "core/body_condition.h"
#include "core/problem.h"
#include "core/status.h"
#include "core/target.h"
#include "schedules/schedule.h"

namespace gemmc {

// Each is compiled, which takes as long as the general body, and costs every call a comparison or two.
constexpr size_t kMostVariants = 8;

struct Variant {
  BodyCondition when;
  Problem problem;  // the canonical one with the condition's dimensions bound; its call lacks their arguments
  Schedule schedule;
};

// Where the general body would pack B in every call, one or two variants for few rows, which read it in place. And one
// for each combination of likely values that leads to another family or register tile than `general`, the
// schedule of the general body, has: other sizes of blocks alone would make it no faster. None where that body reads a
// packed B. Refuses more than kMostVariants, and more than 1024 combinations.
Expected<std::vector<Variant>> choose_variants(const CanonicalProblem& canonical, const Schedule& general,
                                               const Target& target);

// A likely value that no variant binds, and why.
struct UnusedLikelyValue {
  BoundDim dim;
  std::string reason;
};
// `problem` is canonical, with all its likely values.
std::vector<UnusedLikelyValue> unused_likely_values(const Problem& problem, const Schedule& general,
                                                    const std::vector<Variant>& variants);

// Leaves `problem` those likely values that a variant binds, so that equal code has one key.
void drop_other_likely_values(Problem& problem, const std::vector<Variant>& variants);

}  // namespace gemmc
