// A kernel's variants as JSON, for manifests and for the command's own output: one form for both.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/artifact.h"

namespace gemmc {

// [{"dims": {"seq": 128}, "most_rows": null, "schedule": "..."}]; `dim_names` are what to call the run-time dimensions,
// in the order of the call.
nlohmann::ordered_json variants_json(const Artifact& artifact, const std::vector<std::string>& dim_names);

}  // namespace gemmc
