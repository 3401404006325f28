// Weights -> an object file with one read-only symbol for each, or the bytes of a file; each at a multiple of 64 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/bundle.h"
#include "core/status.h"

namespace gemmc {

// Refuses more than the 2 GiB that code of the small model can reach over.
Expected<std::vector<uint8_t>> weights_object(const std::vector<Weights>& weights);

// Where each of the weights lies in the file.
std::vector<uint64_t> weights_offsets(const std::vector<Weights>& weights);
std::vector<uint8_t> weights_image(const std::vector<Weights>& weights);

}  // namespace gemmc
