#include "compiler/bundle/library_weights.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "compiler/bundle/packed_b.h"
#include "core/loop_form.h"

namespace gemmc {

Expected<NodeWeights> LibraryWeights::add(const Node& node, const Artifact& artifact) {
  NodeWeights result;
  const auto keep = [](Expected<std::optional<size_t>> added, std::optional<size_t>& place) {
    if (added) place = *added;
    return added.status();
  };
  const Problem& problem = artifact.problem;
  const auto values = [&](size_t input) { return node.inputs.at(input).data.get(); };
  GEMMC_RETURN_IF_ERROR(keep(add_dense(values(0), problem.dtype), result.a));
  if (const std::optional<PackedPanels> panels = packed_b(artifact)) {
    GEMMC_RETURN_IF_ERROR(keep(add_packed_b(values(1), *panels, problem), result.packed_b));
  } else {
    GEMMC_RETURN_IF_ERROR(keep(add_dense(values(1), b_dtype(problem)), result.b));
  }
  const bool has_c = problem.c.has_value() && node.inputs.size() > 2;
  if (has_c) GEMMC_RETURN_IF_ERROR(keep(add_dense(values(2), problem.dtype), result.c));
  for (const size_t step : operand_steps(node.epilogue)) {
    std::optional<size_t>& place = result.epilogue.emplace_back();
    const Tensor* const known = step < node.epilogue_data.size() ? node.epilogue_data[step].get() : nullptr;
    GEMMC_RETURN_IF_ERROR(keep(add_dense(known, problem.dtype), place));
  }
  return result;
}

Expected<std::optional<size_t>> LibraryWeights::add_packed_b(const Tensor* b, const PackedPanels& panels,
                                                             const Problem& problem) {
  if (b == nullptr) return std::optional<size_t>();
  const LoopForm form = loop_form(problem);
  const DType dtype = b_dtype(problem);
  const size_t element_bytes = size_bytes(dtype);
  if (b->dtype != dtype || b->bytes.size() != static_cast<uint64_t>(panels.n * panels.k) * element_bytes) {
    return Status::internal(fmt::format("B has {} bytes of {}; expected: {} x {} of {}", b->bytes.size(),
                                        name(b->dtype), panels.k, panels.n, name(dtype)));
  }
  // Values come dense, in the order of the node's shape, so the kernel's strides are theirs.
  return std::optional(add_once(
      dtype, pack(panels, element_bytes, b->bytes.data(), *form.b.row.static_value(), *form.b.col.static_value())));
}

Expected<std::optional<size_t>> LibraryWeights::add_dense(const Tensor* values, DType dtype) {
  // C has no arrays of no elements, and kernels do not read them.
  if (values == nullptr || values->bytes.empty()) return std::optional<size_t>();
  if (values->dtype != dtype) {
    return Status::internal(
        fmt::format("a constant of {} for a kernel that reads {}", name(values->dtype), name(dtype)));
  }
  return std::optional(add_once(values->dtype, values->bytes));
}

size_t LibraryWeights::add_once(DType dtype, std::vector<uint8_t> bytes) {
  const size_t hash = std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto [begin, end] = index_of_hash_.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    const Weights& weights = weights_[known->second];
    if (weights.dtype == dtype && weights.bytes == bytes) return known->second;
  }
  index_of_hash_.emplace(hash, weights_.size());
  weights_.push_back({"", dtype, std::move(bytes)});
  return weights_.size() - 1;
}

std::vector<Weights> LibraryWeights::take(const std::string& bundle_name) {
  for (size_t i = 0; i < weights_.size(); ++i) weights_[i].symbol = fmt::format("{}_w{}", bundle_name, i);
  index_of_hash_.clear();
  return std::exchange(weights_, {});
}

}  // namespace gemmc
