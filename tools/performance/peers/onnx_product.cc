#include "tools/performance/peers/onnx_product.h"

namespace gemmc {
namespace {

// Field numbers are those of onnx.proto.
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

int onnx_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 1;
    case DType::kInt8:
      return 3;
    case DType::kInt32:
      return 6;
    case DType::kInt64:
      return 7;
    case DType::kFloat16:
      return 10;
    case DType::kFloat64:
      return 11;
    case DType::kUInt32:
      return 12;
    case DType::kUInt64:
      return 13;
    case DType::kBFloat16:
      return 16;
  }
  return 0;
}

OnnxProduct::Tensor tensor(DType dtype, const Product& product, int64_t rows, int64_t columns, bool is_shared) {
  OnnxProduct::Tensor result;
  if (product.batch > 1 && !is_shared) result.shape.push_back(product.batch);
  result.shape.insert(result.shape.end(), {rows, columns});
  result.bytes = size_bytes(dtype);
  for (const int64_t size : result.shape) result.bytes *= static_cast<size_t>(size);
  return result;
}

std::string value_info(const std::string& name, int type, const OnnxProduct::Tensor& tensor) {
  std::string shape, tensor_type, type_proto, proto;
  for (const int64_t size : tensor.shape) {
    std::string dim;
    add_number(dim, 1, static_cast<uint64_t>(size));
    add_bytes(shape, 1, dim);
  }
  add_number(tensor_type, 1, static_cast<uint64_t>(type));
  add_bytes(tensor_type, 2, shape);
  add_bytes(type_proto, 1, tensor_type);
  add_bytes(proto, 1, name);
  add_bytes(proto, 2, type_proto);
  return proto;
}

std::string initializer(const std::string& name, int type, const OnnxProduct::Tensor& tensor, const void* values) {
  std::string proto;
  for (const int64_t size : tensor.shape) add_number(proto, 1, static_cast<uint64_t>(size));
  add_number(proto, 2, static_cast<uint64_t>(type));
  add_bytes(proto, 8, name);
  add_bytes(proto, 9, std::string(static_cast<const char*>(values), tensor.bytes));
  return proto;
}

std::string integer_attribute(const std::string& name, bool value) {
  constexpr int kInteger = 2;
  std::string proto;
  add_bytes(proto, 1, name);
  add_number(proto, 3, value);
  add_number(proto, 20, kInteger);
  return proto;
}

}  // namespace

OnnxProduct::OnnxProduct(DType dtype, const Product& p)
    : type(onnx_type(dtype)),
      a(tensor(dtype, p, p.trans_a ? p.k : p.m, p.trans_a ? p.m : p.k, p.shares_a)),
      b(tensor(dtype, p, p.trans_b ? p.n : p.k, p.trans_b ? p.k : p.n, p.shares_b)),
      y(tensor(dtype, p, p.m, p.n, false)),
      trans_a(p.trans_a),
      trans_b(p.trans_b) {}

std::string OnnxProduct::model(const void* constant_b) const {
  constexpr uint64_t kIrVersion = 7, kOpset = 13;
  const bool is_gemm = trans_a || trans_b;
  std::string node, graph, opset, model;
  for (const char* input : {"A", "B"}) add_bytes(node, 1, input);
  add_bytes(node, 2, "Y");
  add_bytes(node, 4, is_gemm ? "Gemm" : "MatMul");
  if (is_gemm) {
    add_bytes(node, 5, integer_attribute("transA", trans_a));
    add_bytes(node, 5, integer_attribute("transB", trans_b));
  }
  add_bytes(graph, 1, node);
  add_bytes(graph, 2, "product");
  if (constant_b != nullptr) add_bytes(graph, 5, initializer("B", type, b, constant_b));
  add_bytes(graph, 11, value_info("A", type, a));
  if (constant_b == nullptr) add_bytes(graph, 11, value_info("B", type, b));
  add_bytes(graph, 12, value_info("Y", type, y));
  add_number(opset, 2, kOpset);
  add_number(model, 1, kIrVersion);
  add_bytes(model, 7, graph);
  add_bytes(model, 8, opset);
  return model;
}

}  // namespace gemmc
