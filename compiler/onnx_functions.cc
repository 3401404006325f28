#include "compiler/onnx_functions.h"

#include <fmt/format.h>

#include "core/text.h"
#include "onnx.pb.h"

namespace gemmc {
namespace {

using ::onnx::AttributeProto;
using ::onnx::FunctionProto;

template <typename Imports>
Expected<OpsetVersions> versions_of(const Imports& imports) {
  OpsetVersions versions;
  for (const ::onnx::OperatorSetIdProto& import : imports) {
    const auto [entry, is_new] = versions.emplace(standard_domain(import.domain()), import.version());
    if (!is_new && entry->second != import.version()) {
      return Status::invalid(fmt::format("opset_import has domain {} twice, with versions {} and {}",
                                         in_quotes(import.domain()), entry->second, import.version()));
    }
  }
  return versions;
}

std::string function_key(const std::string& domain, const std::string& name, const std::string& overload) {
  return fmt::format("{}\n{}\n{}", standard_domain(domain), name, overload);
}

}  // namespace

std::string standard_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

Expected<OpsetVersions> opset_versions(const ::onnx::ModelProto& model) { return versions_of(model.opset_import()); }

std::string OnnxFunction::quoted_name() const {
  return in_quotes(fmt::format("{}:{}", proto->domain(), proto->name()));
}

Expected<OnnxFunctions> OnnxFunctions::index(const ::onnx::ModelProto& model) {
  OnnxFunctions result;
  for (const FunctionProto& proto : model.functions()) {
    Expected<OpsetVersions> opsets = versions_of(proto.opset_import());
    if (!opsets) return opsets.status();
    const auto [entry, is_new] = result.functions_.try_emplace(
        function_key(proto.domain(), proto.name(), proto.overload()), OnnxFunction{&proto, *std::move(opsets)});
    OnnxFunction& function = entry->second;
    if (!is_new) return Status::invalid(fmt::format("function {} is defined twice", function.quoted_name()));
    result.in_file_order_.push_back(&function);
  }
  return result;
}

OnnxFunction* OnnxFunctions::find(const ::onnx::NodeProto& node) {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find(function_key(node.domain(), node.op_type(), node.overload()));
  return found != functions_.end() ? &found->second : nullptr;
}

FunctionAttributes call_attributes(const OnnxOp& call, const FunctionProto& function) {
  FunctionAttributes attributes;
  for (const AttributeProto& attribute : function.attribute_proto()) attributes[attribute.name()] = &attribute;
  for (const AttributeProto& attribute : call.node->attribute()) {
    const AttributeProto* given = call.resolve(attribute);
    if (given != nullptr || call.is_unknown(attribute)) attributes[attribute.name()] = given;
  }
  return attributes;
}

}  // namespace gemmc
