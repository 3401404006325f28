// One node of a graph with what its meaning depends on: the operator set's version, and for a node in a function the
// attributes of the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace gemmc {

// What a call gives to a function, by attribute name, with the function's defaults. Null: it cannot be known.
using FunctionAttributes = std::unordered_map<std::string_view, const ::onnx::AttributeProto*>;

struct OnnxOp {
  const ::onnx::NodeProto* node = nullptr;
  const FunctionAttributes* call = nullptr;  // null outside functions, and in one that nothing calls
  int64_t opset = 0;                         // of the node's domain
  size_t index = 0;                          // of the node in its graph

  // The node's name, or "<operator>_<index>" where it has none.
  std::string name() const;
  // Of ONNX's own operators, not of another domain's.
  bool is_standard() const;

  // The attribute, or the caller's where it is a reference to one; null where the node or the caller gives none.
  const ::onnx::AttributeProto* attribute(std::string_view name) const;
  const ::onnx::AttributeProto* resolve(const ::onnx::AttributeProto& attribute) const;
  // Whether the attribute is a reference to one that no call gives, so that a default may not take its place either.
  bool is_unknown(const ::onnx::AttributeProto& attribute) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  std::optional<std::vector<int64_t>> integers(std::string_view name) const;
};

}  // namespace gemmc
