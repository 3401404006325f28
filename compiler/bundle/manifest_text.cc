#include "compiler/bundle/manifest_text.h"

#include <fmt/format.h>
#include <gemmc_public_text.h>

#include <nlohmann/json.hpp>

#include "compiler/bundle/kernel_arguments.h"
#include "compiler/bundle/packed_b.h"
#include "compiler/bundle/variants_json.h"
#include "compiler/bundle/weights_image.h"
#include "compiler/compile.h"
#include "core/problem_string.h"

namespace gemmc {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kFormat = 1;

// What the problem in a manifest calls its dimensions: d0, d1, ...
std::vector<std::string> canonical_dim_names(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("d{}", i));
  return names;
}

Json kernel_json(const Artifact& artifact) {
  const KernelArguments arguments = kernel_arguments(artifact.problem, {});
  return {{"symbol", artifact.symbol},
          {"uniform_symbol", artifact.symbol + "_call"},
          {"object", artifact.symbol + ".o"},
          {"bytes", artifact.object.size()},
          {"problem", print_problem(artifact.problem)},
          {"epilogue", arguments.epilogue},
          {"dim_count", arguments.dims.size()},
          {"strides", arguments.strides},
          {"packed_b_bytes", packed_b_bytes(artifact).value_or(0)},
          {"scratch_bytes", artifact.scratch_bytes},
          {"target", artifact.target.to_string()},
          {"schedule", artifact.schedule},
          {"variants", variants_json(artifact, canonical_dim_names(arguments.dims.size()))},
          {"key", artifact.key_text}};
}

Json symbol_json(const Bundle& bundle, const std::optional<size_t>& weights) {
  return weights ? Json(bundle.weights[*weights].symbol) : Json();
}

Json node_json(const Bundle& bundle, const BundleNode& node) {
  const Artifact& artifact = bundle.artifacts[node.artifact];
  Json epilogue = Json::array();
  for (size_t i = 0; i < node.epilogue.size(); ++i) {
    const bool is_known = i < node.weights.epilogue.size();
    epilogue.push_back(
        {{"tensor", node.epilogue[i]}, {"weights", is_known ? symbol_json(bundle, node.weights.epilogue[i]) : Json()}});
  }
  return {{"name", node.name},
          {"graph_path", node.graph_path},
          {"output", node.output},
          {"problem", node.problem},
          {"replaces", node.replaces},
          {"symbol", artifact.symbol},
          {"dims", node.dims},
          {"stride_count", kernel_arguments(artifact.problem, node.dims).strides.size()},
          {"inputs", node.inputs},
          {"a", symbol_json(bundle, node.weights.a)},
          {"b", symbol_json(bundle, node.weights.b)},
          {"packed_b", symbol_json(bundle, node.weights.packed_b)},
          {"c", symbol_json(bundle, node.weights.c)},
          {"epilogue", epilogue},
          {"notes", node.notes}};
}

}  // namespace

std::string manifest_text(const Bundle& bundle, bool has_shared_library) {
  Json manifest = {
      {"format", kFormat}, {"name", bundle.name}, {"gemmc", kGemmcVersion}, {"compiler", compiler_identity()}};
  manifest["header"] = bundle.name + ".h";
  manifest["static_library"] = "lib" + bundle.name + ".a";
  manifest["shared_library"] = has_shared_library ? Json("lib" + bundle.name + ".so") : Json();
  manifest["kernels"] = Json::array();
  for (const Artifact& artifact : bundle.artifacts) manifest["kernels"].push_back(kernel_json(artifact));
  manifest["nodes"] = Json::array();
  for (const BundleNode& node : bundle.nodes) {
    manifest["nodes"].push_back(node_json(bundle, node));
  }
  manifest["weights"] = Json::array();
  const std::vector<uint64_t> offsets = weights_offsets(bundle.weights);
  for (size_t i = 0; i < bundle.weights.size(); ++i) {
    Json weights = {{"symbol", bundle.weights[i].symbol}};
    if (bundle.has_weights_in_file) {
      weights["file"] = weights_file_name(bundle);
      weights["offset"] = offsets[i];
    } else {
      weights["object"] = weights_file_name(bundle);
    }
    weights["bytes"] = bundle.weights[i].bytes.size();
    manifest["weights"].push_back(std::move(weights));
  }
  manifest["refused"] = Json::array();
  for (const RefusedNode& node : bundle.refused) {
    manifest["refused"].push_back(
        {{"name", node.name}, {"graph_path", node.graph_path}, {"op_type", node.op_type}, {"reason", node.reason}});
  }
  // Names come from models, which may hold any bytes.
  return manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gemmc
