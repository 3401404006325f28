// Weights -> the bytes of a file that is mapped at start, each at a multiple of kWeightsAlignment.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/bundle.h"

namespace gemmc {

// Where each of the weights lies in the file.
std::vector<uint64_t> weights_offsets(const std::vector<Weights>& weights);
// Of the whole file.
uint64_t weights_image_bytes(const std::vector<Weights>& weights);
std::vector<uint8_t> weights_image(const std::vector<Weights>& weights);

}  // namespace gemmc
