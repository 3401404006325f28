// The cases of tests/data/cases as values, for every test that runs them. Format: the README.md there.
//
// Reading is strict: a missing folder, an unknown field or hint, or a value that its type cannot hold throws
// std::runtime_error with the file's name, so that a test fails instead of testing less than it says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/node.h"

namespace gemmc::testing {

// How a test hands an operand over: `tensor` is dense row-major; with strides, the test lays it out so.
struct CaseOperand {
  Tensor tensor;
  std::vector<int64_t> strides;  // in elements, may be zero or negative; empty: dense row-major
};

// The hints "prefill_Y", "guard_pages" and "threads" are read and forgotten: every run fills Y, every operand ends and
// starts at an unreadable page, and every kernel may be called from any thread.
struct CaseHints {
  int misalign_bytes = 0;
  bool b_is_a = false;             // A and B are the same buffer
  bool y_is_c = false;             // Y is C's buffer
  bool c_has_empty_name = false;   // C is given, as an input with an empty name, which means absent
  int concurrent_first_calls = 1;  // threads that make the first call at once
  int repeat = 1;
};

struct CaseExpectation {
  bool is_ok = true;
  // Only where is_ok:
  Tensor y;
  double rtol = 0;  // both 0: bit-exact, but any NaN equals any NaN and 0 equals -0
  double atol = 0;
  // Only where not is_ok: the error has at least one of these words.
  std::vector<std::string> error_contains_any;
};

struct Case {
  std::string id;     // the file's stem
  std::string op;     // "Gemm" or "MatMul"
  std::string kind;   // of the reported cases; "" for the worked ones
  std::string group;  // cases of one group run one after the other in one process; may be empty
  std::string why;
  std::vector<NodeAttribute> attributes;
  CaseOperand a, b;
  std::optional<CaseOperand> c;
  std::vector<int64_t> y_strides;  // empty: dense row-major
  CaseHints hints;
  CaseExpectation expect;
};

Case read_case(const std::filesystem::path& file);
// All cases of "worked" or "reported", sorted by id.
std::vector<Case> read_cases(const std::string& folder);

// The node that the case describes: static shapes, no data, not constant, opset 13, named by the case's id.
Node to_node(const Case& test_case);

// So that GoogleTest prints a case as its id.
void PrintTo(const Case& test_case, std::ostream* out);

}  // namespace gemmc::testing
