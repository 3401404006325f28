#include "compiler/bundle/weights_packer.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "compiler/bundle/kernel_arguments.h"
#include "core/loop_form.h"

namespace gemmc {

Expected<std::optional<size_t>> WeightsPacker::add(const Node& node, const Artifact& artifact) {
  const std::optional<PackedPanels> panels = packed_b(artifact);
  const Tensor* const b = node.inputs.at(1).data.get();
  if (!panels || b == nullptr) return std::optional<size_t>();
  const Problem& problem = artifact.problem;
  const LoopForm form = loop_form(problem);
  const size_t element_bytes = size_bytes(problem.dtype);
  if (b->dtype != problem.dtype || b->bytes.size() != static_cast<uint64_t>(panels->n * panels->k) * element_bytes) {
    return Status::internal(fmt::format("B has {} bytes of {}; expected: {} x {} of {}", b->bytes.size(),
                                        name(b->dtype), panels->k, panels->n, name(problem.dtype)));
  }
  // Values come dense, in the order of the node's shape, so the kernel's strides are theirs.
  std::vector<uint8_t> packed =
      pack(*panels, element_bytes, b->bytes.data(), *form.b.row.static_value(), *form.b.col.static_value());

  const size_t hash = std::hash<std::string_view>()({reinterpret_cast<const char*>(packed.data()), packed.size()});
  const auto [begin, end] = index_of_hash_.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    const PackedWeights& weights = weights_[known->second];
    if (weights.dtype == problem.dtype && weights.bytes == packed) return std::optional(known->second);
  }
  index_of_hash_.emplace(hash, weights_.size());
  weights_.push_back({"", problem.dtype, std::move(packed)});
  return std::optional(weights_.size() - 1);
}

std::vector<PackedWeights> WeightsPacker::take(const std::string& bundle_name) {
  for (size_t i = 0; i < weights_.size(); ++i) weights_[i].symbol = fmt::format("{}_b{}", bundle_name, i);
  index_of_hash_.clear();
  return std::exchange(weights_, {});
}

}  // namespace gemmc
