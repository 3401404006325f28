#include "compiler/onnx_activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "core/dtype.h"
#include "onnx.pb.h"

namespace gemmc {
namespace {

// No exporter needs more nodes, or reads a tensor more often.
constexpr size_t kMostSteps = 16;
constexpr size_t kMostReaders = 8;

// Dense where activations bend; farther out, where a bound may cut them off, a few.
constexpr int kDenseCount = 129;
constexpr double kDenseEnd = 12;
constexpr double kOuter[] = {13, 16, 20.5, 26, 33, 50, 77, 128, 300, 700, 1e4, 1e6, 1e12, 1e30, 3e38};
constexpr int kSampleCount = kDenseCount + 2 * static_cast<int>(std::size(kOuter));
using Samples = std::array<double, kSampleCount>;

Samples sample_points() {
  Samples points;
  for (int i = 0; i < kDenseCount; ++i) points[i] = kDenseEnd * (2.0 * i / (kDenseCount - 1) - 1);
  int next = kDenseCount;
  for (const double outer : kOuter) {
    points[next++] = outer;
    points[next++] = -outer;
  }
  return points;
}

struct KnownActivation {
  const char* op;
  double (*value)(double);
};
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
constexpr KnownActivation kKnown[] = {
    {"gelu", [](double x) { return x * std::erfc(-x / std::numbers::sqrt2) / 2; }},
    {"gelu_tanh", [](double x) { return x * sigmoid(std::sqrt(8 / std::numbers::pi) * (x + 0.044715 * x * x * x)); }},
    {"silu", [](double x) { return x * sigmoid(x); }},
    {"sigmoid", sigmoid},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"hard_swish", [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    {"relu", [](double x) { return std::max(x, 0.0); }},
};

// What the constants' rounding to the tensor's type may explain, and few decimals of them in float32. gelu and
// gelu_tanh are 4.7e-4 apart.
double tolerance(DType dtype) {
  if (size_bytes(dtype) == 2) return 3e-4;
  return size_bytes(dtype) == 4 ? 1e-5 : 1e-12;
}

// An operator as a function of its operands; HardSigmoid's are followed by its attributes.
struct Operator {
  std::string_view op_type;
  size_t operand_count;
  double (*value)(double a, double b, double c);
};
constexpr Operator kOperators[] = {
    {"Add", 2, [](double a, double b, double) { return a + b; }},
    {"Sub", 2, [](double a, double b, double) { return a - b; }},
    {"Mul", 2, [](double a, double b, double) { return a * b; }},
    {"Div", 2, [](double a, double b, double) { return a / b; }},
    {"Pow", 2, [](double a, double b, double) { return std::pow(a, b); }},
    {"Clip", 3, [](double a, double low, double high) { return std::min(std::max(a, low), high); }},
    {"Sigmoid", 1, [](double a, double, double) { return sigmoid(a); }},
    {"Tanh", 1, [](double a, double, double) { return std::tanh(a); }},
    {"Erf", 1, [](double a, double, double) { return std::erf(a); }},
    {"Exp", 1, [](double a, double, double) { return std::exp(a); }},
    {"Neg", 1, [](double a, double, double) { return -a; }},
    {"Reciprocal", 1, [](double a, double, double) { return 1 / a; }},
    {"Relu", 1, [](double a, double, double) { return std::max(a, 0.0); }},
    {"HardSigmoid", 1, [](double a, double slope, double offset) { return std::clamp(slope * a + offset, 0.0, 1.0); }},
};

const Operator* find_operator(std::string_view op_type) {
  const auto* found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                   [&](const Operator& o) { return o.op_type == op_type; });
  return found == std::end(kOperators) ? nullptr : found;
}

// The values of a node at the sample points; nothing for an operator that is not known, or operands that it lacks.
std::optional<Samples> evaluate_step(const GraphStep& step, const std::vector<const Samples*>& inputs) {
  const Operator* const known = find_operator(step.op.node->op_type());
  if (known == nullptr || inputs.size() != known->operand_count) return std::nullopt;
  const auto attribute = [&](const char* name, double otherwise) {
    const ::onnx::AttributeProto* given = step.op.attribute(name);
    return given == nullptr ? otherwise : static_cast<double>(given->f());
  };
  const double slope = attribute("alpha", 0.2), offset = attribute("beta", 0.5);
  Samples result;
  for (int i = 0; i < kSampleCount; ++i) {
    const double b = inputs.size() > 1 ? (*inputs[1])[i] : slope;
    const double c = inputs.size() > 2 ? (*inputs[2])[i] : offset;
    result[i] = known->value((*inputs[0])[i], b, c);
  }
  return result;
}

// Grows by one node after the other that depends on nothing else than the value.
class Region {
 public:
  Region(const Value& value, DType dtype, size_t graph, ModelFiles& files)
      : value_(value), tolerance_(tolerance(dtype)), graph_(graph), files_(files) {
    samples_[&value] = sample_points();
  }

  Expected<std::optional<Activation>> search() {
    while (steps_.size() < kMostSteps) {
      const Expected<bool> has_grown = grow();
      if (!has_grown) return has_grown.status();
      if (!*has_grown) break;
      const Value& result = *steps_.back()->output;
      if (!is_only_exit(result)) continue;
      if (const char* op = recognize(samples_.at(&result))) return std::optional(Activation{op, steps_});
    }
    return std::optional<Activation>();
  }

 private:
  // Takes the first node in the graph's order that reads what is here and nothing unknown.
  Expected<bool> grow() {
    const GraphStep* next = nullptr;
    for (const auto& [value, samples] : samples_) {
      if (value->consumers.size() > kMostReaders) return false;
      for (const Consumer& consumer : value->consumers) {
        const GraphStep* step = consumer.step;
        if (step == nullptr || step->graph != graph_ || is_taken(*step)) continue;
        if (next == nullptr || step->output->id < next->output->id) next = step;
      }
    }
    if (next == nullptr) return false;
    std::vector<Samples> constants(next->inputs.size());
    std::vector<const Samples*> inputs;
    for (size_t i = 0; i < next->inputs.size(); ++i) {
      const Value* input = next->inputs[i];
      if (input == nullptr) return false;
      if (const auto known = samples_.find(input); known != samples_.end()) {
        inputs.push_back(&known->second);
        continue;
      }
      const Expected<std::optional<double>> number = scalar_value(input->constant, files_);
      if (!number) return number.status();
      const bool keeps_shape = input->constant != nullptr && input->constant->dims.size() <= value_.shape->size();
      if (!*number || !keeps_shape) return false;
      constants[i].fill(**number);
      inputs.push_back(&constants[i]);
    }
    if (inputs.empty()) return false;
    std::optional<Samples> result = evaluate_step(*next, inputs);
    if (!result) return false;
    samples_[next->output] = *result;
    steps_.push_back(next);
    return true;
  }

  bool is_taken(const GraphStep& step) const { return samples_.contains(step.output); }

  // Whether nobody reads anything else of what is here.
  bool is_only_exit(const Value& result) const {
    return std::all_of(samples_.begin(), samples_.end(), [&](const auto& entry) {
      const Value& inner = *entry.first;
      if (&inner == &result) return true;
      return !inner.is_result &&
             std::all_of(inner.consumers.begin(), inner.consumers.end(), [&](const Consumer& reader) {
               return reader.step != nullptr && reader.step->graph == graph_ && is_taken(*reader.step);
             });
    });
  }

  // Beyond 1, relative to the argument: there activations are about it, or bounded. NaN is near nothing.
  bool is_near(double found, double wanted, double point) const {
    return std::abs(found - wanted) <= tolerance_ * std::max(1.0, std::abs(point));
  }

  const char* recognize(const Samples& samples) const {
    const Samples points = sample_points();
    for (const KnownActivation& known : kKnown) {
      bool is_same = true;
      for (int i = 0; i < kSampleCount; ++i) is_same &= is_near(samples[i], known.value(points[i]), points[i]);
      if (is_same) return known.op;
    }
    return nullptr;
  }

  const Value& value_;
  const double tolerance_;
  const size_t graph_;
  ModelFiles& files_;
  std::map<const Value*, Samples> samples_;  // of the value and of all that is taken
  std::vector<const GraphStep*> steps_;
};

}  // namespace

bool is_elementwise(std::string_view op_type) { return find_operator(op_type) != nullptr; }

Expected<std::optional<Activation>> find_activation(const Value& value, size_t graph, ModelFiles& files) {
  const std::optional<DType> dtype = to_dtype(value.type);
  // Integers divide in another way than the real numbers that the samples are.
  if (!value.shape || !dtype || is_integer(*dtype)) return std::optional<Activation>();
  return Region(value, *dtype, graph, files).search();
}

}  // namespace gemmc
