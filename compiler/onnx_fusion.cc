#include "compiler/onnx_fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "compiler/onnx_activation.h"
#include "core/text.h"
#include "onnx.pb.h"

namespace gemmc {
namespace {

// Beside those of which activations are made.
constexpr std::string_view kSingleOperators[] = {"LeakyRelu", "HardSwish", "Gelu"};

enum class Growth { kGrown, kEnded };

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
      // One step is kept for a scale of narrower weights.
      if (fusion_.steps.size() + 1 == kMostEpilogueSteps) {
        fusion_.end = fmt::format("{} steps", fusion_.steps.size());
        return std::move(fusion_);
      }
      const Expected<Growth> growth = grow();
      if (!growth) return growth.status();
      if (*growth == Growth::kEnded) return std::move(fusion_);
    }
  }

 private:
  // Takes in what reads the result so far.
  Expected<Growth> grow() {
    const Value& value = *fusion_.result;
    if (value.is_result) return ends("it is a result of the graph");
    if (value.consumers.empty()) return ends("nothing reads it");
    if (value.consumers.size() > 1) return take_activation(fmt::format("{} nodes read it", value.consumers.size()));
    const Consumer& reader = value.consumers[0];
    if (reader.step == nullptr) return ends(std::string(reader.op_type));
    if (reader.step->graph != product_.graph) return ends(fmt::format("{} in another graph", reader.op_type));
    return take(*reader.step);
  }

  // Several nodes that compute one activation; where there are none, that is the end, for this reason.
  Expected<Growth> take_activation(std::string otherwise) {
    const Expected<std::optional<Activation>> activation = find_activation(*fusion_.result, product_.graph, files_);
    if (!activation) return activation.status();
    if (!*activation) return ends(std::move(otherwise));
    return add({.op = (*activation)->op, .axis = "", .name = ""}, (*activation)->steps);
  }

  Growth ends(std::string reason) {
    fusion_.end = std::move(reason);
    return Growth::kEnded;
  }

  Expected<Growth> take(const GraphStep& step) {
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
      const std::string form = approximate != nullptr ? approximate->s() : "none";
      if (form != "none" && form != "tanh") return ends("Gelu of another form");
      taken.op = form == "tanh" ? "gelu_tanh" : "gelu";
    }
    if (op_type == "Clip") {
      const Expected<std::optional<std::vector<float>>> bounds = clip_bounds(step);
      if (!bounds) return bounds.status();
      if (!*bounds) return ends("Clip with bounds that are not known, or are no numbers of float32");
      taken.op = "clip";
      taken.values = **bounds;
    }
    if (taken.op.empty()) return take_activation(op_type);
    return add(std::move(taken), {&step});
  }

  // Add or Mul of one other operand that lies over the product's result.
  Expected<Growth> take_pair(const GraphStep& step) {
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
    if (std::count(shape.begin(), shape.end(), SymDim{1}) == std::ssize(shape)) return "";
    if (shape == y) return "mn";
    // The last dimension of a product with a vector is not its columns.
    const bool has_columns = product_.inputs[1]->shape && product_.inputs[1]->shape->size() >= 2;
    if (has_columns && sole_axis_from_end(shape) == 0 && shape.back() == y.back()) return "n";
    return std::nullopt;
  }

  Expected<Growth> add(EpilogueStep step, const std::vector<const GraphStep*>& replaced,
                       const Value* operand = nullptr) {
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
    return Growth::kGrown;
  }

  // Inputs from version 11 on, attributes before. Nothing where one is not known, or changes as a float32.
  Expected<std::optional<std::vector<float>>> clip_bounds(const GraphStep& step) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::vector<float> bounds = {-kInfinity, kInfinity};
    constexpr const char* kAttributes[] = {"min", "max"};
    for (size_t i = 0; i < 2; ++i) {
      if (const ::onnx::AttributeProto* given = step.op.attribute(kAttributes[i])) bounds[i] = given->f();
      const Value* input = i + 1 < step.inputs.size() ? step.inputs[i + 1] : nullptr;
      if (input == nullptr) continue;
      if (input->type != step.output->type) return std::optional<std::vector<float>>();
      const Expected<std::optional<double>> bound = scalar_value(input->constant, files_);
      if (!bound) return bound.status();
      const bool is_exact = *bound && static_cast<double>(static_cast<float>(**bound)) == **bound;
      if (!is_exact) return std::optional<std::vector<float>>();
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
         (is_elementwise(op.node->op_type()) || std::find(std::begin(kSingleOperators), std::end(kSingleOperators),
                                                          op.node->op_type()) != std::end(kSingleOperators));
}

Expected<Fusion> find_fusion(const FoundNode& product, ModelFiles& files) { return Chain(product, files).run(); }

}  // namespace gemmc
