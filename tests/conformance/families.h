// The kernel families as conformance programs go through them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/target.h"
#include "schedules/schedule.h"

namespace gemmc::testing {

constexpr Family kAllFamilies[] = {Family::kTiled, Family::kGeneral};

// By its name().
std::optional<Family> parse_family(std::string_view text);

// Those that take products of the type on the target at all, which are those that take a plain, static one; of these
// only the one of --family, where that was given.
std::vector<Family> families_for(DType dtype, const Target& target);

}  // namespace gemmc::testing
