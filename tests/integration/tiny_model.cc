#include "tests/integration/tiny_model.h"

#include <cstring>

namespace gemmc::testing {
namespace {

// Protocol Buffers' wire format; field numbers are those of onnx.proto.
void add_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
void add_number(std::string& out, int field, uint64_t value) {
  add_varint(out, static_cast<uint64_t>(field) << 3);
  add_varint(out, value);
}
void add_bytes(std::string& out, int field, const std::string& bytes) {
  add_varint(out, static_cast<uint64_t>(field) << 3 | 2);
  add_varint(out, bytes.size());
  out += bytes;
}

std::string node_proto(const TinyNode& node) {
  std::string proto;
  for (const std::string& input : node.inputs) add_bytes(proto, 1, input);
  add_bytes(proto, 2, node.output);
  add_bytes(proto, 3, node.name);
  add_bytes(proto, 4, node.op_type);
  return proto;
}

std::string tensor_proto(const TinyWeights& weights) {
  std::string proto;
  size_t count = 1;
  for (const int64_t size : weights.shape) {
    add_number(proto, 1, static_cast<uint64_t>(size));
    count *= static_cast<size_t>(size);
  }
  add_number(proto, 2, 1);
  add_bytes(proto, 8, weights.name);
  std::string raw(count * sizeof(float), '\0');
  for (size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(i);
    std::memcpy(raw.data() + i * sizeof(float), &value, sizeof(float));
  }
  add_bytes(proto, 9, raw);
  return proto;
}

std::string value_info_proto(const TinyInput& input) {
  std::string shape;
  for (const auto& size : input.shape) {
    std::string dim;
    if (const auto* number = std::get_if<int64_t>(&size))
      add_number(dim, 1, static_cast<uint64_t>(*number));
    else
      add_bytes(dim, 2, std::get<std::string>(size));
    add_bytes(shape, 1, dim);
  }
  std::string tensor, type, proto;
  add_number(tensor, 1, static_cast<uint64_t>(input.element_type));
  add_bytes(tensor, 2, shape);
  add_bytes(type, 1, tensor);
  add_bytes(proto, 1, input.name);
  add_bytes(proto, 2, type);
  return proto;
}

}  // namespace

std::string encode(const TinyModel& model) {
  std::string graph;
  for (const TinyNode& node : model.nodes) add_bytes(graph, 1, node_proto(node));
  add_bytes(graph, 2, "tiny");
  for (const TinyWeights& weights : model.weights) add_bytes(graph, 5, tensor_proto(weights));
  for (const TinyInput& input : model.inputs) add_bytes(graph, 11, value_info_proto(input));
  for (const TinyNode& node : model.nodes) {
    std::string output;
    add_bytes(output, 1, node.output);
    add_bytes(graph, 12, output);
  }
  std::string opset, proto;
  add_number(opset, 2, 13);
  add_number(proto, 1, 8);
  add_bytes(proto, 7, graph);
  add_bytes(proto, 8, opset);
  return proto;
}

}  // namespace gemmc::testing
