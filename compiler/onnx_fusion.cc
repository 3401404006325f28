#include "compiler/onnx_fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "compiler/onnx_elements.h"
#include "core/text.h"

namespace gemmc {
namespace {

constexpr std::string_view kOperators[] = {"Add",     "Mul",  "Div",       "Relu", "LeakyRelu", "Clip",
                                           "Sigmoid", "Tanh", "HardSwish", "Gelu", "Erf"};

// Exporters write sqrt 2 and its inverse in the model's type.
constexpr double kConstantTolerance = 1e-3;

bool is_op(const GraphStep* step, std::string_view op_type) {
  return step != nullptr && step->op.node->op_type() == op_type;
}

class Chain {
 public:
  Chain(const FoundNode& product, ModelFiles& files) : product_(product), files_(files) {
    fusion_.result = product.output;
  }

  Expected<Fusion> run() {
    if (!product_.output->shape || !to_dtype(product_.output->type)) {
      fusion_.end = "its shape or type is not known";
      return std::move(fusion_);
    }
    while (true) {
      const Expected<bool> has_grown = grow();
      if (!has_grown) return has_grown.status();
      if (!*has_grown) return std::move(fusion_);
    }
  }

 private:
  // Takes in what reads the result so far. False where the chain ends.
  Expected<bool> grow() {
    const Value& value = *fusion_.result;
    if (value.is_result) return ends("it is a result of the graph");
    if (value.consumers.empty()) return ends("nothing reads it");
    if (value.consumers.size() == 1) {
      const GraphStep* step = sole_reader(value);
      return step == nullptr ? ends(std::string(value.consumers[0].op_type)) : take(*step);
    }
    if (value.consumers.size() == 2) {
      const Expected<bool> is_pattern = take_pattern(value);
      if (!is_pattern || *is_pattern) return is_pattern;
    }
    return ends(fmt::format("{} nodes read it", value.consumers.size()));
  }

  bool ends(std::string reason) {
    fusion_.end = std::move(reason);
    return false;
  }

  // The only node that reads the value, of this graph and of an operator that matters; else null.
  const GraphStep* sole_reader(const Value& value) const {
    if (value.is_result || value.consumers.size() != 1) return nullptr;
    return in_this_graph(value.consumers[0].step);
  }
  const GraphStep* in_this_graph(const GraphStep* step) const {
    return step != nullptr && step->graph == product_.graph ? step : nullptr;
  }

  Expected<bool> take(const GraphStep& step) {
    const std::string& op_type = step.op.node->op_type();
    if (op_type == "Add" || op_type == "Mul") return take_pair(step);
    EpilogueStep taken;
    if (op_type == "Relu") taken.op = "relu";
    if (op_type == "Sigmoid") taken.op = "sigmoid";
    if (op_type == "Tanh") taken.op = "tanh";
    if (op_type == "HardSwish") taken.op = "hard_swish";
    if (op_type == "LeakyRelu") {
      taken.op = "leaky_relu";
      const ::onnx::AttributeProto* alpha = step.op.attribute("alpha");
      if (alpha != nullptr) taken.values = {alpha->f()};
    }
    if (op_type == "Gelu") {
      const ::onnx::AttributeProto* approximate = step.op.attribute("approximate");
      taken.op = approximate != nullptr && approximate->s() == "tanh" ? "gelu_tanh" : "gelu";
    }
    if (op_type == "Clip") {
      const Expected<std::optional<std::vector<float>>> bounds = clip_bounds(step);
      if (!bounds) return bounds.status();
      if (!*bounds) return ends("Clip with bounds that are not known");
      taken.op = "clip";
      taken.values = **bounds;
    }
    if (taken.op.empty()) return ends(op_type);
    return add(std::move(taken), {&step});
  }

  // Add or Mul of one other operand that lies over the product's result.
  Expected<bool> take_pair(const GraphStep& step) {
    const Value* other = other_input(step, *fusion_.result);
    const std::string& op_type = step.op.node->op_type();
    const std::optional<std::string> axis = other != nullptr ? axis_of(*other) : std::nullopt;
    if (!axis) return ends(op_type + " of another shape");
    // Of two products that are added, the later one takes the sum in.
    const bool is_ready = other->constant != nullptr || other->id < product_.output->id;
    if (!is_ready) return ends(op_type + " of a tensor that is computed later");
    const bool is_residual = *axis == "mn" && op_type == "Add";
    EpilogueStep taken{.op = is_residual        ? "residual"
                             : op_type == "Add" ? "bias"
                                                : "scale",
                       .axis = is_residual ? "" : *axis,
                       .name = std::string(other->name)};
    return add(std::move(taken), {&step}, other);
  }

  static const Value* other_input(const GraphStep& step, const Value& one) {
    if (step.inputs.size() != 2) return nullptr;
    return step.inputs[0] == &one ? step.inputs[1] : step.inputs[0];
  }

  // How an operand lies over the result, without making it larger; nothing where it lies otherwise.
  std::optional<std::string> axis_of(const Value& operand) const {
    const SymShape& y = *product_.output->shape;
    if (operand.type != product_.output->type || !operand.shape || operand.shape->size() > y.size())
      return std::nullopt;
    const SymShape& shape = *operand.shape;
    const auto ones = static_cast<size_t>(std::count(shape.begin(), shape.end(), SymDim{1}));
    if (ones == shape.size()) return "";
    if (shape == y) return "mn";
    // The last dimension of a product with a vector is not its columns.
    const bool has_columns = product_.inputs[1]->shape && product_.inputs[1]->shape->size() >= 2;
    if (has_columns && ones + 1 == shape.size() && shape.back() == y.back()) return "n";
    return std::nullopt;
  }

  Expected<bool> add(EpilogueStep step, const std::vector<const GraphStep*>& replaced, const Value* operand = nullptr) {
    const std::span<const EpilogueStep> alone(&step, 1);
    const DType dtype = *to_dtype(product_.output->type);
    Status allowed = check_epilogue(alone, dtype);
    if (allowed.is_ok()) allowed = refuse_unbuilt_steps(alone, dtype);
    if (!allowed.is_ok()) return ends(allowed.message());
    drop_default_values(step);
    fusion_.steps.push_back(std::move(step));
    fusion_.operands.push_back(operand);
    fusion_.replaced.insert(fusion_.replaced.end(), replaced.begin(), replaced.end());
    fusion_.result = replaced.back()->output;
    return true;
  }

  // Two nodes read the value and meet again.
  Expected<bool> take_pattern(const Value& value) {
    const GraphStep* first = in_this_graph(value.consumers[0].step);
    const GraphStep* second = in_this_graph(value.consumers[1].step);
    if (first == nullptr || second == nullptr || first == second) return false;
    for (const auto& [inner, outer] : {std::pair(first, second), std::pair(second, first)}) {
      if (is_op(inner, "Sigmoid") && is_op(outer, "Mul") && sole_reader(*inner->output) == outer) {
        return add({.op = "silu", .axis = "", .name = ""}, {inner, outer});
      }
      const Expected<bool> is_gelu = take_gelu(value, *inner, *outer);
      if (!is_gelu || *is_gelu) return is_gelu;
    }
    return false;
  }

  // `scaled` begins Erf(value / sqrt 2), `outer` is the product with value, or half of value.
  Expected<bool> take_gelu(const Value& value, const GraphStep& scaled, const GraphStep& outer) {
    const Expected<bool> is_over_root = is_scaled_by(scaled, value, 1 / std::numbers::sqrt2);
    if (!is_over_root || !*is_over_root) return is_over_root;
    const GraphStep* erf = sole_reader(*scaled.output);
    if (!is_op(erf, "Erf")) return false;
    const GraphStep* sum = sole_reader(*erf->output);
    if (!is_op(sum, "Add")) return false;
    const Expected<bool> adds_one = has_constant(*sum, *erf->output, 1);
    if (!adds_one || !*adds_one) return adds_one;
    const GraphStep* next = sole_reader(*sum->output);
    if (!is_op(next, "Mul")) return false;
    std::vector<const GraphStep*> replaced = {&scaled, erf, sum};

    // (value * (1 + erf)) / 2
    if (next == &outer) {
      const GraphStep* half = sole_reader(*outer.output);
      if (half == nullptr) return false;
      const Expected<bool> is_half = is_scaled_by(*half, *outer.output, 0.5);
      if (!is_half || !*is_half) return is_half;
      replaced.insert(replaced.end(), {&outer, half});
      return add({.op = "gelu", .axis = "", .name = ""}, replaced);
    }
    // (value / 2) * (1 + erf)
    const Expected<bool> is_half_value = is_scaled_by(outer, value, 0.5);
    if (!is_half_value) return is_half_value;
    if (*is_half_value && sole_reader(*outer.output) == next) {
      replaced.insert(replaced.end(), {&outer, next});
      return add({.op = "gelu", .axis = "", .name = ""}, replaced);
    }
    // value * ((1 + erf) / 2)
    const Expected<bool> is_half_sum = is_scaled_by(*next, *sum->output, 0.5);
    if (!is_half_sum || !*is_half_sum) return is_half_sum;
    if (!is_op(&outer, "Mul") || sole_reader(*next->output) != &outer) return false;
    replaced.insert(replaced.end(), {next, &outer});
    return add({.op = "gelu", .axis = "", .name = ""}, replaced);
  }

  // value * factor, written as a Mul or a Div.
  Expected<bool> is_scaled_by(const GraphStep& step, const Value& value, double factor) {
    if (is_op(&step, "Mul")) return has_constant(step, value, factor);
    if (!is_op(&step, "Div") || step.inputs.size() != 2 || step.inputs[0] != &value) return false;
    return has_constant(step, value, 1 / factor);
  }

  // Whether the operand beside `value` is one number, about this one.
  Expected<bool> has_constant(const GraphStep& step, const Value& value, double expected) {
    const Value* other = other_input(step, value);
    if (other == nullptr) return false;
    const Expected<std::optional<double>> found = scalar(*other);
    if (!found) return found.status();
    return *found && std::abs(**found - expected) <= kConstantTolerance * expected;
  }

  // The value of a constant of one element; nothing where it is none, or is not known.
  Expected<std::optional<double>> scalar(const Value& value) {
    std::optional<double> number;
    if (value.constant == nullptr || element_count(value.constant->dims) != 1) return number;
    const Expected<OnnxTensor> tensor = evaluate(*value.constant, files_);
    // Also where external data is not there: what only lists a model does not need it.
    const bool is_wrong = !tensor && tensor.status().code() == StatusCode::kInvalidArgument;
    if (is_wrong) return tensor.status();
    if (!tensor) return number;
    visit_element_type(tensor->type, [&]<typename T>(T element) {
      if (tensor->bytes.size() != sizeof element) return;
      std::memcpy(&element, tensor->bytes.data(), sizeof element);
      number = static_cast<double>(widen(element));
    });
    return number;
  }

  // Inputs from version 11 on, attributes before.
  Expected<std::optional<std::vector<float>>> clip_bounds(const GraphStep& step) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::vector<float> bounds = {-kInfinity, kInfinity};
    constexpr const char* kAttributes[] = {"min", "max"};
    for (size_t i = 0; i < 2; ++i) {
      if (const ::onnx::AttributeProto* given = step.op.attribute(kAttributes[i])) bounds[i] = given->f();
      const Value* input = i + 1 < step.inputs.size() ? step.inputs[i + 1] : nullptr;
      if (input == nullptr) continue;
      const Expected<std::optional<double>> bound = scalar(*input);
      if (!bound) return bound.status();
      if (!*bound) return std::optional<std::vector<float>>();
      bounds[i] = static_cast<float>(**bound);
    }
    return std::optional(bounds);
  }

  const FoundNode& product_;
  ModelFiles& files_;
  Fusion fusion_;
};

}  // namespace

bool may_be_fused(const OnnxOp& op) {
  return op.is_standard() &&
         std::find(std::begin(kOperators), std::end(kOperators), op.node->op_type()) != std::end(kOperators);
}

Expected<Fusion> find_fusion(const FoundNode& product, ModelFiles& files) { return Chain(product, files).run(); }

}  // namespace gemmc
