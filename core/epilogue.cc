#include "core/epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.h"

namespace gemmc {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::string_view kSlope[] = {"alpha"};
constexpr float kDefaultSlope[] = {0.01f};  // ONNX's LeakyRelu
constexpr std::string_view kBounds[] = {"min", "max"};
constexpr float kNoBounds[] = {-kInfinity, kInfinity};

constexpr EpilogueRule kRules[] = {
    {.op = "bias", .reads_operand = true, .takes_integers = true},
    {.op = "scale", .reads_operand = true, .takes_integers = true},
    {.op = "residual", .reads_operand = true, .takes_integers = true},
    {.op = "relu", .takes_integers = true},
    {.op = "leaky_relu", .value_names = kSlope, .defaults = kDefaultSlope},
    {.op = "clip", .value_names = kBounds, .defaults = kNoBounds},
    {.op = "gelu"},
    {.op = "gelu_tanh"},
    {.op = "sigmoid"},
    {.op = "tanh"},
    {.op = "silu"},
    {.op = "hard_swish"},
};

Status check_axis(const EpilogueStep& step, const EpilogueRule& rule) {
  if (!rule.reads_operand && (!step.axis.empty() || !step.name.empty())) {
    return Status::invalid(fmt::format("epilogue step '{}' has an axis or a name; allowed: neither", step.op));
  }
  const bool is_residual = step.op == "residual";
  for (const std::string_view axis : {"", "n", "m", "mn"}) {
    if (step.axis == axis && !(is_residual && (axis == "n" || axis == "m"))) return Status::ok();
  }
  return Status::invalid(fmt::format("epilogue step '{}' has axis '{}'; allowed: {}", step.op, step.axis,
                                     is_residual ? "mn or none" : "n, m, mn or none"));
}

Status check_values(const EpilogueStep& step, const EpilogueRule& rule) {
  if (!step.values.empty() && step.values.size() != rule.value_names.size()) {
    return Status::invalid(
        fmt::format("epilogue step '{}' has {} values; allowed: {}", step.op, step.values.size(),
                    rule.value_names.empty() ? "none" : fmt::format("none or {}", rule.value_names.size())));
  }
  for (const float value : step.values) {
    if (!std::isnan(value)) continue;
    return Status::invalid(fmt::format("epilogue step '{}' has the value nan; allowed: numbers", step.op));
  }
  if (step.op != "clip") return Status::ok();
  const std::vector<float> bounds = epilogue_values(step);
  if (bounds[0] <= bounds[1] && (std::isfinite(bounds[0]) || std::isfinite(bounds[1]))) return Status::ok();
  return Status::invalid(fmt::format(
      "epilogue step 'clip' has min {} and max {}; allowed: min <= max, one of them finite", bounds[0], bounds[1]));
}

}  // namespace

const EpilogueRule* find_epilogue_rule(std::string_view op) {
  const auto* rule =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const EpilogueRule& r) { return r.op == op; });
  return rule == std::end(kRules) ? nullptr : rule;
}

std::vector<float> epilogue_values(const EpilogueStep& step) {
  if (!step.values.empty()) return step.values;
  const std::span<const float> defaults = find_epilogue_rule(step.op)->defaults;
  return {defaults.begin(), defaults.end()};
}

void drop_default_values(EpilogueStep& step) {
  const EpilogueRule* rule = find_epilogue_rule(step.op);
  if (rule != nullptr && std::ranges::equal(step.values, rule->defaults)) step.values.clear();
}

EpilogueOperandKind operand_kind(const EpilogueStep& step) {
  if (!find_epilogue_rule(step.op)->reads_operand) return EpilogueOperandKind::kNone;
  if (step.op == "residual" || step.axis == "mn") return EpilogueOperandKind::kFull;
  if (step.axis == "n") return EpilogueOperandKind::kColumns;
  return step.axis == "m" ? EpilogueOperandKind::kRows : EpilogueOperandKind::kScalar;
}

std::vector<size_t> operand_steps(std::span<const EpilogueStep> steps) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (operand_kind(steps[i]) != EpilogueOperandKind::kNone) indices.push_back(i);
  }
  return indices;
}

std::string epilogue_operand_text(std::span<const EpilogueStep> steps, size_t index) {
  std::string text = fmt::format("operand e{} of the epilogue", index);
  const std::vector<size_t> readers = operand_steps(steps);
  if (index >= readers.size()) return text;
  const EpilogueStep& step = steps[readers[index]];
  return text + fmt::format(" ({}{})", step.op, step.name.empty() ? "" : " " + in_quotes(step.name));
}

bool reads_rows(std::span<const EpilogueStep> steps) {
  return std::ranges::any_of(steps,
                             [](const EpilogueStep& step) { return operand_kind(step) == EpilogueOperandKind::kRows; });
}

Status check_epilogue(std::span<const EpilogueStep> steps, DType dtype) {
  if (steps.size() > kMostEpilogueSteps) {
    return Status::invalid(fmt::format("an epilogue of {} steps; allowed: up to {}", steps.size(), kMostEpilogueSteps));
  }
  for (const EpilogueStep& step : steps) {
    const EpilogueRule* rule = find_epilogue_rule(step.op);
    if (rule == nullptr) {
      std::string allowed;
      for (const EpilogueRule& r : kRules) allowed += (allowed.empty() ? "" : ", ") + std::string(r.op);
      return Status::invalid(fmt::format("epilogue step '{}' is not known; allowed: {}", step.op, allowed));
    }
    GEMMC_RETURN_IF_ERROR(check_axis(step, *rule));
    GEMMC_RETURN_IF_ERROR(check_values(step, *rule));
    if (is_integer(dtype) && !rule->takes_integers) {
      return Status::invalid(
          fmt::format("epilogue step '{}' for type {}; allowed: floating-point types", step.op, name(dtype)));
    }
  }
  return Status::ok();
}

Status refuse_unbuilt_steps(std::span<const EpilogueStep> steps, DType dtype) {
  for (const EpilogueStep& step : steps) {
    if (step.op != "gelu" || dtype != DType::kFloat64) continue;
    return Status::unsupported("epilogue step 'gelu' for float64: not built yet; allowed: gelu_tanh, or another type");
  }
  return Status::ok();
}

}  // namespace gemmc
