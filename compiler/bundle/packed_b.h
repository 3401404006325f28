// How a compiled kernel wants its constant B.
#pragma once

#include <cstdint>
#include <optional>

#include "core/artifact.h"
#include "schedules/packed_panels.h"

namespace gemmc {

// Absent: the kernel reads B where it is.
std::optional<PackedPanels> packed_b(const Artifact& artifact);

// The bytes of a packed B; absent likewise.
std::optional<int64_t> packed_b_bytes(const Artifact& artifact);

}  // namespace gemmc
