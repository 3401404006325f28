// One kernel called with one instance: operands between unreadable pages, everything around Y watched.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gemmc/gemmc.h"
#include "runtime/kernel_entries.h"
#include "tests/support/fault_trap.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/instance.h"
#include "tests/support/oracle.h"

namespace gemmc::testing {

struct Placement {
  GuardedBuffer::Side side = GuardedBuffer::Side::kEnd;  // the end of every operand that touches an unreadable page
  bool in_place = false;                                 // Y is the buffer of in_place_operand()
  bool b_is_a = false;                                   // A's buffer is B's too; only for equal shapes and values
  int offset_bytes = 0;                                  // between the operands and the unreadable page
  int32_t threads = 1;                                   // the parts that the call may be cut into
  std::string text() const;                              // "operands end at an unreadable page, in place"
};

// Every way to lay the instance's operands out: ending and starting at unreadable pages, in place where that is
// allowed.
std::vector<Placement> placements(const Instance& instance, bool b_is_a, int offset_bytes);

// Tells results apart: the hash of Y's bytes (FNV-1a, 64 bits).
uint64_t hash_of(const std::vector<uint8_t>& bytes);

// What is wrong with Y, if anything. `y_values`: its elements, dense row-major.
using Check = std::function<std::optional<std::string>(const oracle::Product& product, const oracle::View& y,
                                                       const std::vector<uint8_t>& y_values)>;

// The two questions to the oracle.
std::optional<std::string> within_bounds(const oracle::Product& product, const oracle::View& y,
                                         const std::vector<uint8_t>& y_values);
std::optional<std::string> is_chain_of_fma(const oracle::Product& product, const oracle::View& y,
                                           const std::vector<uint8_t>& y_values);

struct RunResult {
  std::string failure;     // empty: right
  std::vector<uint8_t> y;  // dense row-major; empty after a fault
  std::optional<Fault> fault;
  size_t stack_bytes = 0;  // from the call to the farthest byte of stack that the kernel wrote
  bool is_right() const { return failure.empty(); }
};

// The buffers of one thread's runs.
class KernelRun {
 public:
  // Lends scratch memory to a kernel that wants it; kernels of a KernelLibrary say of none, so run without.
  // Fills Y, scratch memory and the stack below the call with 0xFF bytes (NaN, -1), calls, and looks at: the returned
  // status, faults, bytes outside of Y, the floating-point state, then `check`. Before that, packs B for a kernel that
  // wants it, into a buffer that is placed as the operands are.
  RunResult run(const KernelEntries& kernel, const Instance& instance, const Placement& placement, const Check& check);

 private:
  // These fill in the failure, if there is one. `operands`: a, b, c, packed and the epilogue's; dims and strides are
  // the instance's.
  void call(gemmc_kernel_entry entry, const Instance& instance, const gemmc_call& operands, RunResult& result);
  const void* pack_b(gemmc_pack_entry pack, const void* b, const Placement& placement, RunResult& result);
  void note_fault(RunResult& result) const;

  GuardedBuffer a_, b_, packed_b_, c_, y_, scratch_;
  std::deque<GuardedBuffer> epilogue_;
};

}  // namespace gemmc::testing
