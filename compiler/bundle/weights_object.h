// Weights -> an object file with one read-only symbol for each, aligned to kWeightsAlignment.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/bundle.h"
#include "core/status.h"

namespace gemmc {

// Refuses more than the 2 GiB that code of the small model can reach over.
Expected<std::vector<uint8_t>> weights_object(const std::vector<Weights>& weights);

}  // namespace gemmc
