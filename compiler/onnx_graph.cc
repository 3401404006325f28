#include "compiler/onnx_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/onnx_constant_ops.h"
#include "compiler/onnx_declared.h"
#include "compiler/onnx_functions.h"
#include "compiler/onnx_fusion.h"
#include "compiler/onnx_names.h"
#include "compiler/onnx_shapes.h"
#include "compiler/onnx_work.h"
#include "core/text.h"
#include "onnx.pb.h"

namespace gemmc {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TypeProto;

constexpr size_t kMaxFoundNodes = size_t{1} << 16;
constexpr int kMaxCallDepth = 32;
constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kMaxPathBytes = 8192;

using GraphResults = std::vector<const Value*>;
using TypesByName = std::unordered_map<std::string_view, const TypeProto*>;

std::string joined(const std::string& path, const std::string& step) { return path.empty() ? step : path + "/" + step; }

struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string_view, Value*> values;  // null: a function's input that the call leaves out

  // The entry, in this scope or around it; null where there is none.
  Value* const* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      if (const auto found = scope->values.find(name); found != scope->values.end()) return &found->second;
    }
    return nullptr;
  }
};

// What the nodes of one list have in common.
struct Place {
  const OpsetVersions& opsets;
  const FunctionAttributes* call;  // see OnnxOp
  std::string path;
  int subgraph_depth;
  int call_depth;
  size_t graph = 0;  // see GraphStep; set where the list's walk begins
};

class Walk {
 public:
  Walk(const ::onnx::ModelProto& model, ModelFiles& files, ValueTable& table)
      : model_(model), files_(files), table_(table), work_(model) {}

  Expected<FoundNodes> run() {
    Expected<OnnxFunctions> functions = OnnxFunctions::index(model_);
    if (!functions) return functions.status();
    functions_ = *std::move(functions);
    const Expected<OpsetVersions> opsets = opset_versions(model_);
    if (!opsets) return opsets.status();
    const Expected<GraphResults> results = walk_graph(model_.graph(), nullptr, {*opsets, nullptr, "", 0, 0});
    if (!results) return results.status();
    for (OnnxFunction* function : functions_.in_file_order()) {
      if (function->is_walked) continue;
      const std::vector<Value*> inputs = unknown_inputs(*function->proto);
      Expected<std::vector<Value*>> outputs = walk_function(*function, inputs, nullptr, "", 1);
      if (!outputs) return outputs.status();
    }
    return std::move(found_);
  }

 private:
  DimNames dim_names() const { return open_functions_ > 0 ? DimNames::kFunction : DimNames::kModel; }

  // Makes a new tensor visible.
  Expected<Value*> define(Scope& scope, const std::string& name) {
    const auto [entry, is_new] = scope.values.try_emplace(name, nullptr);
    if (!is_new) return Status::invalid(fmt::format("tensor {} is defined twice", in_quotes(name)));
    return entry->second = table_.make(name);
  }

  Expected<GraphResults> walk_graph(const GraphProto& graph, const Scope* outer, const Place& place) {
    if (place.subgraph_depth > kMaxSubgraphDepth) {
      return Status::invalid(fmt::format("subgraphs are nested deeper than {}", kMaxSubgraphDepth));
    }
    GEMMC_RETURN_IF_ERROR(check_path_length(place.path));
    GEMMC_RETURN_IF_ERROR(work_.charge(graph));
    Scope scope{outer, {}};
    GEMMC_RETURN_IF_ERROR(define_inputs(graph, scope));
    TypesByName types;
    for (const auto* list : {&graph.value_info(), &graph.output()}) {
      for (const ::onnx::ValueInfoProto& info : *list) types.emplace(info.name(), &info.type());
    }
    GEMMC_RETURN_IF_ERROR(walk_nodes(graph.node(), scope, types, place));
    GraphResults results;
    for (const ::onnx::ValueInfoProto& output : graph.output()) {
      Value* const* value = scope.find(output.name());
      if (value == nullptr) {
        return Status::invalid(fmt::format("graph output {} is computed nowhere", in_quotes(output.name())));
      }
      if (*value != nullptr) (*value)->is_result = true;
      results.push_back(*value);
    }
    return results;
  }

  Status define_inputs(const GraphProto& graph, Scope& scope) {
    for (const ::onnx::ValueInfoProto& input : graph.input()) {
      Expected<Value*> value = define(scope, input.name());
      if (!value) return value.status();
      GEMMC_RETURN_IF_ERROR(declare(**value, input.type(), dim_names(), table_));
    }
    std::unordered_set<std::string_view> initialized;
    const auto initialize = [&](const std::string& name, Expected<Constant> constant) {
      if (!constant) return constant.status();
      // Since version 4 an initializer that is also an input is only its default.
      const bool is_input = scope.values.contains(name);
      Expected<Value*> value = is_input ? Expected<Value*>(scope.values[name]) : define(scope, name);
      if (!value) return value.status();
      if (!initialized.insert(name).second) {
        return Status::invalid(fmt::format("tensor {} is defined twice", in_quotes(name)));
      }
      if (!is_input || model_.ir_version() < 4) {
        set_constant(**value, *std::move(constant));
      } else if (!(*value)->shape) {
        (*value)->type = (*constant)->type;
        (*value)->shape = (*constant)->dims;
      }
      return Status::ok();
    };
    for (const ::onnx::TensorProto& tensor : graph.initializer()) {
      GEMMC_RETURN_IF_ERROR(initialize(tensor.name(), stored_constant(tensor, "initializer", tensor.name())));
    }
    for (const ::onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
      const std::string& name = tensor.values().name();
      GEMMC_RETURN_IF_ERROR(initialize(name, sparse_constant(tensor, "initializer", name)));
    }
    return Status::ok();
  }

  template <typename Nodes>
  Status walk_nodes(const Nodes& nodes, Scope& scope, const TypesByName& types, Place place) {
    place.graph = graph_count_++;
    for (int index = 0; index < nodes.size(); ++index) {
      OnnxOp op;
      op.node = &nodes[index];
      op.call = place.call;
      op.index = static_cast<size_t>(index);
      GEMMC_RETURN_IF_ERROR(walk_node(op, scope, types, place));
    }
    return Status::ok();
  }

  Status walk_node(OnnxOp& op, Scope& scope, const TypesByName& types, const Place& place) {
    const NodeProto& node = *op.node;
    GEMMC_RETURN_IF_ERROR(work_.charge(node));
    std::vector<Value*> inputs;
    for (const std::string& name : node.input()) {
      Value* const* value = name.empty() ? nullptr : scope.find(name);
      if (value == nullptr && !name.empty()) {
        return Status::invalid(
            fmt::format("node {} reads {}, which nothing before it defines: a cycle, an unsorted graph "
                        "or a missing tensor",
                        in_quotes(op.name()), in_quotes(name)));
      }
      inputs.push_back(value != nullptr ? *value : nullptr);
    }

    if (OnnxFunction* function = functions_.find(node)) {
      Expected<std::vector<Value*>> results = call_function(op, *function, inputs, place);
      if (!results) return results.status();
      return bind_outputs(op, *results, scope, types);
    }
    GEMMC_RETURN_IF_ERROR(set_opset(op, place));
    const Expected<std::vector<GraphResults>> bodies = walk_bodies(op, scope, place);
    if (!bodies) return bodies.status();
    std::vector<Value*> outputs;
    for (const std::string& name : node.output()) {
      Expected<Value*> value = name.empty() ? Expected<Value*>(nullptr) : define(scope, name);
      if (!value) return value.status();
      outputs.push_back(*value);
    }
    note_consumer(op, inputs, outputs, place);
    const auto is_unknown = [&](const AttributeProto& attribute) { return op.is_unknown(attribute); };
    if (std::none_of(node.attribute().begin(), node.attribute().end(), is_unknown)) {
      GEMMC_RETURN_IF_ERROR(infer_outputs({op, inputs, outputs, files_}));
    }
    if (op.is_standard() && node.op_type() == "If") join_branches(*bodies, outputs);
    for (Value* output : outputs) {
      if (output != nullptr) GEMMC_RETURN_IF_ERROR(refine(*output, output->name, types));
    }
    return note_product(op, inputs, outputs, place);
  }

  // Drops inferred ranks that are out of bounds and adds what the model says.
  Status refine(Value& value, std::string_view name, const TypesByName& types) {
    if (value.shape && value.shape->size() > kMaxRank) value.shape.reset();
    const auto type = types.find(name);
    return type != types.end() ? declare(value, *type->second, dim_names(), table_) : Status::ok();
  }

  Status set_opset(OnnxOp& op, const Place& place) {
    const auto version = place.opsets.find(standard_domain(op.node->domain()));
    if (version != place.opsets.end()) op.opset = version->second;
    if (!op.is_standard() || op.opset >= 1) return Status::ok();
    const std::string found = version == place.opsets.end() ? "no version" : fmt::format("version {}", op.opset);
    return Status::invalid(
        fmt::format("opset_import has {} for ONNX's own operators, needed by node {}", found, in_quotes(op.name())));
  }

  // The bodies that the node's attributes hold, with their results.
  Expected<std::vector<GraphResults>> walk_bodies(const OnnxOp& op, const Scope& scope, const Place& place) {
    std::vector<GraphResults> bodies;
    const auto walk = [&](const GraphProto& graph, const std::string& step) {
      const std::string path = joined(place.path, fmt::format("{}/{}", op.name(), step));
      Expected<GraphResults> results =
          walk_graph(graph, &scope, {place.opsets, place.call, path, place.subgraph_depth + 1, place.call_depth});
      if (results) bodies.push_back(*std::move(results));
      return results.status();
    };
    for (const AttributeProto& attribute : op.node->attribute()) {
      const AttributeProto* given = op.resolve(attribute);
      if (given == nullptr) continue;
      if (given->has_g()) GEMMC_RETURN_IF_ERROR(walk(given->g(), attribute.name()));
      for (int part = 0; part < given->graphs_size(); ++part) {
        GEMMC_RETURN_IF_ERROR(walk(given->graphs(part), fmt::format("{}_{}", attribute.name(), part)));
      }
    }
    return bodies;
  }

  // An If's results are known as far as its branches agree.
  static void join_branches(const std::vector<GraphResults>& branches, const std::vector<Value*>& outputs) {
    if (branches.size() != 2) return;
    const size_t count = std::min({branches[0].size(), branches[1].size(), outputs.size()});
    for (size_t position = 0; position < count; ++position) {
      const Value* left = branches[0][position];
      const Value* right = branches[1][position];
      Value* output = outputs[position];
      if (left == nullptr || right == nullptr || output == nullptr) continue;
      if (left->type == right->type) output->type = left->type;
      if (left->shape == right->shape) output->shape = left->shape;
    }
  }

  void note_consumer(const OnnxOp& op, const std::vector<Value*>& inputs, const std::vector<Value*>& outputs,
                     const Place& place) {
    const GraphStep* step = nullptr;
    if (may_be_fused(op) && outputs.size() == 1 && outputs[0] != nullptr) {
      step = &found_.steps.emplace_back(GraphStep{op, place.graph, {inputs.begin(), inputs.end()}, outputs[0]});
    }
    for (size_t position = 0; position < inputs.size(); ++position) {
      if (inputs[position] == nullptr) continue;
      const Value* other = is_elementwise_pair(op) ? inputs[1 - position] : nullptr;
      inputs[position]->consumers.push_back({op.node->op_type(), other != nullptr && other->constant != nullptr, step});
    }
  }

  Status note_product(const OnnxOp& op, const std::vector<Value*>& inputs, const std::vector<Value*>& outputs,
                      const Place& place) {
    const std::string& op_type = op.node->op_type();
    if (!op.is_standard() || (op_type != "Gemm" && op_type != "MatMul" && op_type != "MatMulInteger")) {
      return Status::ok();
    }
    if (found_.nodes.size() == kMaxFoundNodes) {
      return Status::invalid(fmt::format("the model has more than {} Gemm and MatMul nodes", kMaxFoundNodes));
    }
    GEMMC_RETURN_IF_ERROR(check_names(op, place.path));
    found_.nodes.push_back(
        {op, place.graph, place.path, {inputs.begin(), inputs.end()}, outputs.empty() ? nullptr : outputs[0]});
    return Status::ok();
  }

  static Status odd_name(const char* what, const std::string& name, size_t max_bytes) {
    return Status::invalid(fmt::format("{} {} has {} bytes; allowed: up to {} of printable UTF-8", what,
                                       in_quotes(name), name.size(), max_bytes));
  }

  // Also where no product follows, since every step of a path copies it.
  static Status check_path_length(const std::string& path) {
    return path.size() <= kMaxPathBytes ? Status::ok() : odd_name("the path of a node", path, kMaxPathBytes);
  }

  // The names that go into the results.
  static Status check_names(const OnnxOp& op, const std::string& path) {
    const auto check = [](const char* what, const std::string& name, size_t max_bytes) {
      return is_printable_name(name, max_bytes) ? Status::ok() : odd_name(what, name, max_bytes);
    };
    GEMMC_RETURN_IF_ERROR(check("a node's name", op.node->name(), kMaxNameBytes));
    GEMMC_RETURN_IF_ERROR(check("the path of a node", path, kMaxPathBytes));
    for (const auto* names : {&op.node->input(), &op.node->output()}) {
      for (const std::string& name : *names) GEMMC_RETURN_IF_ERROR(check("a tensor's name", name, kMaxNameBytes));
    }
    for (const AttributeProto& attribute : op.node->attribute()) {
      GEMMC_RETURN_IF_ERROR(check("an attribute's name", attribute.name(), kMaxNameBytes));
    }
    return Status::ok();
  }

  std::vector<Value*> unknown_inputs(const FunctionProto& proto) {
    std::vector<Value*> inputs;
    for (const std::string& name : proto.input()) inputs.push_back(table_.make(name));
    return inputs;
  }

  Expected<std::vector<Value*>> call_function(const OnnxOp& op, OnnxFunction& function, std::vector<Value*> inputs,
                                              const Place& place) {
    const FunctionProto& proto = *function.proto;
    if (inputs.size() > static_cast<size_t>(proto.input_size()) || op.node->output_size() > proto.output_size()) {
      return Status::invalid(fmt::format("node {} calls function {} with {} inputs and {} outputs; allowed: {} and {}",
                                         in_quotes(op.name()), function.quoted_name(), inputs.size(),
                                         op.node->output_size(), proto.input_size(), proto.output_size()));
    }
    inputs.resize(static_cast<size_t>(proto.input_size()), nullptr);
    const FunctionAttributes& attributes = found_.calls.emplace_back(call_attributes(op, proto));
    return walk_function(function, inputs, &attributes, joined(place.path, op.name()), place.call_depth + 1);
  }

  // The values of the function's outputs.
  Expected<std::vector<Value*>> walk_function(OnnxFunction& function, const std::vector<Value*>& inputs,
                                              const FunctionAttributes* call, const std::string& caller,
                                              int call_depth) {
    const FunctionProto& proto = *function.proto;
    if (function.is_open) return Status::invalid(fmt::format("function {} calls itself", function.quoted_name()));
    if (call_depth > kMaxCallDepth) {
      return Status::invalid(fmt::format("function calls are nested deeper than {}", kMaxCallDepth));
    }
    GEMMC_RETURN_IF_ERROR(work_.charge(proto));
    Scope scope;
    for (size_t position = 0; position < inputs.size(); ++position) {
      const std::string& name = proto.input(static_cast<int>(position));
      if (scope.values.emplace(name, inputs[position]).second) continue;
      return Status::invalid(fmt::format("function {} has input {} twice", function.quoted_name(), in_quotes(name)));
    }
    const std::string domain = proto.domain().empty() ? "ai.onnx" : proto.domain();
    const std::string path = joined(caller, fmt::format("function {}:{}", domain, proto.name()));
    GEMMC_RETURN_IF_ERROR(check_path_length(path));
    function.is_walked = function.is_open = true;
    ++open_functions_;
    const Status status = walk_nodes(proto.node(), scope, {}, {function.opsets, call, path, 0, call_depth});
    --open_functions_;
    function.is_open = false;
    GEMMC_RETURN_IF_ERROR(status);

    std::vector<Value*> outputs;
    for (const std::string& name : proto.output()) {
      Value* const* value = scope.find(name);
      if (value == nullptr) {
        return Status::invalid(
            fmt::format("output {} of function {} is computed nowhere", in_quotes(name), function.quoted_name()));
      }
      outputs.push_back(*value);
    }
    return outputs;
  }

  Status bind_outputs(const OnnxOp& op, const std::vector<Value*>& results, Scope& scope, const TypesByName& types) {
    for (int position = 0; position < op.node->output_size(); ++position) {
      const std::string& name = op.node->output(position);
      if (name.empty()) continue;
      Expected<Value*> value = define(scope, name);
      if (!value) return value.status();
      Value* result = results[static_cast<size_t>(position)];
      if (result != nullptr) scope.values[name] = result;
      GEMMC_RETURN_IF_ERROR(refine(*scope.values[name], name, types));
    }
    return Status::ok();
  }

  const ::onnx::ModelProto& model_;
  ModelFiles& files_;
  ValueTable& table_;
  FoundNodes found_;
  OnnxFunctions functions_;
  int open_functions_ = 0;
  size_t graph_count_ = 0;
  WorkBudget work_;
};

}  // namespace

Expected<FoundNodes> find_nodes(const ::onnx::ModelProto& model, ModelFiles& files, ValueTable& table) {
  return Walk(model, files, table).run();
}

}  // namespace gemmc
