// The values that a library holds for the kernels of its nodes: each B packed where its kernel wants that, every other
// constant operand as it is. Equal ones are held once.
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
#include "schedules/packed_panels.h"

namespace gemmc {

class LibraryWeights {
 public:
  // Which of the weights serve the node in calls of its kernel, as far as values are known.
  Expected<NodeWeights> add(const Node& node, const Artifact& artifact);

  // All of them, with symbols of this bundle: NAME_w0, NAME_w1, ... Empty afterwards.
  std::vector<Weights> take(const std::string& bundle_name);

 private:
  Expected<std::optional<size_t>> add_packed_b(const Tensor* b, const PackedPanels& panels, const Problem& problem);
  // `dtype`: of the elements that the kernel reads.
  Expected<std::optional<size_t>> add_dense(const Tensor* values, DType dtype);
  size_t add_once(DType dtype, std::vector<uint8_t> bytes);

  std::vector<Weights> weights_;
  std::unordered_multimap<size_t, size_t> index_of_hash_;
};

}  // namespace gemmc
