#include "tools/command/source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "compiler/node_json.h"
#include "compiler/strict_json.h"
#include "core/dim_names.h"
#include "core/problem_string.h"
#include "tools/command/text.h"

namespace gemmc {
namespace {

namespace fs = std::filesystem;

Expected<std::string> read_text(const fs::path& path) {
  const auto failure = [&](const std::string& why) {
    return Status::environment(fmt::format("cannot read {}: {}", path.string(), why));
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return failure(error ? error.message() : "No such file or directory");
  if (!fs::is_regular_file(status)) return failure("not a regular file");
  const uintmax_t size = fs::file_size(path, error);
  if (!error && size > kMaxJsonBytes) {
    return Status::invalid(fmt::format("{} has {} bytes; allowed: up to {}", path.string(), size, kMaxJsonBytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return failure(std::generic_category().message(errno));
  return text;
}

Status unknown_dim(const std::string& name, const std::set<std::string>& known) {
  return Status::invalid(fmt::format("--dim {}: no run-time dimension has this name; allowed: {}", name,
                                     names_text({known.begin(), known.end()})));
}

void collect_name(const Dim& dim, std::set<std::string>& names) {
  if (!dim.is_static()) names.insert(dim.name);
}

SourceNode from_node(Node node) {
  SourceNode result;
  result.name = node.name;
  result.op_type = node.op_type;
  if (!node.outputs.empty()) result.output = node.outputs[0];
  Expected<Problem> problem = node_to_problem(node);
  if (problem) {
    result.refusal = refuse_unbuilt(*problem).with_node(node.name);
    result.problem = *std::move(problem);
  } else {
    result.refusal = problem.status();
  }
  if (std::string note = unbuilt_wishes(node); !note.empty()) result.notes.push_back(std::move(note));
  result.node = std::move(node);
  return result;
}

// B in its narrower type, and its scale behind the product.
void read_as_stored(Node& node, const ModelNode::Narrow& narrow) {
  node.inputs[1].name = narrow.tensor;
  node.inputs[1].storage = narrow.storage;
  node.inputs[1].data = narrow.values;
  if (!narrow.scale_step) return;
  node.epilogue_data.resize(node.epilogue.size());
  node.epilogue.insert(node.epilogue.begin(), *narrow.scale_step);
  node.epilogue_data.insert(node.epilogue_data.begin(), narrow.scale);
}

Expected<Source> from_model(const fs::path& path, const SourceOptions& options) {
  Expected<Model> model = load_model(path, options.dims, options.values);
  if (!model) return model.status();
  Source source;
  source.name = model->name;
  for (ModelNode& from : model->nodes) {
    if (options.node && from.node.name != *options.node) continue;
    const bool fuses = options.fuse && !from.fusable.epilogue.empty();
    if (fuses) {
      from.node.epilogue = from.fusable.epilogue;
      from.node.epilogue_data = from.fusable.epilogue_data;
      from.node.outputs = {from.fusable.output};
    }
    if (options.narrow && from.narrow) read_as_stored(from.node, *from.narrow);
    SourceNode node = from_node(std::move(from.node));
    node.narrow = std::move(from.narrow);
    if (fuses) node.replaces = from.fusable.replaces;
    node.fusable = std::move(from.fusable);
    node.graph_path = std::move(from.graph_path);
    node.constant_origin = std::move(from.constant_origin);
    node.consumers = std::move(from.consumers);
    source.nodes.push_back(std::move(node));
  }
  if (options.node && source.nodes.empty()) {
    std::vector<std::string> names;
    // The names that were moved away above belong to nodes that matched: there are none here.
    for (const ModelNode& from : model->nodes) names.push_back(from.node.name);
    return Status::invalid(
        fmt::format("no node '{}' in {}; allowed: {}", *options.node, path.string(), names_text(names)));
  }
  return source;
}

Expected<Source> from_json(const std::string& text, const fs::path& directory, const std::string& name,
                           const SourceOptions& options) {
  Expected<Node> node = parse_node_json(text, directory);
  if (!node) return node.status();
  if (options.node && node->name != *options.node) {
    return Status::invalid(fmt::format("no node '{}' in the description; allowed: {}", *options.node, node->name));
  }
  std::set<std::string> known;
  for (const NodeInput& input : node->inputs) {
    for (const Dim& dim : input.shape.value_or(Shape())) collect_name(dim, known);
  }
  for (const auto& [dim, size] : options.dims) {
    if (!bind_dim(*node, dim, size)) return unknown_dim(dim, known).with_node(node->name);
  }
  if (options.values == ConstantValues::kSkip) {
    for (NodeInput& input : node->inputs) input.data.reset();
  }
  Source source;
  source.name = name;
  source.nodes.push_back(from_node(*std::move(node)));
  return source;
}

// There is nothing behind the product of a problem string or a description, and its B has one type.
Status refuse_model_options(const SourceOptions& options) {
  const auto refusal = [](const std::string& option, const std::string& instead) {
    return Status::invalid(
        fmt::format("{} is for models; allowed in a problem string or node description: {}", option, instead));
  };
  if (options.fuse) return refusal("--fuse", "the epilogue itself, epi=... or \"epilogue\"");
  if (options.narrow) return refusal("--narrow", "the type that B is stored in, storage=b:... or \"storage\"");
  return Status::ok();
}

// Binds the dimensions and checks the problem again.
Status bind_dims(Problem& problem, const std::map<std::string, int64_t>& dims) {
  std::set<std::string> known;
  for_each_dim(problem, [&](const Dim& dim) { collect_name(dim, known); });
  for (const auto& [dim, size] : dims) {
    if (!known.contains(dim)) return unknown_dim(dim, known);
    replace_dim(problem, dim, Dim::fixed(size));
  }
  return validate(problem);
}

Expected<Source> from_problem(const std::string& text, const SourceOptions& options) {
  Expected<Problem> problem = parse_problem(text);
  if (!problem) return problem.status();
  GEMMC_RETURN_IF_ERROR(bind_dims(*problem, options.dims));
  SourceNode node;
  node.name = print_problem(*problem);
  if (options.node) return Status::invalid("--node is for models and node descriptions, not for problem strings");
  node.op_type = problem->op == Operator::kGemm ? "Gemm" : "MatMul";
  node.refusal = refuse_unbuilt(*problem);
  node.problem = *std::move(problem);
  Source source;
  source.nodes.push_back(std::move(node));
  return source;
}

}  // namespace

Expected<Source> load_source(const std::string& text, const SourceOptions& options) {
  const fs::path path(text);
  const std::string first_word = text.substr(0, text.find_first_of(" \t"));
  const bool is_problem = first_word == "gemm" || first_word == "matmul", is_json = text.starts_with("{");
  if (!is_problem && !is_json && path.extension() == ".onnx") return from_model(path, options);
  GEMMC_RETURN_IF_ERROR(refuse_model_options(options));
  if (is_problem) return from_problem(text, options);
  if (is_json) return from_json(text, ".", "", options);
  if (path.extension() == ".json") {
    const Expected<std::string> json = read_text(path);
    if (!json) return json.status();
    Expected<Source> source = from_json(*json, path.parent_path(), path.stem().string(), options);
    if (source) return source;
    return Status(source.status().code(), path.string() + ": " + source.status().message());
  }
  return Status::invalid(
      fmt::format("'{}' is not a source; allowed: MODEL.onnx, NODE.json, JSON text, or a problem string, which starts "
                  "with 'gemm' or "
                  "'matmul'",
                  text));
}

Expected<SourceNode> only_node(Source source) {
  if (source.nodes.size() == 1) return std::move(source.nodes[0]);
  if (source.nodes.empty()) return Status::invalid("the model has no Gemm, MatMul or MatMulInteger node");
  std::vector<std::string> names;
  for (const SourceNode& node : source.nodes) names.push_back(node.name);
  return Status::invalid(
      fmt::format("the model has {} nodes; choose one with --node: {}", names.size(), names_text(names)));
}

}  // namespace gemmc
