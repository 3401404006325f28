// How much stack a kernel may use: "Stack" in docs/kernel-abi.md.
#pragma once

#include <fmt/format.h>

#include "schedules/schedule.h"
#include "tests/support/kernel_run.h"

namespace gemmc::testing {

// Makes a right result wrong where the kernel used more.
inline void check_stack(Family family, RunResult& result) {
  const size_t most = family == Family::kGeneral ? 120 << 10 : family == Family::kRows ? 24 << 10 : 8 << 10;
  if (!result.is_right() || result.stack_bytes <= most) return;
  result.failure = fmt::format("{} bytes of stack; docs/kernel-abi.md promises {}", result.stack_bytes, most);
}

}  // namespace gemmc::testing
