#include "tests/support/case_run.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "tests/support/process.h"

namespace gemmc::testing {
namespace {

std::optional<std::string> differs(oracle::Type type, const void* found, const void* expected, double rtol,
                                   double atol) {
  const size_t bytes = oracle::element_bytes(type);
  if (std::memcmp(found, expected, bytes) == 0) return std::nullopt;
  if (oracle::is_float(type)) {
    const long double y = oracle::decode_float(type, found), wanted = oracle::decode_float(type, expected);
    if (std::isnan(y) && std::isnan(wanted)) return std::nullopt;
    if (y == wanted) return std::nullopt;  // zeros of either sign
    if (std::isfinite(y) && std::isfinite(wanted) && std::fabs(y - wanted) <= atol + rtol * std::fabs(wanted)) {
      return std::nullopt;
    }
  }
  return fmt::format("{}, the case expects {}", oracle::element_text(type, found),
                     oracle::element_text(type, expected));
}

}  // namespace

ArrayShapes shapes_of(const Case& test_case) {
  ArrayShapes shapes{test_case.a.tensor.shape, test_case.b.tensor.shape, std::nullopt};
  if (test_case.c) shapes.c = test_case.c->tensor.shape;
  return shapes;
}

GivenOperands operands_of(const Case& test_case) {
  GivenOperands given;
  given.a = {test_case.a.tensor.bytes, test_case.a.strides};
  given.b = {test_case.b.tensor.bytes, test_case.b.strides};
  if (test_case.c) given.c = GivenOperand{test_case.c->tensor.bytes, test_case.c->strides};
  given.y_strides = test_case.y_strides;
  return given;
}

Instance instance_of(const Case& test_case, const Problem& problem) {
  Instance instance = make_instance(problem, shapes_of(test_case), operands_of(test_case));
  instance.repeat = fmt::format("{} --case={}", program_beside("conformance_cases_test"), test_case.id);
  return instance;
}

Check meets(const CaseExpectation& expect) {
  return [&expect](const oracle::Product& product, const oracle::View& y,
                   const std::vector<uint8_t>& values) -> std::optional<std::string> {
    if (y.shape != expect.y.shape || values.size() != expect.y.bytes.size())
      return "Y has another shape than the case's";
    const size_t bytes = oracle::element_bytes(product.type);
    for (size_t i = 0; i < values.size(); i += bytes) {
      if (const auto text = differs(product.type, &values[i], &expect.y.bytes[i], expect.rtol, expect.atol))
        return text;
    }
    return within_bounds(product, y, values);
  };
}

}  // namespace gemmc::testing
