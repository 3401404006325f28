#include "compiler/bundle/weights_image.h"

namespace gemmc {

std::vector<uint64_t> weights_offsets(const std::vector<Weights>& weights) {
  std::vector<uint64_t> offsets;
  uint64_t end = 0;
  for (const Weights& w : weights) {
    offsets.push_back((end + kWeightsAlignment - 1) / kWeightsAlignment * kWeightsAlignment);
    end = offsets.back() + w.bytes.size();
  }
  return offsets;
}

uint64_t weights_image_bytes(const std::vector<Weights>& weights) {
  return weights.empty() ? 0 : weights_offsets(weights).back() + weights.back().bytes.size();
}

std::vector<uint8_t> weights_image(const std::vector<Weights>& weights) {
  const std::vector<uint64_t> offsets = weights_offsets(weights);
  std::vector<uint8_t> image;
  for (size_t i = 0; i < weights.size(); ++i) {
    image.resize(offsets[i]);
    image.insert(image.end(), weights[i].bytes.begin(), weights[i].bytes.end());
  }
  return image;
}

}  // namespace gemmc
