// How much stack a kernel may use: "Stack" in docs/kernel-abi.md.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/artifact.h"
#include "schedules/schedule.h"
#include "tests/support/kernel_run.h"

namespace gemmc::testing {

inline size_t promised_stack(const std::string& schedule_line) {
  const Family family = parse_schedule(schedule_line)->family;
  return family == Family::kGeneral ? 120 << 10 : family == Family::kRows ? 24 << 10 : 8 << 10;
}

// Of the body that may use the most.
inline size_t promised_stack(const Artifact& artifact) {
  size_t most = promised_stack(artifact.schedule);
  for (const ArtifactVariant& variant : artifact.variants) most = std::max(most, promised_stack(variant.schedule));
  return most;
}

// Makes a right result wrong where the kernel used more than was promised.
inline void check_stack(size_t promised, RunResult& result) {
  if (!result.is_right() || result.stack_bytes <= promised) return;
  result.failure = fmt::format("{} bytes of stack; docs/kernel-abi.md promises {}", result.stack_bytes, promised);
}

}  // namespace gemmc::testing
