// Problems written out field by field, for tests of what a problem string cannot say. Valid ones come from
// parse_problem().
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "core/problem.h"

namespace gemmc::testing {

// A size or the name of a run-time dimension.
struct AnyDim {
  AnyDim(int64_t size) : dim(Dim::fixed(size)) {}
  AnyDim(int size) : dim(Dim::fixed(size)) {}  // so that 0 is no pointer
  AnyDim(const char* name) : dim(Dim::runtime(name)) {}
  Dim dim;
};

inline Shape shape(std::initializer_list<AnyDim> dims) {
  Shape result;
  for (const AnyDim& any : dims) result.push_back(any.dim);
  return result;
}

inline Problem gemm(std::initializer_list<AnyDim> a, std::initializer_list<AnyDim> b) {
  Problem problem;
  problem.a.shape = shape(a);
  problem.b.shape = shape(b);
  return problem;
}

inline Problem gemm(std::initializer_list<AnyDim> a, std::initializer_list<AnyDim> b, std::initializer_list<AnyDim> c) {
  Problem problem = gemm(a, b);
  problem.c.emplace();
  problem.c->shape = shape(c);
  return problem;
}

inline Problem matmul(std::initializer_list<AnyDim> a, std::initializer_list<AnyDim> b) {
  Problem problem = gemm(a, b);
  problem.op = Operator::kMatMul;
  return problem;
}

inline Operand unknown_rank() {
  Operand operand;
  operand.has_known_rank = false;
  return operand;
}

inline Strides fixed_strides(std::initializer_list<int64_t> values) {
  Strides strides;
  for (int64_t value : values) strides.push_back(Stride::fixed(value));
  return strides;
}

}  // namespace gemmc::testing
