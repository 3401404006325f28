// gemmc list: every Gemm, MatMul and MatMulInteger node of a source.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <set>

#include "core/problem_shapes.h"
#include "core/problem_string.h"
#include "tools/command/text.h"
#include "tools/command/verbs.h"

namespace gemmc {
namespace {

struct ListOptions {
  KernelOptions kernel;
  bool as_json = false;
};

struct ListedOperand {
  char letter;
  std::string tensor;  // the input's name; empty: it has none
  std::string dtype;
  std::optional<DType> storage;  // absent: that type
  std::optional<Shape> shape;    // absent: unknown rank
  std::string constant;          // where its values come from; empty: it is no constant
};

std::vector<ListedOperand> operands(const SourceNode& from) {
  std::vector<ListedOperand> result;
  if (!from.node) {
    const Problem& p = *from.problem;
    const auto add = [&](char letter, const Operand& operand) {
      result.push_back({letter, "", std::string(name(p.dtype)), operand.storage,
                        operand.has_known_rank ? std::optional<Shape>(operand.shape) : std::nullopt,
                        operand.is_constant ? "constant" : ""});
    };
    add('A', p.a);
    add('B', p.b);
    if (p.c) add('C', *p.c);
    return result;
  }
  for (size_t i = 0; i < from.node->inputs.size(); ++i) {
    const NodeInput& input = from.node->inputs[i];
    if (input.is_absent) continue;
    const bool has_origin = i < from.constant_origin.size() && !from.constant_origin[i].empty();
    std::string dtype = input.dtype ? std::string(name(*input.dtype)) : input.foreign_dtype;
    if (dtype.empty()) dtype = from.problem ? std::string(name(from.problem->dtype)) : "type not known";
    result.push_back({static_cast<char>('A' + i), input.name, dtype, input.storage, input.shape,
                      has_origin          ? from.constant_origin[i]
                      : input.is_constant ? "constant"
                                          : ""});
  }
  return result;
}

Json node_json(const SourceNode& node) {
  Json json = {
      {"name", node.name}, {"op_type", node.op_type}, {"graph_path", node.graph_path}, {"output", node.output}};
  json["problem"] = node.problem ? Json(print_problem(*node.problem)) : Json();
  json["signature"] = node.problem ? Json(print_problem(canonical(*node.problem).problem)) : Json();
  json["refusal"] = node.refusal.is_ok() ? Json() : Json(node.refusal.message());
  json["inputs"] = Json::array();
  for (const ListedOperand& operand : operands(node)) {
    Json shape;
    if (operand.shape) {
      shape = Json::array();
      for (const Dim& dim : *operand.shape) shape.push_back(dim.is_static() ? Json(dim.size) : Json(dim.name));
    }
    json["inputs"].push_back({{"operand", std::string(1, operand.letter)},
                              {"tensor", operand.tensor},
                              {"dtype", operand.dtype},
                              {"storage", operand.storage ? Json(name(*operand.storage)) : Json()},
                              {"shape", shape},
                              {"constant", operand.constant.empty() ? Json() : Json(operand.constant)}});
  }
  json["consumers"] = node.consumers;
  json["fusable"] = Json();
  if (node.fusable) {
    json["fusable"] = {{"epilogue", print_epilogue(node.fusable->epilogue)},
                       {"replaces", node.fusable->replaces},
                       {"output", node.fusable->output},
                       {"end", node.fusable->end}};
  }
  json["narrow"] = Json();
  if (node.narrow) {
    json["narrow"] = {{"storage", name(node.narrow->storage)}, {"tensor", node.narrow->tensor}, {"scale", Json()}};
    if (node.narrow->scale_step) json["narrow"]["scale"] = print_epilogue(std::span(&*node.narrow->scale_step, 1));
  }
  json["notes"] = node.notes;
  return json;
}

void print_node(const SourceNode& node) {
  const std::string where = node.graph_path.empty() ? "" : " in " + node.graph_path;
  print_out("{}  ({}){}\n", one_line(node.name), one_line(node.op_type), one_line(where));
  if (node.problem && node.node) print_out("  problem  {}\n", one_line(print_problem(*node.problem)));
  for (const ListedOperand& operand : operands(node)) {
    const std::string shape = operand.shape ? shape_text(*operand.shape) : "unknown rank";
    const std::string constant = operand.constant.empty() ? "" : "  constant: " + operand.constant;
    const std::string storage = operand.storage ? fmt::format(" stored as {}", name(*operand.storage)) : "";
    const bool is_named = !operand.tensor.empty() && operand.tensor != std::string(1, operand.letter);
    const std::string tensor = is_named ? "  " + operand.tensor : "";
    print_out("  {}        {}{} {}{}{}\n", operand.letter, operand.dtype, storage, one_line(shape), one_line(tensor),
              one_line(constant));
  }
  if (!node.consumers.empty()) print_out("  then     {}\n", one_line(names_text(node.consumers)));
  if (node.fusable && !node.fusable->epilogue.empty()) {
    print_out("  fusable  {} (in place of {}; then: {})\n", one_line(print_epilogue(node.fusable->epilogue)),
              one_line(names_text(node.fusable->replaces)), node.fusable->end);
  } else if (node.fusable && !node.fusable->end.empty()) {
    print_out("  fusable  nothing ({})\n", node.fusable->end);
  }
  if (node.narrow) {
    const std::string scale =
        node.narrow->scale_step ? ", " + print_epilogue(std::span(&*node.narrow->scale_step, 1)) : "";
    print_out("  narrow   {} {}{}\n", name(node.narrow->storage), one_line(node.narrow->tensor), one_line(scale));
  }
  if (!node.refusal.is_ok()) print_out("  refused  {}\n", one_line(node.refusal.message()));
  for (const std::string& note : node.notes) print_out("  note     {}\n", note);
}

Status list(const ListOptions& options) {
  const Expected<Source> source = options.kernel.source(ConstantValues::kSkip);
  if (!source) return source.status();
  std::set<std::string> signatures;
  size_t refused = 0;
  for (const SourceNode& node : source->nodes) {
    if (node.refusal.is_ok())
      signatures.insert(print_problem(canonical(*node.problem).problem));
    else
      ++refused;
  }
  if (options.as_json) {
    Json json = {{"nodes", Json::array()}};
    for (const SourceNode& node : source->nodes) json["nodes"].push_back(node_json(node));
    json["signature_count"] = signatures.size();
    json["refused_count"] = refused;
    print_json(json);
    return Status::ok();
  }
  for (const SourceNode& node : source->nodes) print_node(node);
  print_out("{}, {}, {} refused\n", count_text(source->nodes.size(), "node"),
            count_text(signatures.size(), "distinct signature"), refused);
  return Status::ok();
}

}  // namespace

Verb add_list(CLI::App& app) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App* verb = app.add_subcommand("list", "The Gemm, MatMul and MatMulInteger nodes of a model");
  options->kernel.add_source(*verb);
  options->kernel.add_node(*verb);
  verb->add_flag("--json", options->as_json, "For machines");
  return {verb, [=] { return list(*options); }};
}

}  // namespace gemmc
