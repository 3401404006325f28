#include "api/invoke.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/problem_string.h"

namespace gemmc {
namespace {

Tensor tensor(std::vector<int64_t> shape, const std::vector<float>& values) {
  Tensor result{DType::kFloat32, std::move(shape), std::vector<uint8_t>(values.size() * sizeof(float))};
  if (!values.empty()) std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

std::vector<float> values(const Tensor& from) {
  std::vector<float> result(from.bytes.size() / sizeof(float));
  if (!result.empty()) std::memcpy(result.data(), from.bytes.data(), from.bytes.size());
  return result;
}

Problem problem(const std::string& text) { return *parse_problem(text); }

// Y = A B with weights B = (1, 10, 100) as a column.
Node node() {
  Node made;
  made.name = "fc1";
  made.op_type = "MatMul";
  NodeInput a, b;
  a.name = "x";
  a.shape = Shape{Dim::runtime("rows"), Dim::fixed(3)};
  b.name = "w";
  b.shape = Shape{Dim::fixed(3), Dim::fixed(1)};
  a.dtype = b.dtype = DType::kFloat32;
  b.is_constant = true;
  b.data = std::make_shared<Tensor>(tensor({3, 1}, {1, 10, 100}));
  made.inputs = {a, b};
  return made;
}

class InvokeTest : public ::testing::Test {
 protected:
  Session session_{*host_target()};
};

TEST_F(InvokeTest, ComputesAndReportsTheKernel) {
  const Tensor a = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), b = tensor({3, 2}, {1, 0, 0, 1, 1, 1}),
               c = tensor({2}, {10, 20});
  InvokeReport report;
  const auto y = invoke(session_, problem("gemm f32 m=?m n=2 k=3 c=n"), {&a, &b, &c}, {}, &report);
  ASSERT_TRUE(y) << y.status().message();
  EXPECT_EQ(y->shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(values(*y), (std::vector<float>{14, 25, 20, 31}));
  ASSERT_NE(report.kernel, nullptr);
  EXPECT_EQ(print_problem(report.kernel->artifact().problem), "gemm f32 m=?d0 n=2 k=3 c=n");
  EXPECT_GT(report.call_ns, 0);
}

TEST_F(InvokeTest, EqualProblemsCompileOnce) {
  const Tensor a = tensor({1, 3}, {1, 2, 3}), b = tensor({3, 1}, {1, 1, 1});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(invoke(session_, problem("matmul f32 a=?mx3 b=3x1"), {&a, &b}));
  ASSERT_TRUE(invoke(session_, problem("matmul f32 a=?other_namex3 b=3x1"), {&a, &b}));
  EXPECT_EQ(session_.compiled_count(), 1u);
}

TEST_F(InvokeTest, ANodesDataStandsForMissingArrays) {
  const Tensor a = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto y = invoke(session_, node(), {&a});
  ASSERT_TRUE(y) << y.status().message();
  EXPECT_EQ(values(*y), (std::vector<float>{321, 654}));

  const Tensor other = tensor({3, 1}, {1, 0, 0});
  const auto overridden = invoke(session_, node(), {&a, &other});
  ASSERT_TRUE(overridden) << overridden.status().message();
  EXPECT_EQ(values(*overridden), (std::vector<float>{1, 4}));
}

TEST_F(InvokeTest, RefusesArraysThatTheNodeDoesNotAllow) {
  const Tensor good = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), narrow = tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  Tensor wrong_type = good;
  wrong_type.dtype = DType::kInt32;
  const auto message = [&](const Arrays& arrays) {
    const auto y = invoke(session_, node(), arrays);
    EXPECT_EQ(y.status().code(), StatusCode::kInvalidArgument);
    return y ? "accepted" : y.status().message();
  };
  EXPECT_EQ(message({}), "A is not given; needed: float32 (?rows, 3) (node 'fc1')");
  EXPECT_EQ(message({&narrow}), "A has shape (3, 2); allowed: (?rows, 3) (node 'fc1')");
  EXPECT_EQ(message({&wrong_type}), "A has type int32; allowed: float32 (node 'fc1')");
  EXPECT_EQ(message({&good, nullptr, &good}), "C is given, but the node has none (node 'fc1')");
  EXPECT_EQ(session_.compiled_count(), 0u) << "a kernel was compiled for arrays that it cannot take";
}

}  // namespace
}  // namespace gemmc
