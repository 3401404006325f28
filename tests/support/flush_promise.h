// Whether a kernel may take small factors and sums for 0: "Special values" in docs/numbers.md.
#pragma once

#include <algorithm>
#include <utility>

#include "core/artifact.h"
#include "schedules/schedule.h"
#include "tests/support/kernel_run.h"

namespace gemmc::testing {

// Whether one of its bodies may.
inline bool may_flush(const Artifact& artifact) {
  const auto has_pairs = [](const std::string& schedule) { return parse_schedule(schedule)->pairs_products; };
  return has_pairs(artifact.schedule) ||
         std::any_of(artifact.variants.begin(), artifact.variants.end(),
                     [&](const ArtifactVariant& variant) { return has_pairs(variant.schedule); });
}

// `check`, with what the kernel may flush allowed.
inline Check check_for(const Artifact& artifact, Check check) {
  if (!may_flush(artifact)) return check;
  return [check = std::move(check)](const oracle::Product& product, const oracle::View& y,
                                    const std::vector<uint8_t>& values) {
    oracle::Product flushing = product;
    flushing.may_flush = true;
    return check(flushing, y, values);
  };
}

}  // namespace gemmc::testing
