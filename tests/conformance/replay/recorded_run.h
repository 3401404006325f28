// Kernel calls as text, so that they can be made in another process, on another CPU: a file of JSON lines beside a
// library of kernels built ahead of time. Written by Recorder, read by conformance_replay.
//
// The first line names the CPU level and the number of runs; each further line is a run. Operands follow from a seed or
// are spelt out in hexadecimal digits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/status.h"
#include "tests/support/cases.h"
#include "tests/support/instance.h"
#include "tests/support/kernel_run.h"

namespace gemmc::testing {

struct RecordedRun {
  std::string kind;  // "worked", "random", ...: for the counts
  std::string symbol;
  std::string schedule;
  std::string problem, shapes;
  uint64_t seed = 0;
  std::optional<GivenOperands> given;     // instead of the seed's
  std::optional<CaseExpectation> expect;  // as well as the oracle's
  bool b_is_a = false;                    // see Placement
  int offset_bytes = 0;
  size_t promised_stack = 0;  // bytes
  std::string repeat;         // the command that makes the run again
  // result_hash() of a result that was found right where the run was recorded: from this very kernel, which must give
  // it again, or from a kernel for another CPU.
  std::optional<uint64_t> right_result;
  bool is_same_kernel = false;
  // That result's elements, only for float16 and uint64 on a level that this machine lacks: see cpu_faults.h.
  std::vector<uint8_t> right_values;
  bool has_misplaced_pextrw = false;  // see cpu_faults.h
};

struct Recording {
  std::string level;
  std::vector<RecordedRun> runs;
};

std::string print_recording(const Recording& recording);
// Refuses anything that print_recording() does not write, with the line's number.
Expected<Recording> parse_recording(const std::string& text);

// hash_of() Y's elements, with one hash for all NaNs: which one an instruction gives is not the same on all CPUs.
uint64_t result_hash(DType dtype, const std::vector<uint8_t>& values);

// Throws std::runtime_error where problem, shapes and operands do not fit each other.
Instance instance_of(const RecordedRun& run);
// The case's expectation, the chain of fma where order=k is promised, or the oracle's bounds. `run` must outlive it.
Check check_of(const RecordedRun& run);

}  // namespace gemmc::testing
