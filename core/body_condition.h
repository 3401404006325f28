// For which calls a kernel's body is made: the general one for all, a variant for some.
//
// Decided by schedules/variants.h, compiled into a kernel's entry by compiler/dispatch.h, told by manifests and
// `gemmc explain`. A plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dim_names.h"

namespace gemmc {

struct BodyCondition {
  std::vector<BoundDim> dims = {};        // have these sizes; in the order of the call's `dims`
  std::optional<int64_t> most_rows = {};  // M is at most this
  bool operator==(const BodyCondition&) const = default;

  bool is_general() const { return dims.empty() && !most_rows; }
};

// "seq=128", "seq=128 heads=12", "M<=4"; `names` are those of the call's dims.
std::string print_condition(const BodyCondition& when, const std::vector<std::string>& names);

}  // namespace gemmc
