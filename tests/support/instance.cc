#include "tests/support/instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "core/problem_string.h"
#include "tests/support/process.h"
#include "tests/support/random.h"
#include "tests/support/random_values.h"

namespace gemmc::testing {
namespace {

using Extents = std::vector<int64_t>;

enum class Reuse { kAllowed, kForbidden };  // whether two elements may share a place

// Strides for an operand: the problem's where it has them, else such that the elements lie apart, with gaps, backwards,
// transposed, or (where allowed) on top of each other.
Extents choose_strides(const Strides& spec, const Extents& shape, Reuse reuse, Random& random) {
  if (spec.empty()) return oracle::View::dense_strides(shape);
  const size_t rank = shape.size();
  Extents strides(rank);
  std::vector<size_t> order;  // innermost first
  for (size_t i = rank; i > 0; --i) order.push_back(i - 1);
  const bool both_free =
      rank >= 2 && spec[rank - 1].kind == Stride::Kind::kRuntime && spec[rank - 2].kind == Stride::Kind::kRuntime;
  if (both_free && random.one_in(3)) std::swap(order[0], order[1]);
  const Extents dense = oracle::View::dense_strides(shape);
  int64_t reach = 1;  // elements that the dimensions so far span
  for (const size_t i : order) {
    switch (spec[i].kind) {
      case Stride::Kind::kDense:
        strides[i] = dense[i];
        break;
      case Stride::Kind::kStatic:
        strides[i] = spec[i].value;
        break;
      case Stride::Kind::kRuntime:
        if (reuse == Reuse::kAllowed && random.one_in(12)) {
          strides[i] = 0;
        } else {
          strides[i] = reach + (random.one_in(2) ? 0 : random.between(1, 3));
          if (random.one_in(6)) strides[i] = -strides[i];
        }
        break;
    }
    reach += std::max<int64_t>(shape[i] - 1, 0) * std::abs(strides[i]);
  }
  return strides;
}

oracle::View shape_only(const Extents& shape) { return {nullptr, shape, oracle::View::dense_strides(shape)}; }

Extents y_shape_of(const Problem& problem, const ArrayShapes& shapes) {
  oracle::Product product;
  product.is_gemm = problem.op == Operator::kGemm;
  product.a = shape_only(shapes.a);
  product.b = shape_only(shapes.b);
  product.trans_a = problem.trans_a;
  product.trans_b = problem.trans_b;
  return oracle::output_shape(product);
}

// The call's strides from the instance's own: those that the problem leaves to the call, in the order A, B, C, Y.
// `planned`: the library's, taken for a C of unknown rank.
Extents runtime_strides(const Instance& instance, const Problem& canonical, const Extents& planned) {
  Extents result;
  const auto add = [&](const Strides& spec, const Extents& strides) {
    for (size_t i = 0; i < spec.size(); ++i) {
      if (spec[i].kind == Stride::Kind::kRuntime) result.push_back(strides[i]);
    }
  };
  add(instance.problem.a.strides, instance.a.strides);
  add(instance.problem.b.strides, instance.b.strides);
  if (canonical.c && instance.problem.c->has_known_rank) {
    add(instance.problem.c->strides, instance.c->strides);
  } else if (canonical.c) {
    for (int i = 0; i < 2; ++i) result.push_back(planned.at(result.size()));
  }
  add(instance.problem.y_strides, instance.y_strides);
  return result;
}

// Fills in the call. What the library plans is used as it is, so that a fault in it shows as a wrong result; only the
// run-time strides are the instance's own.
void plan(Instance& instance, ArrayShapes shapes) {
  for (const InstanceOperand& operand : instance.epilogue) shapes.epilogue.push_back(operand.shape);
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(
        fmt::format("{} with {}: {}", print_problem(instance.problem), print_shapes(shapes), what));
  };
  const Expected<CallPlan> plan = plan_call(instance.problem, shapes);
  if (!plan) return fail(plan.status().message());
  if (plan->y_shape != instance.y_shape) return fail("the planned shape of Y is not the oracle's");
  instance.call_dims = plan->dims;
  instance.call_strides = plan->strides;
  instance.outer = plan->outer;
  // Operands of unknown rank are dense.
  if (!instance.problem.a.has_known_rank || !instance.problem.b.has_known_rank) return;
  instance.call_strides = runtime_strides(instance, plan->canonical.problem, plan->strides);
  if (instance.call_strides.size() != plan->strides.size()) {
    fail("the plan has another number of run-time strides than the problem");
  }
}

Extents epilogue_shape(const Problem& problem, EpilogueOperandKind kind, const Extents& y_shape) {
  const bool b_is_vector = problem.b.has_known_rank && problem.b.shape.size() == 1;
  switch (kind) {
    case EpilogueOperandKind::kColumns:
      return {y_shape.back()};
    case EpilogueOperandKind::kRows:
      return {y_shape[y_shape.size() - (b_is_vector ? 1 : 2)]};
    case EpilogueOperandKind::kFull:
      return y_shape;
    default:
      return {};
  }
}

std::optional<Extents> parse_shape(const std::string& text) {
  Extents shape;
  if (text == "scalar") return shape;
  std::stringstream stream(text);
  for (std::string extent; std::getline(stream, extent, 'x');) {
    if (extent.empty() || extent.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    shape.push_back(std::stoll(extent));
  }
  return shape;
}

std::string print_shape(const Extents& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

// Whatever the call's sizes are.
bool c_has_y_shape(const Problem& problem) {
  const Shape& a = problem.a.shape;
  const Shape& b = problem.b.shape;
  return problem.c->has_known_rank && problem.a.has_known_rank && problem.b.has_known_rank &&
         problem.c->shape == Shape{a[problem.trans_a ? 1 : 0], b[problem.trans_b ? 0 : 1]};
}

}  // namespace

const InstanceOperand* Instance::in_place_operand() const {
  if (c && c_has_y_shape(problem) && c->shape == y_shape && c->strides == y_strides) return &*c;
  size_t operand = 0;
  for (const EpilogueStep& step : problem.epilogue) {
    const EpilogueOperandKind kind = operand_kind(step);
    if (kind == EpilogueOperandKind::kFull) return &epilogue[operand];
    if (kind != EpilogueOperandKind::kNone) ++operand;
  }
  return nullptr;
}

oracle::Type oracle_type(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
      return oracle::Type::kBFloat16;
    case DType::kFloat16:
      return oracle::Type::kFloat16;
    case DType::kFloat32:
      return oracle::Type::kFloat32;
    case DType::kFloat64:
      return oracle::Type::kFloat64;
    case DType::kInt32:
      return oracle::Type::kInt32;
    case DType::kInt64:
      return oracle::Type::kInt64;
    case DType::kUInt32:
      return oracle::Type::kUInt32;
    default:
      return oracle::Type::kUInt64;
  }
}

Instance make_instance(const Problem& problem, const ArrayShapes& shapes, uint64_t seed) {
  Random random(seed);
  const oracle::Type type = oracle_type(problem.dtype);
  Instance instance;
  instance.problem = problem;
  instance.repeat = fmt::format("{} --problem='{}' --shapes='{}' --seed={}", program_beside("conformance_random_test"),
                                print_problem(problem), print_shapes(shapes), seed);
  const auto fill = [&](const Operand& operand, const Extents& shape, InstanceOperand& result) {
    result.shape = shape;
    result.strides = choose_strides(operand.strides, shape, Reuse::kAllowed, random);
    if (operand.storage == DType::kInt8) {
      for (size_t i = element_count(shape); i-- > 0;) {
        result.values.push_back(static_cast<uint8_t>(random.between(-128, 127)));
      }
      return;
    }
    result.values = random_values(oracle_type(operand.storage.value_or(problem.dtype)), element_count(shape), random);
  };
  fill(problem.a, shapes.a, instance.a);
  fill(problem.b, shapes.b, instance.b);
  if (shapes.c) fill(*problem.c, *shapes.c, instance.c.emplace());
  instance.y_shape = y_shape_of(problem, shapes);
  instance.y_strides = choose_strides(problem.y_strides, instance.y_shape, Reuse::kForbidden, random);
  // C laid out like Y where the problem allows it, so that it can be run in place.
  if (instance.c && instance.c->shape == instance.y_shape && problem.c->strides == problem.y_strides) {
    instance.c->strides = instance.y_strides;
  }
  for (const EpilogueStep& step : problem.epilogue) {
    const EpilogueOperandKind kind = operand_kind(step);
    if (kind == EpilogueOperandKind::kNone) continue;
    InstanceOperand& operand = instance.epilogue.emplace_back();
    operand.shape = epilogue_shape(problem, kind, instance.y_shape);
    operand.strides =
        kind == EpilogueOperandKind::kFull ? instance.y_strides : oracle::View::dense_strides(operand.shape);
    operand.values = random_values(type, element_count(operand.shape), random);
  }
  plan(instance, shapes);
  return instance;
}

Instance make_instance(const Problem& problem, const ArrayShapes& shapes, const GivenOperands& given) {
  Instance instance;
  instance.problem = problem;
  const auto fill = [&](const GivenOperand& operand, const Extents& shape, InstanceOperand& result) {
    result.shape = shape;
    result.strides = operand.strides.empty() ? oracle::View::dense_strides(shape) : operand.strides;
    result.values = operand.values;
  };
  fill(given.a, shapes.a, instance.a);
  fill(given.b, shapes.b, instance.b);
  if (shapes.c) fill(given.c.value(), *shapes.c, instance.c.emplace());
  instance.y_shape = y_shape_of(problem, shapes);
  instance.y_strides = given.y_strides.empty() ? oracle::View::dense_strides(instance.y_shape) : given.y_strides;
  plan(instance, shapes);
  return instance;
}

std::string print_shapes(const ArrayShapes& shapes) {
  return fmt::format("{} {}{}", print_shape(shapes.a), print_shape(shapes.b),
                     shapes.c ? fmt::format(" {}", print_shape(*shapes.c)) : "");
}

std::optional<ArrayShapes> parse_shapes(const std::string& text) {
  std::vector<Extents> all;
  std::stringstream stream(text);
  for (std::string word; stream >> word;) {
    std::optional<Extents> shape = parse_shape(word);
    if (!shape) return std::nullopt;
    all.push_back(*shape);
  }
  if (all.size() != 2 && all.size() != 3) return std::nullopt;
  ArrayShapes shapes{all[0], all[1], std::nullopt};
  if (all.size() == 3) shapes.c = all[2];
  return shapes;
}

}  // namespace gemmc::testing
