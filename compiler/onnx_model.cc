#include "compiler/onnx_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <set>
#include <unordered_map>

#include "compiler/onnx_file.h"
#include "compiler/onnx_fusion.h"
#include "compiler/onnx_graph.h"
#include "compiler/onnx_names.h"
#include "compiler/onnx_narrow.h"
#include "compiler/onnx_value.h"
#include "core/text.h"
#include "onnx.pb.h"

namespace gemmc {
namespace {

using ::onnx::AttributeProto;

// Nodes as the walk found them -> node descriptions.
class Description {
 public:
  Description(ModelFiles& files, ValueTable& table, ConstantValues values)
      : files_(files), table_(table), values_(values) {}

  // The names that nodes have in the file, before any is made up.
  void reserve_names(const std::vector<FoundNode>& nodes) {
    for (const FoundNode& found : nodes) names_.reserve(found.op.node->name());
  }

  Expected<ModelNode> describe(const FoundNode& found) {
    const ::onnx::NodeProto& proto = *found.op.node;
    GEMMC_RETURN_IF_ERROR(files_.charge(described_bytes(found), found.op.name()));
    ModelNode described;
    described.graph_path = found.graph_path;
    Node& node = described.node;
    node.name = proto.name().empty() ? names_.make_up(found.op.name()) : names_.take(proto.name());
    node.op_type = proto.op_type();
    node.opset = found.op.opset;
    node.outputs.assign(proto.output().begin(), proto.output().end());
    for (const AttributeProto& attribute : proto.attribute()) {
      const AttributeProto* given = found.op.resolve(attribute);
      // A reference to an attribute that the function's caller leaves out is an attribute that is not there.
      if (given == nullptr && !found.op.is_unknown(attribute)) continue;
      node.attributes.push_back(describe(attribute.name(), given));
    }
    for (size_t position = 0; position < found.inputs.size(); ++position) {
      const Value* value = found.inputs[position];
      Expected<NodeInput> input = describe(proto.input(static_cast<int>(position)), value, node.op_type);
      if (!input) return input.status().with_node(node.name);
      node.inputs.push_back(*std::move(input));
      const bool is_constant = value != nullptr && value->constant != nullptr;
      described.constant_origin.push_back(is_constant ? value->constant->chain() : "");
    }
    Expected<std::optional<ModelNode::Narrow>> narrow = describe_narrow(found, node);
    if (!narrow) return narrow.status().with_node(node.name);
    described.narrow = *std::move(narrow);
    if (found.output != nullptr) {
      const Expected<Fusion> fusion = find_fusion(found, files_);
      if (!fusion) return fusion.status().with_node(node.name);
      described.fusable.epilogue = fusion->steps;
      for (const Value* operand : fusion->operands) {
        Expected<std::shared_ptr<const Tensor>> data = data_of(operand == nullptr ? nullptr : operand->constant);
        if (!data) return data.status().with_node(node.name);
        described.fusable.epilogue_data.push_back(*std::move(data));
      }
      for (const GraphStep* step : fusion->replaced) described.fusable.replaces.push_back(step->op.name());
      described.fusable.output = fusion->result->name;
      described.fusable.end = one_line(fusion->end, kShownBytes);
      for (const Consumer& consumer : found.output->consumers) {
        described.consumers.push_back(
            fmt::format("{}{}", one_line(consumer.op_type, kShownBytes), consumer.has_constant ? "(constant)" : ""));
      }
    }
    return described;
  }

  const std::set<std::string>& runtime_dims() const { return runtime_dims_; }

 private:
  static constexpr size_t kShownBytes = 100;

  // About what the description takes in memory. A function's nodes are described anew for every call, with all that the
  // caller's operands have.
  static uint64_t described_bytes(const FoundNode& found) {
    uint64_t bytes = sizeof(ModelNode) + found.graph_path.size();
    for (const std::string& name : found.op.node->input()) bytes += sizeof(NodeInput) + name.size();
    for (const std::string& name : found.op.node->output()) bytes += sizeof(std::string) + name.size();
    for (const AttributeProto& attribute : found.op.node->attribute()) {
      bytes += sizeof(NodeAttribute) + attribute.name().size();
    }
    for (const Value* value : found.inputs) {
      if (value == nullptr || !value->shape) continue;
      for (const SymDim dim : *value->shape) bytes += sizeof(Dim) + (is_symbol(dim) ? kMaxDimNameBytes : 0);
    }
    return bytes;
  }

  // `given` is null where the value cannot be known: then it is none that node_to_problem() takes.
  static NodeAttribute describe(const std::string& name, const AttributeProto* given) {
    NodeAttribute attribute;
    attribute.name = name;
    if (given == nullptr) return attribute;
    // Old models leave the type out.
    const bool is_typed = given->type() != AttributeProto::UNDEFINED;
    if (is_typed ? given->type() == AttributeProto::INT : given->has_i()) {
      attribute.kind = NodeAttribute::Kind::kInt;
      attribute.int_value = given->i();
    } else if (is_typed ? given->type() == AttributeProto::FLOAT : given->has_f()) {
      attribute.kind = NodeAttribute::Kind::kFloat;
      attribute.float_value = given->f();
    }
    return attribute;
  }

  Expected<NodeInput> describe(const std::string& name, const Value* value, const std::string& op_type) {
    NodeInput input;
    input.name = name;
    if (value == nullptr) {
      input.is_absent = true;
      return input;
    }
    input.dtype = to_dtype(value->type);
    if (!input.dtype && value->type != 0) input.foreign_dtype = element_type_name(value->type);
    if (value->shape) {
      input.shape.emplace();
      for (const SymDim dim : *value->shape) {
        input.shape->push_back(table_.to_dim(dim));
        if (!input.shape->back().is_static()) runtime_dims_.insert(input.shape->back().name);
      }
    }
    input.is_constant = value->constant != nullptr;
    if (input.dtype && op_type != "MatMulInteger") {
      Expected<std::shared_ptr<const Tensor>> data = data_of(value->constant);
      if (!data) return data.status();
      input.data = *std::move(data);
    }
    return input;
  }

  // A scale would also scale C.
  Expected<std::optional<ModelNode::Narrow>> describe_narrow(const FoundNode& found, const Node& node) {
    std::optional<ModelNode::Narrow> described;
    const bool has_c = found.inputs.size() > 2 && found.inputs[2] != nullptr;
    if (found.inputs.size() < 2 || found.inputs[1] == nullptr) return described;
    const bool is_transposed = std::any_of(node.attributes.begin(), node.attributes.end(), [](const NodeAttribute& a) {
      return a.name == "transB" && a.int_value != 0;
    });
    const Expected<std::optional<NarrowWeights>> narrow =
        find_narrow_weights(found.inputs[1]->constant, is_transposed ? 0 : 1, files_);
    if (!narrow) return narrow.status();
    if (!*narrow || ((*narrow)->scale_step && has_c)) return described;
    Expected<std::shared_ptr<const Tensor>> values = data_of((*narrow)->stored), scale = data_of((*narrow)->scale);
    if (!values) return values.status();
    if (!scale) return scale.status();
    if (*scale != nullptr) {
      // Where a transposed B has its columns, they are no dimension at the end.
      Tensor flat = **scale;
      flat.shape =
          (*narrow)->scale_step->axis.empty() ? std::vector<int64_t>() : std::vector{*element_count(flat.shape)};
      *scale = std::make_shared<const Tensor>(std::move(flat));
    }
    described = {(*narrow)->storage, (*narrow)->stored->label, *std::move(values), (*narrow)->scale_step,
                 *std::move(scale)};
    return described;
  }

  // One tensor for all nodes that use the constant; null where its values are not asked for or cannot be known.
  Expected<std::shared_ptr<const Tensor>> data_of(const Constant& constant) {
    if (values_ == ConstantValues::kSkip || constant == nullptr) return {nullptr};
    const auto [entry, is_new] = data_.try_emplace(constant.get());
    if (!is_new) return entry->second;
    Expected<OnnxTensor> values = evaluate(*constant, files_);
    if (!values && values.status().code() != StatusCode::kUnsupported) return values.status();
    if (values) {
      entry->second = std::make_shared<const Tensor>(Tensor{*parse_storage_dtype(element_type_name(values->type)),
                                                            std::move(values->dims), std::move(values->bytes)});
    }
    return entry->second;
  }

  ModelFiles& files_;
  ValueTable& table_;
  ConstantValues values_;
  UniqueNames names_{'#'};
  std::unordered_map<const ConstantExpr*, std::shared_ptr<const Tensor>> data_;
  std::set<std::string> runtime_dims_;
};

Status check_sizes(const std::map<std::string, int64_t>& bindings) {
  for (const auto& [name, size] : bindings) {
    if (size < 0) {
      return Status::invalid(fmt::format("dimension {} is bound to {}; allowed: 0 and more", in_quotes(name), size));
    }
  }
  return Status::ok();
}

Status check_used(const std::map<std::string, int64_t>& bindings, const std::set<std::string>& names) {
  constexpr size_t kShown = 20;
  for (const auto& binding : bindings) {
    if (names.contains(binding.first)) continue;
    std::string list;
    size_t shown = 0;
    for (auto name = names.begin(); name != names.end() && shown < kShown; ++name, ++shown) {
      list += fmt::format("{}{}", shown == 0 ? "" : ", ", in_quotes(*name));
    }
    if (names.size() > kShown) list += fmt::format(" and {} more", names.size() - kShown);
    return Status::invalid(fmt::format("no dimension is named {}; the model has {}", in_quotes(binding.first),
                                       names.empty() ? "no named dimensions" : list));
  }
  return Status::ok();
}

// A bound dimension may have a size already that follows from other bound ones: then the two have to agree.
Status check_agreement(const std::map<std::string, int64_t>& bindings, const Model& free, const Model& bound) {
  for (size_t index = 0; index < free.nodes.size(); ++index) {
    const Node& node = bound.nodes[index].node;
    for (size_t position = 0; position < node.inputs.size(); ++position) {
      const std::optional<Shape>& named = free.nodes[index].node.inputs[position].shape;
      const std::optional<Shape>& sized = node.inputs[position].shape;
      for (size_t axis = 0; named && sized && axis < std::min(named->size(), sized->size()); ++axis) {
        const auto binding = bindings.find((*named)[axis].name);
        const Dim& dim = (*sized)[axis];
        if (binding == bindings.end() || !dim.is_static() || dim.size == binding->second) continue;
        return Status::invalid(fmt::format("dimension {} is bound to {}, but the other bound ones make it {}",
                                           in_quotes(binding->first), binding->second, dim.size))
            .with_node(node.name);
      }
    }
  }
  return Status::ok();
}

// One walk of the model. Adds the names of all dimensions that it meets to `names`.
Expected<Model> walk(const ::onnx::ModelProto& proto, ModelFiles& files, const std::map<std::string, int64_t>& bindings,
                     ConstantValues values, std::set<std::string>& names) {
  ValueTable table(bindings);
  const Expected<FoundNodes> found = find_nodes(proto, files, table);
  if (!found) return found.status();
  Model model;
  Description description(files, table, values);
  description.reserve_names(found->nodes);
  for (const FoundNode& node : found->nodes) {
    Expected<ModelNode> described = description.describe(node);
    if (!described) return described.status();
    model.nodes.push_back(*std::move(described));
  }
  model.runtime_dims.assign(description.runtime_dims().begin(), description.runtime_dims().end());
  names.insert(table.names().begin(), table.names().end());
  return model;
}

Expected<Model> load(const std::filesystem::path& path, const std::map<std::string, int64_t>& bindings,
                     ConstantValues values) {
  GEMMC_RETURN_IF_ERROR(check_sizes(bindings));
  ModelFiles files(path);
  const Expected<const ::onnx::ModelProto*> proto = files.read_model();
  if (!proto) return proto.status();
  std::set<std::string> names;
  Expected<Model> model = walk(**proto, files, bindings, values, names);
  if (!model) return model;
  if (!bindings.empty()) {
    // Which names can be bound does not depend on which are.
    const Expected<Model> free = walk(**proto, files, {}, ConstantValues::kSkip, names);
    if (!free) return free;
    GEMMC_RETURN_IF_ERROR(check_used(bindings, names));
    GEMMC_RETURN_IF_ERROR(check_agreement(bindings, *free, *model));
  }
  model->name = path.stem().string();
  return model;
}

}  // namespace

Expected<Model> load_model(const std::filesystem::path& path, const std::map<std::string, int64_t>& bindings,
                           ConstantValues values) {
  // The one place where what protobuf and the standard library throw becomes a Status.
  try {
    Expected<Model> model = load(path, bindings, values);
    if (model || model.status().code() != StatusCode::kInvalidArgument) return model;
    return Status::invalid(fmt::format("model {}: {}", in_quotes(path.native()), model.status().message()));
  } catch (const std::bad_alloc&) {
    return Status::environment(fmt::format("not enough memory to read model {}", in_quotes(path.native())));
  } catch (const std::exception& error) {
    return Status::internal(fmt::format("reading model {}: {}", in_quotes(path.native()), error.what()));
  } catch (...) {
    return Status::internal(fmt::format("reading model {}: an unknown exception", in_quotes(path.native())));
  }
}

}  // namespace gemmc
