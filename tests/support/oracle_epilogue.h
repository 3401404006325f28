// The epilogue as the oracle sees it: steps on an element, exact for integers, as bounds for floats. Rules:
// docs/numbers.md. Shares no code with the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/oracle.h"

namespace gemmc::oracle {

// The step in floating point on everything that its input may be; `operand` is what the step reads at this element.
// `computed_in`: float32 or float64.
AllowedFloat after_step(const Step& step, const AllowedFloat& input, long double operand, Type computed_in);

// The step where IEEE operations define every bit: bias, scale, relu, leaky_relu, clip. Nothing for other steps.
template <typename T>
std::optional<T> exactly_after_step(const Step& step, T input, T operand) {
  const auto value = [&](size_t i) { return static_cast<T>(step.values[i]); };
  if (step.op == "bias") return input + operand;
  if (step.op == "scale") return input * operand;
  if (step.op == "relu") return input < 0 ? T(0) : input;
  if (step.op == "leaky_relu") return input < 0 ? input * value(0) : input;
  if (step.op == "clip") return input < value(0) ? value(0) : input > value(1) ? value(1) : input;
  return std::nullopt;
}

// bias, scale and relu of integers of the type, modulo 2^64; `operand` and the result are sign- or zero-extended.
uint64_t integer_after_step(const Step& step, Type type, uint64_t input, uint64_t operand);

}  // namespace gemmc::oracle
