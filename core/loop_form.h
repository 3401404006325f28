// The loops of a product with every size and stride as an expression of the call's arguments.
//
// Flow: Problem -> **LoopForm** -> schedule choice, thunk, host-side checks. It removes all differences between Gemm
// and MatMul, transpositions, broadcasting and dense or explicit strides:
//
//   for each index of `batch` (outermost first), m < M, n < N:
//     Y[...] = alpha * sum over k < K of A[m * a.row + k * a.col] * B[k * b.row + n * b.col]
//              + beta * C[m * c.row + n * c.col]
//
// Sizes and strides are in elements. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "core/problem.h"

namespace gemmc {

// factor * product of the run-time dimensions with these indices into the call's `dims`.
struct SizeExpr {
  int64_t factor = 1;
  std::vector<int> dims;

  static SizeExpr fixed(int64_t value) { return {value, {}}; }
  bool is_static() const { return dims.empty() || factor == 0; }
  std::optional<int64_t> static_value() const { return is_static() ? std::optional<int64_t>(factor) : std::nullopt; }
  bool operator==(const SizeExpr&) const = default;
};
SizeExpr operator*(const SizeExpr& left, const SizeExpr& right);

// A stride that is an expression, or the call's `strides[runtime_index]`.
struct StrideExpr {
  int runtime_index = -1;
  SizeExpr size;
  bool is_runtime() const { return runtime_index >= 0; }
  std::optional<int64_t> static_value() const { return is_runtime() ? std::nullopt : size.static_value(); }
  bool operator==(const StrideExpr&) const = default;
};

// One batch dimension. Extents broadcast: equal, or one of them is 1, decided at the call where they are not static;
// the stride of an operand whose extent is 1 counts as 0. Y's extent is the other one's.
struct BatchAxis {
  SizeExpr a_extent, b_extent;
  StrideExpr a, b;
};

struct MatrixStrides {
  StrideExpr row, col;
};

struct EpilogueOperandForm {
  MatrixStrides strides;   // 0 where it is broadcast
  bool has_batch = false;  // its items lie as Y's do; else every item reads the same
};

struct LoopForm {
  int dim_count = 0;     // run-time dimensions the call gives
  int stride_count = 0;  // run-time strides the call gives, in the order A, B, C, Y, outermost dimension first
  std::vector<BatchAxis> batch;
  SizeExpr m, n, k;
  MatrixStrides a, b, c, y;  // a stride of C is 0 where C is broadcast; C has no batch
  bool has_c = false;
  // The operands of the epilogue's steps that read one, in order, which is that of the call.
  std::vector<EpilogueOperandForm> epilogue;
  // Batch strides of Y, one per axis; empty: dense, from the extents decided at the call.
  std::vector<StrideExpr> y_batch;
};

// The loops of a canonical problem (see canonical()).
LoopForm loop_form(const Problem& canonical_problem);

// Whether an operand that is read after the sums may be Y's buffer: the description gives it Y's shape. One that is
// broadcast may not, even where a run-time dimension turns out to be 1. C is {form.c, false}.
bool may_be_y(const LoopForm& form, const EpilogueOperandForm& operand);

// The run-time dimensions, by their index, that N, K or a stride of a matrix depends on.
std::set<int> dims_of_widths(const LoopForm& form);

}  // namespace gemmc
