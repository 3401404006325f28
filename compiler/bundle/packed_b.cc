#include "compiler/bundle/packed_b.h"

#include "core/loop_form.h"
#include "schedules/schedule.h"

namespace gemmc {

std::optional<PackedPanels> packed_b(const Artifact& artifact) {
  const Expected<Schedule> schedule = parse_schedule(artifact.schedule);
  if (!schedule || !schedule->packs_b) return std::nullopt;
  return packed_panels(loop_form(artifact.problem), *schedule);
}

std::optional<int64_t> packed_b_bytes(const Artifact& artifact) {
  const std::optional<PackedPanels> panels = packed_b(artifact);
  if (!panels) return std::nullopt;
  return panels->elements() * static_cast<int64_t>(size_bytes(b_dtype(artifact.problem)));
}

}  // namespace gemmc
