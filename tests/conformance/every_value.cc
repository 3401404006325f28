#include "tests/conformance/every_value.h"

#include <stdexcept>
#include <vector>

#include "core/problem_string.h"
#include "tests/support/half_floats.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {
namespace {

std::vector<uint8_t> bytes_of(uint16_t bits) {
  return {static_cast<uint8_t>(bits & 0xff), static_cast<uint8_t>(bits >> 8)};
}

}  // namespace

EveryValue every_value(DType dtype, char operand) {
  if (size_bytes(dtype) != 2) throw std::runtime_error("not a 16-bit type");
  constexpr int64_t kValues = 1 << 16;
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < kValues; ++i) {
    const std::vector<uint8_t> value = bytes_of(static_cast<uint16_t>(i));
    values.insert(values.end(), value.begin(), value.end());
  }
  const std::vector<uint8_t> one = bytes_of(dtype == DType::kFloat16 ? to_float16_bits(1) : to_bfloat16_bits(1));
  EveryValue result;
  const auto set = [&](const char* words, ArrayShapes shapes, GivenOperands operands) {
    result.problem = value_or_throw(parse_problem(words));
    result.shapes = std::move(shapes);
    result.operands = std::move(operands);
  };
  switch (operand) {
    case 'A':
      set("matmul f16 a=65536x1 b=1x1", {{kValues, 1}, {1, 1}, std::nullopt}, {{values, {}}, {one, {}}, {}, {}});
      result.expect.y.shape = {kValues, 1};
      break;
    case 'B':
      set("matmul f16 a=1x1 b=1x65536", {{1, 1}, {1, kValues}, std::nullopt}, {{one, {}}, {values, {}}, {}, {}});
      result.expect.y.shape = {1, kValues};
      break;
    case 'C':
      set("gemm f16 m=1 n=65536 k=0 c=n", {{1, 0}, {0, kValues}, std::vector<int64_t>{kValues}},
          {{{}, {}}, {{}, {}}, GivenOperand{values, {}}, {}});
      result.expect.y.shape = {1, kValues};
      break;
    default:
      throw std::runtime_error("no such operand");
  }
  result.problem.dtype = dtype;
  result.expect.y.dtype = dtype;
  result.expect.y.bytes = values;
  return result;
}

}  // namespace gemmc::testing
