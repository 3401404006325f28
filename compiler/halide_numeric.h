// The arithmetic of a product as Halide expressions: conversions, multiply-add, epilogue. Rules: docs/numbers.md.
#pragma once

#include <Halide.h>

#include <vector>

#include "core/problem.h"
#include "core/target.h"

namespace gemmc {

// Halide's type of a stored element (16-bit floats as their bits) and of an accumulator.
Halide::Type storage_type(DType dtype);
Halide::Type accumulator_type(DType dtype);

// a * b, which the fma pass (fma_pass.h) fuses with the sum that it is a term of, where the CPU can.
Halide::Expr marked_product(const Halide::Expr& a, const Halide::Expr& b);

// Two factors of bfloat16 as one, for pair_multiply_add(). `high` is undefined where there is only one.
Halide::Expr factor_pair(const Halide::Expr& low, const Halide::Expr& high);
// acc + a.low * b.low + a.high * b.high on the bits of pairs: see pair_pass.h.
Halide::Expr pair_multiply_add(const Halide::Expr& acc, const Halide::Expr& a, const Halide::Expr& b);

class Numeric {
 public:
  Numeric(const Problem& problem, const Target& target);

  // A stored element as an accumulator; exact. Of B, which may be stored in a narrower type, and of all others.
  Halide::Expr b_to_accumulator(const Halide::Expr& stored) const;
  Halide::Expr to_accumulator(const Halide::Expr& stored) const;
  // acc + a * b: one rounding for floats on CPUs with FMA, two without; modulo 2^bits for integers.
  Halide::Expr multiply_add(const Halide::Expr& acc, const Halide::Expr& a, const Halide::Expr& b) const;
  // A sum that another K block is still to be added to, as a stored element of the same type.
  Halide::Expr unrounded(const Halide::Expr& acc) const;
  // The epilogue of alpha * acc + beta * C as a stored element. `added`: stored elements of C, where the problem has
  // one, and of the operands of the epilogue's steps.
  Halide::Expr finish(const Halide::Expr& acc, const std::vector<Halide::Expr>& added) const;

 private:
  Halide::Expr widen(const Halide::Expr& stored, DType stored_as) const;
  // `c` is undefined where there is none.
  Halide::Expr combine_float(const Halide::Expr& acc, const Halide::Expr& c) const;
  Halide::Expr combine_integer(const Halide::Expr& acc, const Halide::Expr& c) const;
  Halide::Expr combine_fractional(const Halide::Expr& acc, const Halide::Expr& c) const;
  // One step of the epilogue; `operand` is an accumulator, undefined where the step reads none.
  Halide::Expr step(const EpilogueStep& step, const Halide::Expr& value, const Halide::Expr& operand) const;
  Halide::Expr from_accumulator(const Halide::Expr& acc) const;

  const Problem& problem_;
  bool has_f16c_;
};

}  // namespace gemmc
