// Random problems, and random shapes for the run-time dimensions of a problem.
//
// Most sizes are in 0..70, some at and beside powers of two, some larger; batches broadcast on both sides; operands are
// transposed, strided, of unknown rank; every form of C. Some problems have likely values; random_shapes() takes them
// most of the time, but not always. Everything made here is valid.
#pragma once

#include <cstdint>
#include <optional>

#include "api/call_plan.h"
#include "core/problem.h"
#include "core/target.h"
#include "schedules/schedule.h"
#include "tests/support/random.h"

namespace gemmc::testing {

// How many of the dimensions a problem leaves to the call.
enum class DimKind { kAllRuntime, kSomeRuntime };

// order=any. Run-time dimensions: see random_shapes().
Problem random_problem(DType dtype, DimKind kind, Random& random);

// Shapes that fit the problem, of at most a few million multiplications.
ArrayShapes random_shapes(const Problem& problem, Random& random);

// The same problem with everything known: sizes from `shapes`, run-time strides as make_instance() chooses them by
// `seed`.
Problem static_problem(const Problem& problem, const ArrayShapes& shapes, uint64_t seed);

// The same problem with every size left to the call (a 1 that broadcasts C stays), K under one name, and explicit
// strides too.
Problem runtime_problem(const Problem& problem);
// The same static problem with M left to the call. Nothing where strides, A's single dimension or a transposed A stand
// against it.
std::optional<Problem> runtime_rows_problem(const Problem& fixed);
// The same MatMul with operands of unknown rank, or Gemm with a C of unknown rank. Nothing where strides forbid it, or
// a Gemm has no C.
std::optional<Problem> unknown_rank_problem(const Problem& problem);

// A legal schedule of one of the families that accept the problem, or of `only`, which must: small and odd tiles and
// blocks, so that their edges are met often.
Schedule random_schedule(const Problem& problem, const Target& target, Random& random,
                         std::optional<Family> only = std::nullopt);

}  // namespace gemmc::testing
