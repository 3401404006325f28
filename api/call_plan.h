// Problem + the shapes of real arrays -> the arguments of its kernel's calls.
//
// Flow: Problem -> kernel; arrays -> **CallPlan** -> gemmc_call. The host's half of the kernel contract, in one place:
// binding run-time dimensions, choosing run-time strides, Y's shape, C of unknown rank, flattening operands of unknown
// rank, laying out strided operands. Used by `gemmc run`, and by tests for kernels of either kind (JIT or ahead of
// time). A plain value. Sizes, strides and offsets are in elements.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "core/status.h"

namespace gemmc {

// The shapes of the arrays of one call, as the problem has them (before any flattening).
struct ArrayShapes {
  std::vector<int64_t> a;
  std::vector<int64_t> b;
  std::optional<std::vector<int64_t>> c;
  std::vector<std::vector<int64_t>> epilogue = {};  // of the steps that read an operand, in order
};

// Where the elements of a logical, row-major array lie in a buffer: element i has the multi-index of i in `extents` and
// lies at first + sum(index * stride), which is in [0, span).
struct Layout {
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;
  int64_t first = 0;  // not 0 only with negative strides
  int64_t span = 0;   // elements of the smallest buffer that holds all; 0 if the array is empty

  int64_t element_count() const;
  bool is_dense() const;
};

struct CallPlan {
  CanonicalProblem canonical;
  std::vector<int64_t> y_shape;  // as ONNX has it
  std::vector<int64_t> dims;     // gemmc_call::dims
  std::vector<int64_t> strides;  // gemmc_call::strides
  Layout a, b, y;
  std::optional<Layout> c;       // absent: the kernel reads no C
  std::vector<Layout> epilogue;  // of the operands of the epilogue
  // The kernel is called once for every index of these axes, outermost first, with the operands' first elements moved
  // by index * stride; usually there are none and it is called once. Only operands of unknown rank need them, where
  // they broadcast in a way that one stride for the whole batch cannot express.
  struct OuterAxis {
    int64_t extent, a, b, y;
  };
  std::vector<OuterAxis> outer;
};

// Adds to `bound` what `shape` says of the run-time dimensions when the array's shape is `actual`; refuses another
// rank, another static size, and a name that is bound to another size. `operand` is for messages ("A").
Status bind_shape(const Shape& shape, const std::vector<int64_t>& actual, const std::string& operand,
                  std::map<std::string, int64_t>& bound);

// `bound` holds run-time dimensions that are decided already (`--dim`). Refuses shapes that the problem does not allow.
Expected<CallPlan> plan_call(const Problem& problem, const ArrayShapes& shapes,
                             std::map<std::string, int64_t> bound = {});

}  // namespace gemmc
