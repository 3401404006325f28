// The values that a library holds for the kernels of its nodes: each B packed as its kernel wants it, each C and each
// operand of an epilogue as it is. Equal ones are held once.
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

class LibraryWeights {
 public:
  // Which of the weights serve the node in calls of its kernel, as far as values are known.
  Expected<NodeWeights> add(const Node& node, const Artifact& artifact);

  // All of them, with symbols of this bundle: NAME_w0, NAME_w1, ... Empty afterwards.
  std::vector<Weights> take(const std::string& bundle_name);

 private:
  Expected<std::optional<size_t>> add_packed_b(const Node& node, const Artifact& artifact);
  Expected<std::optional<size_t>> add_dense(const Tensor* values, const Artifact& artifact);
  size_t add_once(DType dtype, std::vector<uint8_t> bytes);

  std::vector<Weights> weights_;
  std::unordered_multimap<size_t, size_t> index_of_hash_;
};

}  // namespace gemmc
