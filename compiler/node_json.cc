// JSON text -> Node. Every object of the format has a table of its fields below; what is in no table is refused.
#include "compiler/node_json.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "compiler/npy.h"
#include "compiler/strict_json.h"
#include "core/dtype.h"
#include "core/text.h"

namespace gemmc {
namespace {

using Json = nlohmann::json;

// `where` is the path of the value in the text, "inputs[1].shape[0]".
Status expected(const std::string& where, std::string_view allowed, const Json& found) {
  const std::string value = found.is_object() ? "an object" : found.is_array() ? "an array" : found.dump();
  constexpr size_t kLimit = 80;
  return Status::invalid(fmt::format("{} is {}; allowed: {}", where, one_line(value, kLimit), allowed));
}

struct Field {
  std::string_view name;
  std::function<Status(const Json& value, const std::string& where)> read;
};

Status read_fields(const Json& object, const std::string& where, std::span<const Field> fields) {
  const std::string prefix = where.empty() ? "" : where + ".";
  for (const auto& [key, value] : object.items()) {
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == key; });
    if (field == fields.end()) {
      std::string allowed;
      for (const Field& f : fields) allowed += (allowed.empty() ? "" : ", ") + std::string(f.name);
      // Often written one level too high.
      const bool is_attribute = where.empty() && (is_scalar_attribute(key) || is_transposition_attribute(key));
      return Status::invalid(fmt::format("unknown field {}{}; allowed: {}{}", in_quotes(key),
                                         where.empty() ? "" : " in " + where, allowed,
                                         is_attribute ? "; this one belongs into attributes" : ""));
    }
    GEMMC_RETURN_IF_ERROR(field->read(value, prefix + std::string(field->name)));
  }
  return Status::ok();
}

// Calls read(entry, where) for each entry of an array.
template <typename Read>
Status read_array(const Json& json, const std::string& where, Read read) {
  // Far more than any array of the format needs: two bytes of text can make hundreds in memory.
  constexpr size_t kMaxEntries = 1000;
  if (!json.is_array()) return expected(where, "an array", json);
  if (json.size() > kMaxEntries) {
    return Status::invalid(fmt::format("{} has {} entries; allowed: up to {}", where, json.size(), kMaxEntries));
  }
  for (size_t i = 0; i < json.size(); ++i) GEMMC_RETURN_IF_ERROR(read(json[i], fmt::format("{}[{}]", where, i)));
  return Status::ok();
}

Status read_string(const Json& json, const std::string& where, std::string& result) {
  if (!json.is_string()) return expected(where, "a string", json);
  result = json.get<std::string>();
  return Status::ok();
}

Status read_bool(const Json& json, const std::string& where, bool& result) {
  if (!json.is_boolean()) return expected(where, "true or false", json);
  result = json.get<bool>();
  return Status::ok();
}

// The parser keeps integers exactly while they fit 64 bits with or without sign; all other numbers are floats to it.
std::optional<int64_t> exact_int64(const Json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return std::nullopt;
  }
  return json.get<int64_t>();
}

Status read_size(const Json& json, const std::string& where, int64_t& result) {
  const std::optional<int64_t> size = exact_int64(json);
  if (!size || *size < 0) return expected(where, "an integer from 0 to 2^63-1", json);
  result = *size;
  return Status::ok();
}

Status read_dtype(const Json& json, const std::string& where, std::optional<DType>& result) {
  if (json.is_string()) result = parse_dtype(json.get<std::string>());
  if (result) return Status::ok();
  return expected(
      where, "bfloat16, float16, float32, float64, int32, int64, uint32, uint64 (short: bf16, f16, f32 ...)", json);
}

Status read_storage(const Json& json, const std::string& where, std::optional<DType>& result) {
  if (json.is_string()) result = parse_storage_dtype(json.get<std::string>());
  return result ? Status::ok() : expected(where, "bfloat16, float16, float32, int8 (short: bf16, f16, f32, i8)", json);
}

// A '?' in front is the problem string's way to write a name.
Status read_dim_name(const Json& json, const std::string& where, std::string& name) {
  GEMMC_RETURN_IF_ERROR(read_string(json, where, name));
  if (!name.starts_with('?')) return Status::ok();
  return expected(where, "a run-time dimension's name, without '?' in front (equal names are equal sizes)", json);
}

Status read_dim_object(const Json& json, const std::string& where, Dim& dim) {
  const Field fields[] = {
      {"name", [&](const Json& value, const std::string& at) { return read_dim_name(value, at, dim.name); }},
      {"min", [&](const Json& value, const std::string& at) { return read_size(value, at, dim.min); }},
      {"max", [&](const Json& value, const std::string& at) { return read_size(value, at, dim.max); }},
      {"likely",
       [&](const Json& value, const std::string& at) {
         return read_array(value, at, [&](const Json& entry, const std::string& at_entry) {
           return read_size(entry, at_entry, dim.likely.emplace_back());
         });
       }},
  };
  GEMMC_RETURN_IF_ERROR(read_fields(json, where, fields));
  if (!dim.name.empty()) return Status::ok();
  return Status::invalid(where + " has no name; allowed: a run-time dimension's name, not empty");
}

Status read_dim(const Json& json, const std::string& where, Dim& dim) {
  if (json.is_object()) return read_dim_object(json, where, dim);
  if (json.is_string() && !json.get<std::string>().empty()) return read_dim_name(json, where, dim.name);
  if (json.is_number_integer() && read_size(json, where, dim.size).is_ok()) return Status::ok();
  return expected(where, "a size from 0 to 2^63-1, a run-time dimension's name, or an object with its name", json);
}

Status read_shape(const Json& json, const std::string& where, std::optional<Shape>& shape) {
  shape.emplace();
  return read_array(json, where, [&](const Json& entry, const std::string& at) {
    return read_dim(entry, at, shape->emplace_back());
  });
}

Status read_strides(const Json& json, const std::string& where, Strides& strides) {
  return read_array(json, where, [&](const Json& entry, const std::string& at) {
    const std::optional<int64_t> value = exact_int64(entry);
    if (!value && entry != "?")
      return expected(at, "a 64-bit integer, or \"?\" for a stride given by each call", entry);
    strides.push_back(value ? Stride::fixed(*value) : Stride::runtime());
    return Status::ok();
  });
}

// An input with what only the whole node can decide.
struct InputDraft {
  NodeInput input;
  std::optional<bool> is_constant;  // absent: by default
  std::string data;                 // path of the .npy file
};

bool is_absent(const Json& json) {
  return json.is_null() || json == "" ||
         (json.is_object() && json.size() == 1 && json.contains("name") && json["name"] == "");
}

Status read_input(const Json& json, const std::string& where, InputDraft& draft) {
  NodeInput& input = draft.input;
  input.is_absent = is_absent(json);
  if (input.is_absent) return Status::ok();
  if (!json.is_object()) return expected(where, "an object, or null for an absent input", json);
  const Field fields[] = {
      {"name", [&](const Json& value, const std::string& at) { return read_string(value, at, input.name); }},
      {"dtype", [&](const Json& value, const std::string& at) { return read_dtype(value, at, input.dtype); }},
      {"shape", [&](const Json& value, const std::string& at) { return read_shape(value, at, input.shape); }},
      {"strides", [&](const Json& value, const std::string& at) { return read_strides(value, at, input.strides); }},
      {"constant",
       [&](const Json& value, const std::string& at) { return read_bool(value, at, draft.is_constant.emplace()); }},
      {"data", [&](const Json& value, const std::string& at) { return read_string(value, at, draft.data); }},
      {"storage", [&](const Json& value, const std::string& at) { return read_storage(value, at, input.storage); }},
  };
  GEMMC_RETURN_IF_ERROR(read_fields(json, where, fields));
  if (json.contains("name") && input.name.empty()) {
    return Status::invalid(where +
                           " has an empty name, which means absent, and further fields; allowed: one of the two");
  }
  if (!json.contains("data")) return Status::ok();
  if (draft.data.empty() || draft.data.find('\0') != std::string::npos) {
    return expected(where + ".data", "the path of a .npy file", json["data"]);
  }
  if (draft.is_constant == false) {
    return Status::invalid(where + " has data and \"constant\": false; allowed: data of constants only");
  }
  if (!input.strides.empty()) {
    return Status::invalid(where + " has data and strides; allowed: data is dense, in the order of its file");
  }
  return Status::ok();
}

Status read_output(const Json& json, const std::string& where, Node& node) {
  std::string& name = node.outputs.emplace_back();
  if (!json.is_object()) return read_string(json, where, name);
  const Field fields[] = {
      {"name", [&](const Json& value, const std::string& at) { return read_string(value, at, name); }},
      {"strides", [&](const Json& value, const std::string& at) { return read_strides(value, at, node.y_strides); }},
  };
  return read_fields(json, where, fields);
}

Status read_attribute(const std::string& name, const Json& json, const std::string& where, NodeAttribute& attribute) {
  using Kind = NodeAttribute::Kind;
  attribute.name = name;
  const bool is_scalar = is_scalar_attribute(name);
  if (json.is_number() && (is_scalar || json.is_number_float())) {
    attribute.kind = Kind::kFloat;
    attribute.float_value = static_cast<float>(json.get<double>());
    if (!std::isfinite(attribute.float_value)) return expected(where, "a number that fits float32", json);
  } else if (json.is_number_integer()) {
    const std::optional<int64_t> value = exact_int64(json);
    if (!value) return expected(where, "a 64-bit integer", json);
    attribute.kind = Kind::kInt;
    attribute.int_value = *value;
  } else if (json.is_boolean() && !is_scalar) {
    attribute.kind = Kind::kInt;
    attribute.int_value = json.get<bool>() ? 1 : 0;
  }
  return Status::ok();
}

Status read_attributes(const Json& json, const std::string& where, std::vector<NodeAttribute>& attributes) {
  if (!json.is_object()) return expected(where, "an object", json);
  for (const auto& [name, value] : json.items()) {
    GEMMC_RETURN_IF_ERROR(read_attribute(name, value, where + "." + name, attributes.emplace_back()));
  }
  return Status::ok();
}

// The constants of a step have the names of ONNX's attributes: "alpha" of leaky_relu, "min" and "max" of clip.
Status read_epilogue_values(const Json& json, const std::string& where, EpilogueStep& step) {
  const EpilogueRule* rule = find_epilogue_rule(step.op);
  if (rule == nullptr) return Status::ok();  // validate() says so
  step.values.assign(rule->defaults.begin(), rule->defaults.end());
  for (const auto& [key, value] : json.items()) {
    if (key == "op" || key == "axis" || key == "name") continue;
    const auto place = std::find(rule->value_names.begin(), rule->value_names.end(), key);
    if (place == rule->value_names.end()) {
      const std::string values = fmt::format("{}", fmt::join(rule->value_names, ", "));
      return Status::invalid(fmt::format("unknown field {} in {}; allowed: op, axis, name{}{}", in_quotes(key), where,
                                         values.empty() ? "" : ", ", values));
    }
    NodeAttribute number;
    GEMMC_RETURN_IF_ERROR(read_attribute("alpha", value, where + "." + key, number));
    if (number.kind != NodeAttribute::Kind::kFloat) return expected(where + "." + key, "a number", value);
    step.values[static_cast<size_t>(place - rule->value_names.begin())] = number.float_value;
  }
  drop_default_values(step);
  return Status::ok();
}

Status read_epilogue_step(const Json& json, const std::string& where, EpilogueStep& step) {
  if (!json.is_object()) return expected(where, "an object with op, axis and name", json);
  const std::pair<const char*, std::string*> fields[] = {{"op", &step.op}, {"axis", &step.axis}, {"name", &step.name}};
  for (const auto& [key, field] : fields) {
    if (json.contains(key)) GEMMC_RETURN_IF_ERROR(read_string(json[key], where + "." + key, *field));
  }
  return read_epilogue_values(json, where, step);
}

Status read_order(const Json& json, const std::string& where, SummationOrder& order) {
  if (json != "k" && json != "any") return expected(where, "\"k\" or \"any\"", json);
  order = json == "k" ? SummationOrder::kByK : SummationOrder::kAny;
  return Status::ok();
}

Status read_lda_coeff(const Json& json, const std::string& where, double& coefficient) {
  if (!json.is_number()) return expected(where, "a number", json);
  coefficient = json.get<double>();
  return Status::ok();
}

// Gives the input the values of its file. Run-time dimensions that the file decides are bound in the whole node.
Status read_data(const std::string& where, const std::filesystem::path& path, NodeInput& input, Node& node) {
  Expected<Tensor> tensor = read_npy(path);
  if (!tensor) return tensor.status();
  std::optional<DType>& stored = input.storage ? input.storage : input.dtype;
  if (!stored) {
    if (!parse_dtype(name(tensor->dtype))) {
      return Status::invalid(fmt::format("{} has no storage, but {} has {}; allowed: \"storage\": \"{}\"", where,
                                         path.string(), name(tensor->dtype), name(tensor->dtype)));
    }
    stored = tensor->dtype;
  }
  if (*stored != tensor->dtype) {
    return Status::invalid(fmt::format("{} is {}, but {} has {}; allowed: the same", where, name(*stored),
                                       path.string(), name(tensor->dtype)));
  }
  if (!input.shape) {
    input.shape.emplace();
    for (int64_t extent : tensor->shape) input.shape->push_back(Dim::fixed(extent));
  }
  bool fits = input.shape->size() == tensor->shape.size();
  for (size_t i = 0; fits && i < tensor->shape.size(); ++i) {
    const Dim dim = (*input.shape)[i];
    if (!dim.is_static()) bind_dim(node, dim.name, tensor->shape[i]);
    fits = (*input.shape)[i].is(tensor->shape[i]);
  }
  if (!fits) {
    return Status::invalid(fmt::format("{} has another shape than {}, ({}); allowed: the same", where, path.string(),
                                       fmt::join(tensor->shape, ", ")));
  }
  input.data = std::make_shared<const Tensor>(*std::move(tensor));
  return Status::ok();
}

struct NodeDraft {
  Node node;
  std::vector<InputDraft> inputs;
  std::optional<bool> wants_training;  // absent: by default
  bool has_tool_keys = false;
};

// The keys of graph tools and what they are called here.
constexpr std::pair<std::string_view, std::string_view> kToolKeys[] = {
    {"specified_outputs_name", "outputs"}, {"training?", "training"}, {"lda coeff", "lda_coeff"}};

Status read_tool_keys(const Json& json, NodeDraft& draft) {
  for (const auto& [tool_key, key] : kToolKeys) {
    if (!json.contains(tool_key)) continue;
    draft.has_tool_keys = true;
    if (!json.contains(key)) continue;
    return Status::invalid(fmt::format("both '{}' and '{}' are given; allowed: one of them", key, tool_key));
  }
  return Status::ok();
}

Status read_node_fields(const Json& json, NodeDraft& draft) {
  using Where = const std::string&;
  Node& node = draft.node;
  const auto outputs = [&](const Json& value, Where where) {
    return read_array(value, where, [&](const Json& entry, Where at) { return read_output(entry, at, node); });
  };
  const auto training = [&](const Json& value, Where where) {
    return read_bool(value, where, draft.wants_training.emplace());
  };
  const auto lda_coeff = [&](const Json& value, Where where) { return read_lda_coeff(value, where, node.lda_coeff); };
  const Field fields[] = {
      {"name", [&](const Json& value, Where where) { return read_string(value, where, node.name); }},
      {"op_type", [&](const Json& value, Where where) { return read_string(value, where, node.op_type); }},
      {"domain", [&](const Json& value, Where where) { return read_string(value, where, node.domain); }},
      {"opset", [&](const Json& value, Where where) { return read_size(value, where, node.opset); }},
      {"inputs",
       [&](const Json& value, Where where) {
         return read_array(value, where, [&](const Json& entry, Where at) {
           return read_input(entry, at, draft.inputs.emplace_back());
         });
       }},
      {"outputs", outputs},
      {"attributes", [&](const Json& value, Where where) { return read_attributes(value, where, node.attributes); }},
      {"epilogue",
       [&](const Json& value, Where where) {
         return read_array(value, where, [&](const Json& entry, Where at) {
           return read_epilogue_step(entry, at, node.epilogue.emplace_back());
         });
       }},
      {"order", [&](const Json& value, Where where) { return read_order(value, where, node.order); }},
      {"training", training},
      {"lda_coeff", lda_coeff},
      {"doc_string", [](const Json& value,
                        Where where) { return value.is_string() ? Status::ok() : expected(where, "a string", value); }},
      {"metadata_props",
       [](const Json& value, Where where) {
         return value.is_structured() ? Status::ok() : expected(where, "an object or an array", value);
       }},
      {"specified_outputs_name", outputs},
      {"training?", training},
      {"lda coeff", lda_coeff},
  };
  GEMMC_RETURN_IF_ERROR(read_fields(json, "", fields));
  for (const char* key : {"op_type", "inputs"}) {
    if (!json.contains(key)) return Status::invalid(fmt::format("field '{}' is missing; it is needed", key));
  }
  return Status::ok();
}

Status read_node(const Json& json, const std::filesystem::path& directory, NodeDraft& draft) {
  Node& node = draft.node;
  if (const auto name = json.find("name"); name != json.end() && name->is_string()) {
    node.name = name->get<std::string>();  // before all others, whose errors name the node
  }
  GEMMC_RETURN_IF_ERROR(read_tool_keys(json, draft));
  GEMMC_RETURN_IF_ERROR(read_node_fields(json, draft));
  // The tools that write those keys train by default, and keep B and C of a Gemm as weights.
  node.wants_training = draft.wants_training.value_or(draft.has_tool_keys);
  for (size_t i = 0; i < draft.inputs.size(); ++i) {
    InputDraft& input = draft.inputs[i];
    const bool is_weight = draft.has_tool_keys && node.op_type == "Gemm" && i > 0;
    input.input.is_constant = !input.input.is_absent && (!input.data.empty() || input.is_constant.value_or(is_weight));
    input.input.is_constant_by_default = input.input.is_constant && input.data.empty() && !input.is_constant;
    if (!input.input.is_absent && input.input.name.empty() && i < 3) input.input.name = "ABC"[i];
    node.inputs.push_back(input.input);
  }
  for (size_t i = 0; i < draft.inputs.size(); ++i) {
    if (draft.inputs[i].data.empty()) continue;
    GEMMC_RETURN_IF_ERROR(
        read_data(fmt::format("inputs[{}]", i), directory / draft.inputs[i].data, node.inputs[i], node));
  }
  return Status::ok();
}

}  // namespace

Expected<Node> parse_node_json(std::string_view text, const std::filesystem::path& directory) {
  const Expected<Json> json = parse_strict_json(text);
  if (!json) return json.status();
  if (!json->is_object()) return expected("the description", "an object", *json);
  NodeDraft draft;
  const Status status = read_node(*json, directory, draft);
  if (!status.is_ok()) return status.with_node(draft.node.name);
  return draft.node;
}

}  // namespace gemmc
