#include "compiler/onnx_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "onnx.pb.h"

namespace gemmc {
namespace {

using ::onnx::AttributeProto;

// In parts of a graph. A part takes some bytes in a file, and no sane model unfolds to more than this.
constexpr int64_t kAlways = int64_t{1} << 16;
constexpr int64_t kMost = int64_t{1} << 22;

constexpr size_t kNameBytesPerPart = 256;  // names are hashed, compared and copied
constexpr size_t kEntriesPerPart = 16;     // of an attribute's list, which is copied

// What parts cost that have names, or are names.
template <typename Part>
size_t cost_of(const google::protobuf::RepeatedPtrField<Part>& parts) {
  size_t name_bytes = 0;
  for (const Part& part : parts) {
    if constexpr (std::is_same_v<Part, std::string>) {
      name_bytes += part.size();
    } else {
      name_bytes += part.name().size();
    }
  }
  return static_cast<size_t>(parts.size()) + name_bytes / kNameBytesPerPart;
}

}  // namespace

WorkBudget::WorkBudget(const ::onnx::ModelProto& model)
    : limit_(std::min(kMost, kAlways + static_cast<int64_t>(model.ByteSizeLong()))) {}

Status WorkBudget::charge(int64_t amount) {
  done_ += amount;
  if (done_ <= limit_) return Status::ok();
  return Status::invalid(
      fmt::format("the graph has more than {} nodes, operands, attributes and parts of long names and lists, counting "
                  "each call of a "
                  "function",
                  limit_));
}

Status WorkBudget::charge(const ::onnx::NodeProto& node) {
  const size_t name_bytes = node.name().size() + node.op_type().size() + node.domain().size() + node.overload().size();
  size_t entries = 0;
  for (const AttributeProto& attribute : node.attribute()) {
    entries += static_cast<size_t>(attribute.ints_size()) + static_cast<size_t>(attribute.floats_size());
  }
  return charge(static_cast<int64_t>(1 + cost_of(node.input()) + cost_of(node.output()) + cost_of(node.attribute()) +
                                     name_bytes / kNameBytesPerPart + entries / kEntriesPerPart));
}

Status WorkBudget::charge(const ::onnx::GraphProto& graph) {
  return charge(static_cast<int64_t>(1 + cost_of(graph.input()) + cost_of(graph.output()) +
                                     cost_of(graph.value_info()) + cost_of(graph.initializer())) +
                graph.sparse_initializer_size());
}

Status WorkBudget::charge(const ::onnx::FunctionProto& function) {
  return charge(static_cast<int64_t>(1 + cost_of(function.input()) + cost_of(function.output()) +
                                     cost_of(function.attribute_proto())));
}

}  // namespace gemmc
