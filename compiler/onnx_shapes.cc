#include "compiler/onnx_shapes.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "compiler/onnx_constant_ops.h"
#include "compiler/onnx_shape_ops.h"
#include "onnx.pb.h"

namespace gemmc {
namespace {

using ::onnx::TensorProto;
using Rule = Status (*)(const Inference&);

// Two dimensions that broadcast; nothing where only the call tells the result.
std::optional<SymDim> broadcast_dim(SymDim left, SymDim right) {
  if (left == right || right == 1) return left;
  if (left == 1) return right;
  if (is_symbol(left) == is_symbol(right)) return std::nullopt;
  return is_symbol(left) ? right : left;
}

Status infer_same(const Inference& inference) {
  if (const Value* input = inference.input(0)) inference.set_result(input->type, input->shape);
  return Status::ok();
}

Status infer_test(const Inference& inference) {
  if (const Value* input = inference.input(0)) inference.set_result(TensorProto::BOOL, input->shape);
  return Status::ok();
}

std::optional<SymShape> broadcast_all(const Inference& inference) {
  std::optional<SymShape> result;
  for (size_t position = 0; position < inference.inputs.size(); ++position) {
    const SymShape* shape = inference.shape(position);
    if (shape == nullptr) return std::nullopt;
    result = result ? broadcast(inference, *result, *shape) : *shape;
  }
  return result;
}

Status infer_elementwise(const Inference& inference) {
  inference.set_result(inference.type(0) != 0 ? inference.type(0) : inference.type(1), broadcast_all(inference));
  return Status::ok();
}

Status infer_comparison(const Inference& inference) {
  inference.set_result(TensorProto::BOOL, broadcast_all(inference));
  return Status::ok();
}

Status infer_where(const Inference& inference) {
  inference.set_result(inference.type(1) != 0 ? inference.type(1) : inference.type(2), broadcast_all(inference));
  return Status::ok();
}

Status infer_product(const Inference& inference, ElementType type) {
  inference.set_result(type, std::nullopt);
  const SymShape* a = inference.shape(0);
  const SymShape* b = inference.shape(1);
  if (a == nullptr || b == nullptr || a->empty() || b->empty()) return Status::ok();
  const size_t a_batch = a->size() - std::min<size_t>(a->size(), 2);
  const size_t b_batch = b->size() - std::min<size_t>(b->size(), 2);
  SymShape result = broadcast(inference, SymShape(a->begin(), a->begin() + static_cast<ptrdiff_t>(a_batch)),
                              SymShape(b->begin(), b->begin() + static_cast<ptrdiff_t>(b_batch)));
  if (a->size() > 1) result.push_back((*a)[a->size() - 2]);
  if (b->size() > 1) result.push_back(b->back());
  inference.set_result(type, std::move(result));
  return Status::ok();
}

Status infer_matmul(const Inference& inference) {
  return infer_product(inference, inference.type(0) != 0 ? inference.type(0) : inference.type(1));
}
Status infer_matmul_integer(const Inference& inference) { return infer_product(inference, TensorProto::INT32); }

Status infer_gemm(const Inference& inference) {
  const auto free_dim = [&](size_t position, bool is_second, size_t axis) {
    const SymShape* shape = inference.shape(position);
    return shape != nullptr && shape->size() == 2 ? (*shape)[is_second ? 1 : 0] : inference.unknown(axis);
  };
  const SymDim m = free_dim(0, inference.op.integer("transA", 0) != 0, 0);
  const SymDim n = free_dim(1, inference.op.integer("transB", 0) == 0, 1);
  inference.set_result(inference.type(0) != 0 ? inference.type(0) : inference.type(1), SymShape{m, n});
  return Status::ok();
}

// Spatial sizes depend on padding, strides and rounding: left unknown.
Status infer_spatial(const Inference& inference, const SymDim* channels) {
  inference.set_result(inference.type(0), std::nullopt);
  const SymShape* from = inference.shape(0);
  if (from == nullptr || from->size() < 2) return Status::ok();
  SymShape result = inference.unknown_shape(from->size());
  result[0] = (*from)[0];
  result[1] = channels != nullptr ? *channels : (*from)[1];
  inference.result().shape = std::move(result);
  return Status::ok();
}
Status infer_conv(const Inference& inference) {
  const SymShape* weights = inference.shape(1);
  if (weights == nullptr || weights->empty()) return Status::ok();
  return infer_spatial(inference, &weights->front());
}
Status infer_pool(const Inference& inference) { return infer_spatial(inference, nullptr); }

Status infer_global_pool(const Inference& inference) {
  GEMMC_RETURN_IF_ERROR(infer_same(inference));
  std::optional<SymShape>& shape = inference.result().shape;
  if (shape && shape->size() >= 2) std::fill(shape->begin() + 2, shape->end(), 1);
  return Status::ok();
}

Status infer_quantize(const Inference& inference) {
  const auto named_type = static_cast<ElementType>(inference.op.integer("output_dtype", 0));
  const ElementType type = inference.type(2) != 0 ? inference.type(2)
                           : named_type != 0      ? named_type
                                                  : TensorProto::UINT8;
  if (const Value* input = inference.input(0)) inference.set_result(type, input->shape);
  return Status::ok();
}

Status infer_dynamic_quantize(const Inference& inference) {
  if (const Value* input = inference.input(0)) inference.set_result(TensorProto::UINT8, input->shape);
  constexpr ElementType kTypes[] = {TensorProto::UINT8, TensorProto::FLOAT, TensorProto::UINT8};
  for (size_t position = 1; position < std::min<size_t>(3, inference.outputs.size()); ++position) {
    if (Value* output = inference.outputs[position]) {
      output->type = kTypes[position];
      output->shape = SymShape();
    }
  }
  return Status::ok();
}

// Operators whose results have the first operand's type, and a shape that is not worked out here.
Status infer_type_only(const Inference& inference) {
  for (Value* output : inference.outputs) {
    if (output != nullptr) output->type = inference.type(0);
  }
  return Status::ok();
}

using Rules = std::unordered_map<std::string_view, Rule>;

const Rules& standard_rules() {
  static const auto* const kRules = [] {
    auto* rules = new Rules{
        {"Constant", infer_constant},
        {"Identity", infer_identity},
        {"Cast", infer_cast},
        {"Mul", infer_multiply},
        {"Transpose", infer_transpose},
        {"Reshape", infer_reshape},
        {"Unsqueeze", infer_unsqueeze},
        {"DequantizeLinear", infer_dequantize},
        {"QuantizeLinear", infer_quantize},
        {"DynamicQuantizeLinear", infer_dynamic_quantize},
        {"MatMul", infer_matmul},
        {"MatMulInteger", infer_matmul_integer},
        {"Gemm", infer_gemm},
        {"Conv", infer_conv},
        {"Shape", infer_shape_of},
        {"Concat", infer_concat},
        {"Gather", infer_gather},
        {"Slice", infer_slice},
        {"Squeeze", infer_squeeze},
        {"Split", infer_split},
        {"Flatten", infer_flatten},
        {"Expand", infer_expand},
        {"Where", infer_where},
    };
    const auto add = [&](Rule rule, std::initializer_list<std::string_view> op_types) {
      for (const std::string_view op_type : op_types) rules->emplace(op_type, rule);
    };
    add(infer_same, {"Abs",
                     "BatchNormalization",
                     "Celu",
                     "Ceil",
                     "Clip",
                     "Cos",
                     "CumSum",
                     "Dropout",
                     "Elu",
                     "Erf",
                     "Exp",
                     "Floor",
                     "Gelu",
                     "GroupNormalization",
                     "HardSigmoid",
                     "HardSwish",
                     "Hardmax",
                     "InstanceNormalization",
                     "LayerNormalization",
                     "LeakyRelu",
                     "Log",
                     "LogSoftmax",
                     "LpNormalization",
                     "MeanVarianceNormalization",
                     "Mish",
                     "Neg",
                     "Reciprocal",
                     "Relu",
                     "RMSNormalization",
                     "Round",
                     "Selu",
                     "Sigmoid",
                     "Sign",
                     "Sin",
                     "Softmax",
                     "Softplus",
                     "Softsign",
                     "Sqrt",
                     "Swish",
                     "Tan",
                     "Tanh",
                     "ThresholdedRelu",
                     "Trilu"});
    add(infer_test, {"IsInf", "IsNaN", "Not"});
    add(infer_elementwise, {"Add", "Div", "Max", "Mean", "Min", "Mod", "PRelu", "Pow", "Sub", "Sum"});
    add(infer_comparison, {"And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or", "Xor"});
    add(infer_reduce, {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                       "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"});
    add(infer_type_only, {"Attention",
                          "Compress",
                          "ConvTranspose",
                          "DepthToSpace",
                          "Einsum",
                          "GRU",
                          "GatherElements",
                          "GatherND",
                          "GridSample",
                          "LSTM",
                          "Pad",
                          "RNN",
                          "Range",
                          "Resize",
                          "ReverseSequence",
                          "RotaryEmbedding",
                          "ScatterElements",
                          "ScatterND",
                          "SpaceToDepth",
                          "Tile"});
    add(infer_pool, {"AveragePool", "LpPool", "MaxPool"});
    add(infer_global_pool, {"GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"});
    return rules;
  }();
  return *kRules;
}

// ONNX Runtime's own operators, which its optimizer puts in the place of standard ones.
const Rules& runtime_rules() {
  static const auto* const kRules = new Rules{{"Attention", infer_type_only},
                                              {"BiasGelu", infer_same},
                                              {"FastGelu", infer_same},
                                              {"FusedMatMul", infer_type_only},
                                              {"Gelu", infer_same},
                                              {"GroupQueryAttention", infer_type_only},
                                              {"MatMulNBits", infer_type_only},
                                              {"MultiHeadAttention", infer_type_only},
                                              {"QuickGelu", infer_same},
                                              {"SkipLayerNormalization", infer_same},
                                              {"SkipSimplifiedLayerNormalization", infer_same}};
  return *kRules;
}

}  // namespace

const SymShape* Inference::shape(size_t position) const {
  const Value* value = input(position);
  return value != nullptr && value->shape ? &*value->shape : nullptr;
}

Expected<const SymShape*> Inference::contents(size_t position) const {
  const SymShape* const none = nullptr;
  Value* value = input(position);
  if (value == nullptr) return none;
  if (!value->contents && value->constant != nullptr) {
    Expected<std::optional<std::vector<int64_t>>> integers = small_integers(*value->constant, files);
    if (!integers) return integers.status();
    // Integers of the model that look like symbols are none.
    const bool is_usable = *integers && std::none_of((*integers)->begin(), (*integers)->end(), is_symbol);
    if (is_usable) value->contents = *std::move(integers);
  }
  return value->contents ? &*value->contents : none;
}

void Inference::set_result(ElementType type, std::optional<SymShape> shape) const {
  result().type = type;
  result().shape = std::move(shape);
}

SymShape Inference::unknown_shape(size_t rank) const {
  SymShape shape;
  for (size_t axis = 0; axis < rank; ++axis) shape.push_back(unknown(axis));
  return shape;
}

std::optional<size_t> normal_axis(int64_t axis, size_t rank) {
  const auto limit = static_cast<int64_t>(rank);
  if (axis < -limit || axis >= limit) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + limit : axis);
}

std::optional<SymDim> product(std::span<const SymDim> dims) {
  int64_t size = 1;
  std::optional<SymDim> symbol;
  for (const SymDim dim : dims) {
    if (!is_symbol(dim)) {
      if (__builtin_mul_overflow(size, dim, &size)) return std::nullopt;
    } else if (symbol) {
      return std::nullopt;
    } else {
      symbol = dim;
    }
  }
  if (!symbol) return size;
  return size == 1 ? symbol : std::nullopt;
}

SymShape broadcast(const Inference& inference, const SymShape& left, const SymShape& right) {
  const size_t rank = std::max(left.size(), right.size());
  SymShape result;
  for (size_t axis = 0; axis < rank; ++axis) {
    const auto dim = [&](const SymShape& shape) {
      return axis + shape.size() < rank ? SymDim{1} : shape[axis + shape.size() - rank];
    };
    result.push_back(broadcast_dim(dim(left), dim(right)).value_or(inference.unknown(axis)));
  }
  return result;
}

Status infer_outputs(const Inference& inference) {
  if (inference.outputs.empty() || inference.outputs[0] == nullptr) return Status::ok();
  const bool is_known_domain = inference.op.is_standard() || inference.op.node->domain() == "com.microsoft";
  if (!is_known_domain) return Status::ok();
  const Rules& rules = inference.op.is_standard() ? standard_rules() : runtime_rules();
  const auto rule = rules.find(inference.op.node->op_type());
  return rule != rules.end() ? rule->second(inference) : Status::ok();
}

bool is_elementwise_pair(const OnnxOp& op) {
  static const auto* const kPairs =
      new std::unordered_set<std::string_view>{"Add", "Div", "Max", "Min", "Mul", "PRelu", "Pow", "Sub"};
  return op.is_standard() && op.node->input_size() == 2 && kPairs->contains(op.node->op_type());
}

}  // namespace gemmc
