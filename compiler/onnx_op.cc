#include "compiler/onnx_op.h"

#include <fmt/format.h>

#include "onnx.pb.h"

namespace gemmc {

std::string OnnxOp::name() const {
  return node->name().empty() ? fmt::format("{}_{}", node->op_type(), index) : node->name();
}

bool OnnxOp::is_standard() const { return node->domain().empty() || node->domain() == "ai.onnx"; }

const ::onnx::AttributeProto* OnnxOp::resolve(const ::onnx::AttributeProto& attribute) const {
  if (attribute.ref_attr_name().empty()) return &attribute;
  if (call == nullptr) return nullptr;
  const auto given = call->find(attribute.ref_attr_name());
  return given != call->end() ? given->second : nullptr;
}

bool OnnxOp::is_unknown(const ::onnx::AttributeProto& attribute) const {
  if (attribute.ref_attr_name().empty()) return false;
  if (call == nullptr) return true;
  const auto given = call->find(attribute.ref_attr_name());
  return given != call->end() && given->second == nullptr;
}

const ::onnx::AttributeProto* OnnxOp::attribute(std::string_view name) const {
  for (const ::onnx::AttributeProto& attribute : node->attribute()) {
    if (attribute.name() == name) return resolve(attribute);
  }
  return nullptr;
}

int64_t OnnxOp::integer(std::string_view name, int64_t otherwise) const {
  const ::onnx::AttributeProto* found = attribute(name);
  return found != nullptr && found->has_i() ? found->i() : otherwise;
}

std::optional<std::vector<int64_t>> OnnxOp::integers(std::string_view name) const {
  const ::onnx::AttributeProto* found = attribute(name);
  if (found == nullptr) return std::nullopt;
  return std::vector<int64_t>(found->ints().begin(), found->ints().end());
}

}  // namespace gemmc
