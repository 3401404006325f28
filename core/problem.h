// A Problem: one matrix product as a value, everything that decides what its kernel must compute.
//
// Flow: node description -> **Problem** -> signature -> schedule -> pipeline -> object -> kernel -> call.
// Made by compiler/node_to_problem (from JSON or ONNX nodes) and core/problem_string (from one line of text); read by
// every later layer. A plain value: copy it freely, share it between threads once it no longer changes.
//
// Y = alpha * op(A) op(B) + beta * C for Gemm; Y = A B with NumPy's matmul broadcasting for MatMul. Shapes are those of
// the stored operands, before any transposition. Strides and sizes are in elements.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dtype.h"
#include "core/epilogue.h"
#include "core/status.h"

namespace gemmc {

// One dimension: a size known now, or a named one that each call gives. Equal names are equal sizes.
struct Dim {
  int64_t size = 0;  // only for static dimensions; >= 0
  std::string name;  // not empty exactly for run-time dimensions
  // Declared range and likely values of a run-time dimension, the same wherever its name stands in a problem; hints,
  // every value in [0, 2^63) stays right. A kernel may have a body of its own for likely values (schedules/variants.h).
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> likely;

  static Dim fixed(int64_t size) {
    Dim dim;
    dim.size = size;
    return dim;
  }
  static Dim runtime(std::string name) {
    Dim dim;
    dim.name = std::move(name);
    return dim;
  }
  bool is_static() const { return name.empty(); }
  // Static and equal to `value`.
  bool is(int64_t value) const { return is_static() && size == value; }
  bool operator==(const Dim&) const = default;
};
using Shape = std::vector<Dim>;

// The distance between neighbours along one dimension.
struct Stride {
  enum class Kind {
    kDense,    // row-major: the product of the extents of all later dimensions
    kStatic,   // `value`, which may be zero or negative
    kRuntime,  // given by each call
  };
  Kind kind = Kind::kDense;
  int64_t value = 0;  // only for kStatic

  static Stride fixed(int64_t value) { return {Kind::kStatic, value}; }
  static Stride runtime() { return {Kind::kRuntime, 0}; }
  bool operator==(const Stride&) const = default;
};
using Strides = std::vector<Stride>;

struct Operand {
  bool has_known_rank = true;  // false: shape is empty and means nothing; the caller flattens
  Shape shape = {};
  Strides strides = {};               // empty: dense row-major; else one per dimension
  bool is_constant = false;           // weights: the same values in every call, so that they can be packed before
  std::optional<DType> storage = {};  // stored in a narrower type than it is computed in
  bool operator==(const Operand&) const = default;
};

enum class Operator { kGemm, kMatMul };
// kByK: acc = fma(a_k, b_k, acc) for k = 0, 1, 2, ... per element, the same bits from every kernel.
enum class SummationOrder { kAny, kByK };

struct Problem {
  Operator op = Operator::kGemm;
  DType dtype = DType::kFloat32;
  Operand a;
  Operand b;
  std::optional<Operand> c;  // Gemm only; absent: no C
  Strides y_strides;         // empty: dense row-major
  bool trans_a = false;      // Gemm only: A is stored (K, M)
  bool trans_b = false;      // Gemm only: B is stored (N, K)
  float alpha = 1.0f;
  float beta = 1.0f;
  SummationOrder order = SummationOrder::kAny;
  std::vector<EpilogueStep> epilogue;  // applied after alpha, beta and C
  // Equal fields, so that what parse_problem() makes of a printed problem is equal to it: any NaN equals any other in
  // alpha and beta, and -0 differs from 0.
  bool operator==(const Problem& other) const;
};

// Checks everything that can be checked before the call: ranks, K, broadcasting of C and of batches, stride counts,
// alpha and beta for integers, operand sizes up to 2^63-1 bytes. Messages name the operand, the value found and
// allowed. For Gemm, the two K must be the same Dim and each dimension of C must be 1 or the Dim of M or N
// (node_to_problem makes it so; a C whose run-time dimensions might be 1 has an unknown rank here, and the call gives
// its strides).
Status validate(const Problem& problem);

// The types that the elements of an operand, and of B, have in memory.
inline DType stored_dtype(const Operand& operand, DType dtype) { return operand.storage.value_or(dtype); }
inline DType b_dtype(const Problem& problem) { return stored_dtype(problem.b, problem.dtype); }

// What exists in the language of problems but no kernel can do yet (narrower storage of A and C): "... not built yet".
Status refuse_unbuilt(const Problem& problem);

// A problem written one way, so that equal kernels get equal keys, and the names its run-time arguments had.
struct CanonicalProblem {
  Problem problem;
  // The names, in the original problem, of the kernel's run-time dimensions, in the order of the call's `dims`.
  std::vector<std::string> dim_names;
};

// The same computation with the same element order of every operand. C is dropped where beta is 0, beta becomes 1 where
// there is no C; 1-D operands become matrices; batch axes of size 1 that broadcast nothing disappear; leading static
// dimensions of A fold into M where B is a matrix; an operand of unknown rank becomes (batch, M, K) with a run-time
// batch stride, or (M, K) where B is a matrix; C of unknown rank becomes (M, N) with two run-time strides; a run-time
// K that must equal a known or another K is replaced by it everywhere; strides that are what dense ones would be are
// dropped; run-time dimensions are renamed d0, d1, ... in order of appearance; ranges, likely values (except of
// dimensions that N, K or a matrix's strides depend on, which are sorted, each once), `is_constant` (except of a B that
// is one matrix with everything known, which a kernel may want packed), the order of sums of integers, names of
// epilogue operands and constants of steps that are the defaults are dropped, since they do not change the code; a
// residual is a full bias. Requires a valid problem.
CanonicalProblem canonical(const Problem& problem);

// The index into the call's `dims` of a run-time dimension of a canonical problem: "d7" -> 7.
size_t dim_index(std::string_view canonical_name);

}  // namespace gemmc
