// Plans are checked by making their calls with a kernel that is a loop over core/loop_form, and comparing Y with a
// product computed from the logical arrays by indices alone.
#include "api/call_plan.h"

#include <gtest/gtest.h>

#include <cstring>

#include "api/invoke.h"
#include "core/loop_form.h"
#include "core/resolved_loops.h"

namespace gemmc {
namespace {

using Sizes = std::vector<int64_t>;

Operand known(Shape shape, Strides strides = {}) { return {.shape = std::move(shape), .strides = std::move(strides)}; }
Operand unknown() { return {.has_known_rank = false}; }
Shape fixed(const Sizes& sizes) {
  Shape shape;
  for (int64_t size : sizes) shape.push_back(Dim::fixed(size));
  return shape;
}

Problem matmul(Operand a, Operand b) {
  Problem p;
  p.op = Operator::kMatMul;
  p.dtype = DType::kFloat64;
  p.a = std::move(a);
  p.b = std::move(b);
  return p;
}
Problem gemm(Operand a, Operand b, std::optional<Operand> c = std::nullopt) {
  Problem p = matmul(std::move(a), std::move(b));
  p.op = Operator::kGemm;
  p.c = std::move(c);
  return p;
}

Tensor counting(const Sizes& shape, double start) {
  Tensor tensor{DType::kFloat64, shape, {}};
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = start + static_cast<double>(i % 13);
  tensor.bytes.resize(values.size() * sizeof(double));
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

double at(const Tensor& tensor, int64_t index) {
  double value;
  std::memcpy(&value, tensor.bytes.data() + index * sizeof(double), sizeof(double));
  return value;
}

// What the kernel under test "was compiled for".
struct Compiled {
  Problem problem;
  LoopForm form;
  int calls = 0;
} compiled;

int32_t loop_kernel(const gemmc_call* call) {
  ++compiled.calls;
  const LoopForm& form = compiled.form;
  const auto loops = resolve(form, {call->dims, static_cast<size_t>(form.dim_count)},
                             {call->strides, static_cast<size_t>(form.stride_count)});
  if (!loops) return GEMMC_INVALID_ARGUMENT;
  if (loops->m == 0 || loops->n == 0) return GEMMC_OK;
  int64_t items = 1;
  for (const auto& axis : loops->batch) items *= axis.extent;
  for (int64_t item = 0; item < items; ++item) {
    const double* a = static_cast<const double*>(call->a);
    const double* b = static_cast<const double*>(call->b);
    const double* c = static_cast<const double*>(call->c);
    double* y = static_cast<double*>(call->y);
    int64_t rest = item;
    for (size_t i = loops->batch.size(); i-- > 0;) {
      const auto& axis = loops->batch[i];
      a += rest % axis.extent * axis.a;
      b += rest % axis.extent * axis.b;
      y += rest % axis.extent * axis.y;
      rest /= axis.extent;
    }
    for (int64_t m = 0; m < loops->m; ++m) {
      for (int64_t n = 0; n < loops->n; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < loops->k; ++k) {
          sum += a[m * loops->a_row + k * loops->a_col] * b[k * loops->b_row + n * loops->b_col];
        }
        if (form.has_c) sum += c[m * loops->c_row + n * loops->c_col];
        y[m * loops->y_row + n * loops->y_col] = sum;
      }
    }
  }
  return GEMMC_OK;
}

// NumPy's matmul by indices of logical arrays; transpositions and C for Gemm.
std::vector<double> expected_y(const Problem& p, const Tensor& a, const Tensor& b, const Tensor* c,
                               const Sizes& batch) {
  const auto dim = [](const Tensor& t, size_t from_right) {
    return from_right <= t.shape.size() ? t.shape[t.shape.size() - from_right] : 1;
  };
  const int64_t a_rows = dim(a, 2), a_cols = dim(a, 1);
  const int64_t b_rows = b.shape.size() == 1 ? b.shape[0] : dim(b, 2), b_cols = b.shape.size() == 1 ? 1 : dim(b, 1);
  const int64_t m_count = p.trans_a ? a_cols : a_rows, k_count = p.trans_a ? a_rows : a_cols;
  const int64_t n_count = p.trans_b ? b_rows : b_cols;
  std::vector<double> y;
  if (m_count == 0 || n_count == 0) return y;
  int64_t items = 1;
  for (int64_t extent : batch) items *= extent;
  for (int64_t item = 0; item < items; ++item) {
    int64_t rest = item, in_a = 0, in_b = 0, a_step = a_rows * a_cols, b_step = b_rows * b_cols;
    for (size_t i = batch.size(); i-- > 0;) {
      const size_t from_right = batch.size() - i + 2;
      const int64_t index = rest % batch[i];
      rest /= batch[i];
      if (dim(a, from_right) > 1) in_a += index * a_step;
      if (dim(b, from_right) > 1) in_b += index * b_step;
      a_step *= dim(a, from_right);
      b_step *= dim(b, from_right);
    }
    for (int64_t m = 0; m < m_count; ++m) {
      for (int64_t n = 0; n < n_count; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < k_count; ++k) {
          sum += at(a, in_a + (p.trans_a ? k * a_cols + m : m * a_cols + k)) *
                 at(b, in_b + (p.trans_b ? n * b_cols + k : k * b_cols + n));
        }
        if (c != nullptr) {
          const int64_t rows = dim(*c, 2), columns = dim(*c, 1);
          sum += at(*c, (rows == 1 ? 0 : m) * columns + (columns == 1 ? 0 : n));
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

// Plans, calls, compares; returns how many calls were made.
int check(const Problem& problem, const Sizes& a_shape, const Sizes& b_shape, const Sizes& y_shape,
          std::optional<Sizes> c_shape = std::nullopt) {
  const Tensor a = counting(a_shape, 1), b = counting(b_shape, -3);
  std::optional<Tensor> c;
  if (c_shape) c = counting(*c_shape, 100);
  const auto plan = plan_call(problem, {a_shape, b_shape, c_shape});
  if (!plan) {
    ADD_FAILURE() << plan.status().message();
    return 0;
  }
  EXPECT_EQ(plan->y_shape, y_shape);
  compiled = {plan->canonical.problem, loop_form(plan->canonical.problem)};
  EXPECT_EQ(plan->dims.size(), static_cast<size_t>(compiled.form.dim_count));
  EXPECT_EQ(plan->strides.size(), static_cast<size_t>(compiled.form.stride_count));
  const auto y = run_plan(*plan, {loop_kernel}, {&a, &b, c ? &*c : nullptr});
  if (!y) {
    ADD_FAILURE() << y.status().message();
    return 0;
  }
  Sizes batch;
  if (problem.op == Operator::kMatMul) {
    const size_t matrix_rank = (a_shape.size() > 1 ? 1 : 0) + (b_shape.size() > 1 ? 1 : 0);
    batch.assign(y_shape.begin(), y_shape.end() - static_cast<std::ptrdiff_t>(matrix_rank));
  }
  const std::vector<double> expected = expected_y(problem, a, b, c ? &*c : nullptr, batch);
  EXPECT_EQ(y->bytes.size(), expected.size() * sizeof(double));
  for (size_t i = 0; i < expected.size() && i * sizeof(double) < y->bytes.size(); ++i) {
    EXPECT_EQ(at(*y, static_cast<int64_t>(i)), expected[i]) << "element " << i;
  }
  return compiled.calls;
}

std::string refusal(const Problem& problem, const ArrayShapes& shapes) {
  const auto plan = plan_call(problem, shapes);
  return plan ? "accepted" : plan.status().message();
}

TEST(CallPlan, RuntimeDimensionsComeFromTheArrays) {
  const Dim m = Dim::runtime("rows"), k = Dim::runtime("depth");
  EXPECT_EQ(check(gemm(known({m, k}), known({k, Dim::fixed(4)})), {3, 5}, {5, 4}, {3, 4}), 1);
  EXPECT_EQ(
      check(matmul(known({Dim::runtime("b"), m, Dim::fixed(2)}), known(fixed({2, 3}))), {2, 5, 2}, {2, 3}, {2, 5, 3}),
      1);
}

TEST(CallPlan, TranspositionsAndEveryFormOfC) {
  Problem p = gemm(known(fixed({5, 3})), known(fixed({4, 5})));
  p.trans_a = p.trans_b = true;
  for (const Sizes& c : {Sizes{}, {1}, {4}, {1, 4}, {3, 1}, {1, 1}, {3, 4}}) {
    p.c = known(fixed(c));
    EXPECT_EQ(check(p, {5, 3}, {4, 5}, {3, 4}, c), 1);
    p.c = unknown();
    EXPECT_EQ(check(p, {5, 3}, {4, 5}, {3, 4}, c), 1);
  }
}

TEST(CallPlan, MatMulRanksFollowNumPy) {
  EXPECT_EQ(check(matmul(known(fixed({3})), known(fixed({3}))), {3}, {3}, {}), 1);
  EXPECT_EQ(check(matmul(known(fixed({3})), known(fixed({2, 3, 4}))), {3}, {2, 3, 4}, {2, 4}), 1);
  EXPECT_EQ(check(matmul(known(fixed({2, 4, 3})), known(fixed({3}))), {2, 4, 3}, {3}, {2, 4}), 1);
  EXPECT_EQ(check(matmul(known(fixed({2, 1, 4, 3})), known(fixed({5, 3, 2}))), {2, 1, 4, 3}, {5, 3, 2}, {2, 5, 4, 2}),
            1);
}

TEST(CallPlan, UnknownRanksAreFlattenedIntoOneCall) {
  const Problem p = matmul(unknown(), unknown());
  EXPECT_EQ(check(p, {3}, {3}, {}), 1);
  EXPECT_EQ(check(p, {2, 3}, {3, 4}, {2, 4}), 1);
  EXPECT_EQ(check(p, {5, 6, 2, 3}, {3, 4}, {5, 6, 2, 4}), 1);
  EXPECT_EQ(check(p, {2, 3}, {5, 6, 3, 4}, {5, 6, 2, 4}), 1);
  EXPECT_EQ(check(p, {5, 6, 2, 3}, {5, 6, 3, 4}, {5, 6, 2, 4}), 1);
  EXPECT_EQ(check(p, {1, 6, 2, 3}, {1, 3, 5}, {1, 6, 2, 5}), 1);
}

TEST(CallPlan, OneUnknownRank) {
  EXPECT_EQ(check(matmul(unknown(), known(fixed({3, 4}))), {2, 5, 3}, {3, 4}, {2, 5, 4}), 1);
  EXPECT_EQ(check(matmul(unknown(), known(fixed({3}))), {2, 5, 3}, {3}, {2, 5}), 1);
  EXPECT_EQ(check(matmul(known(fixed({2, 3})), unknown()), {2, 3}, {5, 6, 3, 4}, {5, 6, 2, 4}), 1);
  EXPECT_EQ(check(matmul(known(fixed({2, 3})), unknown()), {2, 3}, {3}, {2}), 1);
  EXPECT_EQ(check(matmul(known(fixed({6, 2, 3})), unknown()), {6, 2, 3}, {5, 6, 3, 4}, {5, 6, 2, 4}), 5);
}

TEST(CallPlan, BroadcastThatOneStrideCannotExpressTakesSeveralCalls) {
  const Problem p = matmul(unknown(), unknown());
  EXPECT_EQ(check(p, {5, 1, 2, 3}, {6, 3, 4}, {5, 6, 2, 4}), 5);
  EXPECT_EQ(check(p, {2, 1, 5, 2, 3}, {2, 6, 1, 3, 4}, {2, 6, 5, 2, 4}), 12);
  EXPECT_EQ(check(p, {6, 2, 3}, {5, 6, 3, 4}, {5, 6, 2, 4}), 5);
}

TEST(CallPlan, EmptyArrays) {
  const Problem p = matmul(unknown(), unknown());
  EXPECT_EQ(check(p, {2, 0}, {0, 3}, {2, 3}), 1) << "K = 0: zeros";
  EXPECT_EQ(check(p, {0, 2, 3}, {3, 4}, {0, 2, 4}), 1);
  EXPECT_EQ(check(p, {0, 1, 2, 3}, {5, 3, 4}, {0, 5, 2, 4}), 0);
  EXPECT_EQ(check(p, {int64_t{1} << 40, 1, 0, 3}, {int64_t{1} << 20, 3, 0}, {int64_t{1} << 40, int64_t{1} << 20, 0, 0}),
            0);
}

TEST(CallPlan, StridedOperandsAreLaidOut) {
  const Strides spread = {Stride::fixed(16), Stride::fixed(3)};
  Problem p = gemm(known(fixed({3, 5}), spread), known(fixed({5, 4}), {Stride::fixed(-4), Stride::fixed(1)}));
  p.y_strides = {Stride::fixed(1), Stride::fixed(-3)};
  EXPECT_EQ(check(p, {3, 5}, {5, 4}, {3, 4}), 1);

  p = gemm(known(fixed({3, 5}), {Stride::runtime(), Stride::fixed(2)}), known(fixed({5, 4})),
           known(fixed({3, 4}), {Stride::runtime(), Stride::runtime()}));
  p.y_strides = {Stride::runtime(), Stride::runtime()};
  EXPECT_EQ(check(p, {3, 5}, {5, 4}, {3, 4}, Sizes{3, 4}), 1);

  p = matmul(known(fixed({2, 3, 5}), {Stride::runtime(), Stride::fixed(7), Stride::fixed(1)}), known(fixed({2, 5, 4})));
  p.y_strides = {Stride::fixed(100), Stride::runtime(), Stride::runtime()};
  EXPECT_EQ(check(p, {2, 3, 5}, {2, 5, 4}, {2, 3, 4}), 1);
}

TEST(CallPlan, ElementsInOnePlaceMustBeEqual) {
  const Problem p = matmul(known(fixed({2, 3})), known(fixed({3, 2}), {Stride::fixed(0), Stride::fixed(1)}));
  const auto plan = plan_call(p, {{2, 3}, {3, 2}, std::nullopt});
  ASSERT_TRUE(plan) << plan.status().message();
  compiled = {plan->canonical.problem, loop_form(plan->canonical.problem)};
  const Tensor a = counting({2, 3}, 1);
  Tensor b = counting({3, 2}, 5);
  EXPECT_EQ(run_plan(*plan, {loop_kernel}, {&a, &b}).status().message(),
            "B has strides that put several elements in one place, but their values differ; allowed: equal values");
  std::memcpy(b.bytes.data() + 16, b.bytes.data(), 16);
  std::memcpy(b.bytes.data() + 32, b.bytes.data(), 16);
  const auto y = run_plan(*plan, {loop_kernel}, {&a, &b});
  ASSERT_TRUE(y) << y.status().message();
  EXPECT_EQ(at(*y, 0), (1 + 2 + 3) * 5);
  EXPECT_EQ(at(*y, 3), (4 + 5 + 6) * 6);
}

TEST(CallPlan, RefusesShapesThatDoNotFit) {
  const Dim s = Dim::runtime("s");
  const Problem square = matmul(known({s, s}), known(fixed({4, 2})));
  EXPECT_EQ(refusal(square, {{4, 5}, {4, 2}, {}}), "A has shape (4, 5); allowed: (?s, ?s) with 's' = 4");
  EXPECT_EQ(refusal(square, {{4}, {4, 2}, {}}), "A has shape (4); allowed: (?s, ?s)");
  EXPECT_EQ(refusal(square, {{4, 4}, {4, 3}, {}}), "B has shape (4, 3); allowed: (4, 2)");
  EXPECT_EQ(refusal(square, {{3, 3}, {4, 2}, {}}),
            "K dimension mismatch: 3 in A (3, 3), 4 in B (4, 2); allowed: equal");
  const Problem free = matmul(unknown(), unknown());
  EXPECT_EQ(refusal(free, {{}, {4}, {}}), "MatMul operand A is a scalar; allowed: rank 1 and more");
  EXPECT_EQ(refusal(free, {{2, 3, 4}, {3, 4, 5}, {}}),
            "batch dimension mismatch: 2 in A (2, 3, 4), 3 in B (3, 4, 5); allowed: equal, or one of them 1");
  const Problem with_c = gemm(known(fixed({3, 4})), known(fixed({4, 2})), unknown());
  EXPECT_EQ(refusal(with_c, {{3, 4}, {4, 2}, Sizes{3}}),
            "C has shape (3); allowed: anything that broadcasts to (M, N) = (3, 2)");
  EXPECT_EQ(refusal(with_c, {{3, 4}, {4, 2}, {}}), "C is not given, but the problem has one");
  EXPECT_EQ(refusal(square, {{4, 4}, {4, 2}, Sizes{1}}), "C is given, but the problem has none");
  const int64_t large = int64_t{1} << 40;
  EXPECT_EQ(refusal(free, {{large, 0}, {0, large}, {}}),
            "Y of shape (1099511627776, 1099511627776) is larger than 2^63-1 bytes");
}

TEST(CallPlan, OperandsOfTheEpilogueMayHaveAxesOfSizeOneInFront) {
  const auto code = [](const EpilogueStep& step, const Sizes& shape) {
    Problem p = gemm(known(fixed({2, 4})), known(fixed({4, 3})));
    p.epilogue = {step};
    return plan_call(p, {{2, 4}, {4, 3}, std::nullopt, {shape}}).status().code();
  };
  const EpilogueStep column{"bias", "n", "v"}, row{"scale", "m", "v"}, number{"scale", "", "v"},
      full{"residual", "", "v"};
  for (const auto& [step, shape] : std::vector<std::pair<EpilogueStep, Sizes>>{
           {column, {3}}, {column, {1, 1, 3}}, {row, {1, 2}}, {number, {}}, {number, {1, 1}}, {full, {1, 2, 3}}}) {
    EXPECT_EQ(code(step, shape), StatusCode::kOk) << step.op << " " << shape.size();
  }
  for (const auto& [step, shape] : std::vector<std::pair<EpilogueStep, Sizes>>{
           {column, {3, 1}}, {column, {2, 3}}, {row, {2, 1}}, {number, {0}}, {number, {2}}, {full, {2, 1, 3}}}) {
    EXPECT_EQ(code(step, shape), StatusCode::kInvalidArgument) << step.op << " " << shape.size();
  }
}

TEST(CallPlan, DimensionsThatWereBoundBeforeMustAgree) {
  const Problem p = matmul(known({Dim::runtime("s"), Dim::fixed(4)}), known(fixed({4, 2})));
  EXPECT_TRUE(plan_call(p, {{3, 4}, {4, 2}, {}}, {{"s", 3}}));
  const auto plan = plan_call(p, {{3, 4}, {4, 2}, {}}, {{"s", 5}});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(plan.status().message(), "A has shape (3, 4); allowed: (?s, 4) with 's' = 5");
}

TEST(CallPlan, UnreadCIsCheckedAllTheSame) {
  Problem p = gemm(known(fixed({3, 4})), known(fixed({4, 2})), unknown());
  p.beta = 0;
  EXPECT_NE(refusal(p, {{3, 4}, {4, 2}, Sizes{5}}), "accepted");
  const auto plan = plan_call(p, {{3, 4}, {4, 2}, Sizes{2}});
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->c);
}

TEST(RunPlan, TheKernelsStatusIsPassedOn) {
  const Problem p = matmul(known(fixed({2, 3})), known(fixed({3, 2})));
  const auto plan = plan_call(p, {{2, 3}, {3, 2}, {}});
  ASSERT_TRUE(plan);
  const Tensor a = counting({2, 3}, 0), b = counting({3, 2}, 0);
  const auto y = run_plan(*plan, {[](const gemmc_call*) -> int32_t { return GEMMC_UNSUPPORTED; }}, {&a, &b});
  ASSERT_FALSE(y);
  EXPECT_EQ(y.status().code(), StatusCode::kUnsupported);
}

TEST(RunPlan, MemoryThatTheMachineLacksIsAnError) {
  const int64_t large = int64_t{1} << 28;
  const Problem p = matmul(unknown(), unknown());
  const auto plan = plan_call(p, {{large, 0}, {0, large}, {}});
  ASSERT_TRUE(plan) << plan.status().message();
  const Tensor a{DType::kFloat64, {large, 0}, {}}, b{DType::kFloat64, {0, large}, {}};
  const auto y = run_plan(*plan, {loop_kernel}, {&a, &b});
  ASSERT_FALSE(y);
  EXPECT_EQ(y.status().code(), StatusCode::kEnvironment);
}

}  // namespace
}  // namespace gemmc
