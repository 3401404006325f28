// The arithmetic of a product as Halide expressions: conversions, multiply-add, epilogue. Rules: docs/numbers.md.
#pragma once

#include <Halide.h>

#include "core/problem.h"
#include "core/target.h"

namespace gemmc {

// Halide's type of a stored element (16-bit floats as their bits) and of an accumulator.
Halide::Type storage_type(DType dtype);
Halide::Type accumulator_type(DType dtype);

class Numeric {
 public:
  Numeric(const Problem& problem, const Target& target);

  // A stored element as an accumulator; exact.
  Halide::Expr to_accumulator(const Halide::Expr& stored) const;
  // acc + a * b: one rounding for floats on CPUs with FMA, two without; modulo 2^bits for integers.
  Halide::Expr multiply_add(const Halide::Expr& acc, const Halide::Expr& a, const Halide::Expr& b) const;
  // alpha * acc + beta * C as a stored element. `c` is a stored element, undefined where the problem has no C.
  Halide::Expr finish(const Halide::Expr& acc, const Halide::Expr& c) const;

 private:
  Halide::Expr finish_float(const Halide::Expr& acc, const Halide::Expr& c) const;
  Halide::Expr finish_integer(const Halide::Expr& acc, const Halide::Expr& c) const;
  Halide::Expr finish_fractional(const Halide::Expr& acc, const Halide::Expr& c) const;
  Halide::Expr from_accumulator(const Halide::Expr& acc) const;

  const Problem& problem_;
  bool has_f16c_;
};

}  // namespace gemmc
