// The constant Bs of a build's nodes, packed as their kernels want them; equal ones once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/bundle.h"
#include "compiler/node.h"
#include "core/artifact.h"
#include "core/status.h"

namespace gemmc {

class WeightsPacker {
 public:
  // The index among the weights of the node's B, packed for the kernel that serves it. Absent where the kernel reads B
  // where it is, or the values are not known.
  Expected<std::optional<size_t>> add(const Node& node, const Artifact& artifact);

  // All of them, with symbols of this bundle: NAME_b0, NAME_b1, ... The packer is empty afterwards.
  std::vector<PackedWeights> take(const std::string& bundle_name);

 private:
  std::vector<PackedWeights> weights_;
  std::unordered_multimap<size_t, size_t> index_of_hash_;
};

}  // namespace gemmc
