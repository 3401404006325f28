#include "core/problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "core/problem_shapes.h"
#include "tests/unit/core/make_problem.h"

namespace gemmc {
namespace {

using testing::fixed_strides;
using testing::gemm;
using testing::matmul;
using testing::shape;
using testing::unknown_rank;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

void expect_valid(const Problem& problem, const std::string& what) {
  const Status status = validate(problem);
  EXPECT_TRUE(status.is_ok()) << what << ": " << status.message();
}

// Refused as the user's error, in a message with each of `parts` and what is allowed.
void expect_refused(const Problem& problem, std::initializer_list<std::string> parts) {
  const Status status = validate(problem);
  ASSERT_FALSE(status.is_ok()) << "not refused: " << *parts.begin();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
  for (const std::string& part : parts) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message() << "\n  lacks: " << part;
  }
  EXPECT_NE(status.message().find("allowed: "), std::string::npos) << status.message();
}

template <typename Change>
Problem with(Problem problem, Change change) {
  change(problem);
  return problem;
}

TEST(Problem, TakesEveryFormOfGemm) {
  expect_valid(gemm({2, 3}, {3, 4}), "static");
  expect_valid(gemm({"m", "k"}, {"k", "n"}), "run-time");
  expect_valid(with(gemm({3, 2}, {4, 3}), [](Problem& p) { p.trans_a = p.trans_b = true; }), "transposed");
  expect_valid(gemm({2, 3}, {3, 4}, {}), "C ()");
  expect_valid(gemm({2, 3}, {3, 4}, {1}), "C (1)");
  expect_valid(gemm({2, 3}, {3, 4}, {4}), "C (N)");
  expect_valid(gemm({2, 3}, {3, 4}, {1, 4}), "C (1, N)");
  expect_valid(gemm({2, 3}, {3, 4}, {2, 1}), "C (M, 1)");
  expect_valid(gemm({2, 3}, {3, 4}, {1, 1}), "C (1, 1)");
  expect_valid(gemm({2, 3}, {3, 4}, {2, 4}), "C (M, N)");
  expect_valid(gemm({"m", 3}, {3, "n"}, {"m", "n"}), "C of run-time dimensions");
  expect_valid(gemm({0, 3}, {3, 0}, {0, 0}), "empty");
  expect_valid(with(gemm({2, 3}, {3, 4}), [](Problem& p) { p.c = unknown_rank(); }), "C of unknown rank");
  expect_valid(with(gemm({2, 3}, {3, 4}), [](Problem& p) { p.alpha = p.beta = std::nanf(""); }), "NaN for floats");
}

TEST(Problem, RefusesGemmsThatDoNotFit) {
  expect_refused(gemm({2}, {3, 4}), {"Gemm operand A", "(2)", "rank 2"});
  expect_refused(gemm({2, 3}, {5, 3, 4}), {"Gemm operand B", "(5, 3, 4)", "rank 2"});
  expect_refused(with(gemm({2, 3}, {3, 4}), [](Problem& p) { p.b = unknown_rank(); }), {"B", "unknown rank", "rank 2"});
  expect_refused(gemm({2, 3}, {4, 5}), {"K", "3 in A (2, 3)", "4 in B (4, 5)", "equal"});
  expect_refused(gemm({"m", "k"}, {"other", "n"}), {"K", "?k", "?other"});
  expect_refused(gemm({2, 3}, {"k", 4}), {"K", "3 in A", "?k in B"});
  expect_refused(with(gemm({2, 3}, {3, 4}), [](Problem& p) { p.trans_a = true; }), {"K", "2 in A (2, 3)", "3 in B"});
}

TEST(Problem, RefusesFormsOfCThatDoNotBroadcast) {
  const Shape kForms[] = {shape({2}),    shape({5}),    shape({0}),       shape({4, 1}), shape({4, 2}),
                          shape({2, 3}), shape({1, 2}), shape({1, 1, 1}), shape({"n"}),  shape({"m", 4})};
  for (const Shape& form : kForms) {
    const auto set_form = [&](Problem& p) { p.c->shape = form; };
    expect_refused(with(gemm({2, 3}, {3, 4}, {}), set_form), {"C has shape (", "broadcasts to (M, N) = (2, 4)"});
  }
  expect_refused(gemm({"m", 3}, {3, "n"}, {"n", "m"}), {"(?n, ?m)", "(?m, ?n)"});
  expect_refused(gemm({1, 3}, {3, 1}, {0}), {"(0)", "(1, 1)"});
}

TEST(Problem, TakesEveryFormOfMatMul) {
  expect_valid(matmul({3}, {3}), "vectors");
  expect_valid(matmul({3}, {3, 4}), "vector and matrix");
  expect_valid(matmul({2, 3}, {3}), "matrix and vector");
  expect_valid(matmul({5, 1, 2, 3}, {7, 3, 4}), "batches that broadcast");
  expect_valid(matmul({"b", 2, 3}, {7, 3, 4}), "a batch decided at the call");
  expect_valid(matmul({"a", 2, "k"}, {"b", 3, 4}), "names that differ");
  expect_valid(matmul({0, 2, 3}, {1, 3, 4}), "no batch");
  expect_valid(with(matmul({2, 3}, {3, 4}), [](Problem& p) { p.a = p.b = unknown_rank(); }), "unknown ranks");
}

TEST(Problem, RefusesMatMulsThatDoNotFit) {
  expect_refused(matmul({}, {3}), {"operand A", "scalar", "rank 1"});
  expect_refused(matmul({3}, {}), {"operand B", "scalar"});
  expect_refused(with(matmul({}, {}), [](Problem& p) { p.a = unknown_rank(); }), {"operand B", "scalar"});
  expect_refused(matmul({3}, {4}), {"K", "3 in A (3)", "4 in B (4)"});
  expect_refused(matmul({2, 1}, {4, 5}), {"K", "1 in A", "4 in B"});
  expect_refused(matmul({4, 2, 3}, {2, 3, 5}), {"batch", "4 in A (4, 2, 3)", "2 in B (2, 3, 5)", "one of them 1"});
  expect_refused(matmul({0, 2, 3}, {2, 3, 5}), {"batch", "0 in A", "2 in B"});
  for (const auto& change :
       {+[](Problem& p) { p.c.emplace(); }, +[](Problem& p) { p.trans_a = true; },
        +[](Problem& p) { p.trans_b = true; }, +[](Problem& p) { p.alpha = 2; }, +[](Problem& p) { p.beta = 0; }}) {
    expect_refused(with(matmul({2, 3}, {3, 4}), change), {"MatMul has C, a transposition, alpha or beta"});
  }
}

TEST(Problem, ARunTimeKThatMustBeANumberIsThatNumberEverywhere) {
  expect_valid(matmul({"s", 2, "s"}, {3, 3, 4}), "K and batch agree");
  expect_refused(matmul({"s", 2, "s"}, {3, 5, 4}), {"batch", "5 in A", "3 in B"});
  expect_refused(matmul({int64_t{1} << 32, 1, 1}, {int64_t{1} << 32, "k", int64_t{1} << 31}),
                 {"larger than 2^63-1 bytes"});
  expect_refused(matmul({"s", "s"}, {int64_t{1} << 31, 1}), {"operand A", "larger than 2^63-1 bytes"});
}

TEST(Problem, RefusesDimensionsThatAreNone) {
  expect_refused(gemm({-1, 3}, {3, 4}), {"operand A", "-1", "0 and more"});
  expect_refused(gemm({2, 3}, {3, kMin}), {"operand B", "-9223372036854775808"});
  expect_refused(gemm({2, 3}, {3, 4}, {-1}), {"operand C", "-1"});
  Problem deep = matmul({3}, {3});
  deep.a.shape.assign(33, Dim::fixed(1));
  expect_refused(deep, {"operand A", "rank 33", "up to 32"});
  deep.a.shape.assign(32, Dim::fixed(1));
  deep.b.shape[0] = Dim::fixed(1);
  expect_valid(deep, "rank 32");
  expect_refused(with(gemm({2, 3}, {3, 4}), [](Problem& p) { p.c = unknown_rank(), p.c->shape = shape({4}); }),
                 {"operand C", "unknown rank", "shape"});
  expect_refused(with(matmul({2, 3}, {3, 4}), [](Problem& p) { p.a = unknown_rank(), p.a.strides = {Stride{}}; }),
                 {"operand A", "unknown rank", "strides"});
}

TEST(Problem, RefusesHintsThatContradict) {
  const auto hinted = [](auto change) {
    Problem problem = gemm({"m", 3}, {3, 4});
    change(problem.a.shape[0]);
    return problem;
  };
  expect_refused(hinted([](Dim& d) { d.min = -1; }), {"'m'", "operand A", "-1..", "0 <= min <= max"});
  expect_refused(hinted([](Dim& d) { d.min = 8, d.max = 7; }), {"'m'", "8..7"});
  expect_refused(hinted([](Dim& d) { d.max = 8, d.likely = {4, 9}; }), {"'m'", "likely value 9", "0..8"});
  expect_refused(hinted([](Dim& d) { d = Dim::fixed(2), d.min = 1; }), {"static dimension", "range"});
  Problem twice = gemm({"m", 3}, {3, "m"});
  twice.a.shape[0].max = 5;
  expect_refused(twice, {"'m'", "two different ranges"});
  expect_valid(hinted([](Dim& d) { d.min = d.max = 8, d.likely = {8}; }), "one value");
}

TEST(Problem, CountsStrides) {
  expect_refused(with(gemm({2, 3}, {3, 4}), [](Problem& p) { p.a.strides = fixed_strides({1}); }),
                 {"operand A", "1 strides", "rank 2"});
  expect_refused(with(gemm({2, 3}, {3, 4}),
                      [](Problem& p) {
                        p.y_strides = fixed_strides({8, 4, 1});
                      }),
                 {"Y has 3 strides", "rank 2"});
  expect_refused(with(matmul({3}, {3, 4}),
                      [](Problem& p) {
                        p.y_strides = fixed_strides({4, 1});
                      }),
                 {"Y has 2 strides", "rank 1"});
  expect_valid(with(matmul({3}, {5, 3, 4}), [](Problem& p) { p.y_strides = fixed_strides({8, 2}); }), "(5, 4)");
  expect_valid(with(matmul({3}, {3}), [](Problem& p) { p.a.strides = fixed_strides({-7}); }), "a vector's stride");
}

TEST(Problem, KeepsTheElementsOfYApart) {
  const auto y = [](int64_t m, int64_t n, Strides strides) {
    return with(gemm({m, 3}, {3, n}), [&](Problem& p) { p.y_strides = std::move(strides); });
  };
  expect_valid(y(2, 4, fixed_strides({4, 1})), "dense");
  expect_valid(y(2, 4, fixed_strides({1, 2})), "columns first");
  expect_valid(y(2, 4, fixed_strides({-4, -1})), "backwards");
  expect_valid(y(1, 4, fixed_strides({0, 1})), "one row needs no stride");
  expect_valid(y(0, 4, fixed_strides({0, 0})), "no element");
  expect_valid(y(2, 4, {Stride::runtime(), Stride::runtime()}), "the call's");
  expect_refused(y(2, 4, fixed_strides({0, 1})), {"Y has a stride of 0"});
  expect_refused(y(2, 4, fixed_strides({3, 1})), {"Y", "overlap"});
  expect_refused(y(2, 4, fixed_strides({-3, 1})), {"Y", "overlap"});
  expect_refused(y(2, 4, fixed_strides({1, 1})), {"Y", "overlap"});
  expect_refused(y(2, 4, fixed_strides({kMin, kMax})), {"Y"});
  expect_refused(y(2, 4, {Stride{}, Stride::fixed(2)}), {"Y", "overlap"});
  expect_refused(y(2, 4, {Stride::runtime(), Stride::fixed(0)}), {"Y has a stride of 0"});
  const auto batches = [](Strides strides) {
    return with(matmul({"b", 2, 3}, {3, 4}), [&](Problem& p) { p.y_strides = std::move(strides); });
  };
  expect_refused(batches(fixed_strides({100, 3, 1})), {"Y", "overlap"});
  expect_refused(batches(fixed_strides({0, 4, 1})), {"Y has a stride of 0"});
  expect_valid(batches(fixed_strides({8, 4, 1})), "a run-time batch");
}

TEST(Problem, StridesOfYAreGivenForAllBatchesOrNone) {
  const auto y = [](Strides strides) {
    return with(matmul({5, 6, 2, 3}, {3, 4}), [&](Problem& p) { p.y_strides = std::move(strides); });
  };
  expect_valid(y({Stride{}, Stride{}, Stride::fixed(4), Stride::fixed(1)}), "dense batches");
  expect_valid(y({Stride::fixed(100), Stride::runtime(), Stride{}, Stride{}}), "given batches");
  expect_refused(y({Stride::fixed(100), Stride{}, Stride{}, Stride{}}), {"some batch strides given and some dense"});
}

TEST(Problem, StridesNeedTheRanksThatTheCallerFlattens) {
  const Strides given = fixed_strides({8, 4, 1});
  expect_refused(with(matmul({2, 3}, {3, 4}), [&](Problem& p) { p.a = unknown_rank(), p.y_strides = given; }),
                 {"Y has strides", "rank is unknown", "no strides"});
  expect_refused(with(matmul({5, 2, 3}, {3, 4}), [&](Problem& p) { p.b = unknown_rank(), p.a.strides = given; }),
                 {"operand A (5, 2, 3) has strides", "rank of B is unknown"});
  expect_refused(with(matmul({2, 3}, {5, 3, 4}), [&](Problem& p) { p.a = unknown_rank(), p.b.strides = given; }),
                 {"operand B (5, 3, 4) has strides", "rank of A is unknown"});
  expect_valid(with(matmul({2, 3}, {3, 4}),
                    [&](Problem& p) {
                      p.a = unknown_rank(), p.b.strides = fixed_strides({1, 3});
                    }),
               "a matrix is not flattened");
}

struct Width {
  DType dtype;
  int64_t most;  // elements in 2^63-1 bytes
};
const Width kWidths[] = {{DType::kFloat16, kMax / 2}, {DType::kFloat32, kMax / 4}, {DType::kUInt64, kMax / 8}};

TEST(Problem, OperandsEndAt2To63Bytes) {
  for (const auto& [dtype, most] : kWidths) {
    const auto typed = [dtype = dtype](Problem problem) {
      problem.dtype = dtype;
      return problem;
    };
    expect_valid(typed(gemm({most, 1}, {1, 1})), "A of the largest size");
    expect_refused(typed(gemm({most + 1, 1}, {1, 1})), {"operand A is larger than 2^63-1 bytes"});
    expect_refused(typed(gemm({1, 1}, {1, most + 1})), {"operand B is larger than 2^63-1 bytes"});
    expect_refused(typed(gemm({1, kMax}, {kMax, 1})), {"operand A is larger than 2^63-1 bytes"});
    expect_refused(typed(gemm({kMax / 32, 1}, {1, 32})), {"operand Y is larger than 2^63-1 bytes"});
    expect_refused(typed(matmul({kMax, kMax, kMax, 1}, {1, "n"})), {"operand A is larger"});
    const auto strided = [&](int64_t stride) {
      return typed(with(gemm({3, 1}, {1, 1}), [&](Problem& p) { p.a.strides = fixed_strides({stride, 1}); }));
    };
    expect_valid(strided((most - 1) / 2), "the last stride that fits");
    expect_valid(strided(-(most - 1) / 2), "backwards");
    expect_refused(strided(most / 2 + 1), {"operand A is larger than 2^63-1 bytes"});
    expect_refused(strided(kMin), {"operand A is larger than 2^63-1 bytes"});
    expect_refused(strided(kMax), {"operand A is larger than 2^63-1 bytes"});
    // Dense and given strides add up.
    expect_refused(typed(with(matmul({2, most / 2, 2}, {2, 1}),
                              [&](Problem& p) {
                                p.a.strides = {Stride{}, Stride{}, Stride::fixed(most / 2)};
                              })),
                   {"operand A is larger than 2^63-1 bytes"});
  }
}

TEST(Problem, OperandsWithoutElementsHaveAnySize) {
  expect_valid(gemm({kMax, 0}, {0, 0}), "K = N = 0");
  expect_valid(gemm({0, kMax}, {kMax, 0}), "M = N = 0");
  expect_valid(matmul({kMax, kMax, 0, kMax}, {kMax, 0}), "M = N = 0, huge batches");
  expect_valid(with(gemm({0, 5}, {5, 1}),
                    [](Problem& p) {
                      p.a.strides = fixed_strides({kMin, kMin});
                    }),
               "strides too");
  expect_refused(gemm({kMax, 0}, {0, 2}), {"operand Y is larger than 2^63-1 bytes"});
}

TEST(Problem, IntegersTakeOnlyFiniteAlphaAndBeta) {
  for (DType dtype : kAllDTypes) {
    for (float value : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
      Problem alpha = gemm({2, 3}, {3, 4}), beta = gemm({2, 3}, {3, 4});
      alpha.dtype = beta.dtype = dtype;
      alpha.alpha = value;
      beta.beta = -value;
      if (is_integer(dtype)) {
        expect_refused(alpha, {"alpha", std::string(name(dtype)), std::isnan(value) ? "nan" : "inf", "finite"});
        expect_refused(beta, {"beta", std::string(name(dtype))});
      } else {
        expect_valid(alpha, "float alpha");
        expect_valid(beta, "float beta");
      }
    }
  }
}

TEST(Problem, StorageIsANarrowerFloat) {
  const auto stored = [](DType dtype, DType storage) {
    Problem problem = gemm({2, 3}, {3, 4});
    problem.dtype = dtype;
    problem.b.storage = storage;
    return problem;
  };
  expect_valid(stored(DType::kFloat32, DType::kBFloat16), "narrower");
  expect_refused(stored(DType::kFloat32, DType::kFloat32),
                 {"operand B", "storage float32", "type float32", "narrower"});
  expect_refused(stored(DType::kFloat32, DType::kFloat64), {"storage float64"});
  expect_refused(stored(DType::kFloat64, DType::kInt32), {"storage int32"});
  expect_refused(stored(DType::kInt64, DType::kFloat16), {"type int64"});
}

TEST(Problem, ChecksEpilogues) {
  const auto after = [](EpilogueStep step) {
    Problem problem = gemm({2, 3}, {3, 4});
    problem.epilogue = {{"relu", "", ""}, std::move(step)};
    return problem;
  };
  expect_valid(after({"bias", "n", "b1"}), "bias");
  expect_valid(after({"scale", "", "s"}), "scalar scale");
  expect_refused(after({"softmax", "", ""}), {"'softmax'", "bias", "hard_swish"});
  expect_refused(after({"gelu", "n", ""}), {"'gelu'", "axis or a name", "neither"});
  expect_refused(after({"gelu", "", "x"}), {"'gelu'", "axis or a name"});
  expect_refused(after({"bias", "k", ""}), {"'bias'", "'k'", "n, m, mn or none"});
  expect_refused(after({"residual", "n", ""}), {"'residual'", "'n'", "mn or none"});
  expect_valid(after({"residual", "", "x"}), "residual");
  expect_valid(after({"clip", "", "", {0, 6}}), "clip");
  expect_valid(after({"leaky_relu", "", "", {0.5f}}), "leaky_relu");
  expect_refused(after({"clip", "", ""}), {"'clip'", "one of them finite"});
  expect_refused(after({"clip", "", "", {6, 0}}), {"min 6 and max 0", "min <= max"});
  expect_refused(after({"clip", "", "", {1}}), {"'clip' has 1 values", "none or 2"});
  expect_refused(after({"gelu", "", "", {1}}), {"'gelu' has 1 values", "allowed: none"});
  expect_refused(after({"leaky_relu", "", "", {std::nanf("")}}), {"the value nan"});
}

TEST(Problem, EpiloguesFitTypesAndShapes) {
  Problem integers = gemm({2, 3}, {3, 4});
  integers.dtype = DType::kInt32;
  for (const char* op : {"bias", "scale", "residual", "relu"}) {
    integers.epilogue = {{op, "", ""}};
    expect_valid(integers, op);
  }
  integers.epilogue = {{"gelu", "", ""}};
  expect_refused(integers, {"'gelu' for type int32", "floating-point types"});
  Problem row = matmul({3}, {3, 4});
  row.epilogue = {{"bias", "m", ""}};
  expect_refused(row, {"axis 'm'", "A is a vector"});
  row.epilogue = {{"bias", "n", ""}};
  expect_valid(row, "one for each column");
  Problem column = matmul({2, 3}, {3});
  column.epilogue = {{"scale", "n", ""}};
  expect_refused(column, {"axis 'n'", "B is a vector"});
  Problem unknown = matmul({2, 3}, {3, 4});
  unknown.b = Operand{.has_known_rank = false};
  unknown.epilogue = {{"residual", "", ""}};
  expect_refused(unknown, {"'residual'", "rank of B is unknown"});
  unknown.epilogue = {{"bias", "n", ""}};
  expect_valid(unknown, "columns need no rows");
}

TEST(Problem, RefusesMoreStepsThanCompileInReasonableTime) {
  Problem long_epilogue = gemm({2, 3}, {3, 4});
  long_epilogue.epilogue.assign(kMostEpilogueSteps, {"relu", "", ""});
  expect_valid(long_epilogue, "as many as are allowed");
  long_epilogue.epilogue.push_back({"relu", "", ""});
  expect_refused(long_epilogue, {"33 steps", "up to 32"});
}

TEST(Problem, RefusesByNameWhatIsNotBuilt) {
  EXPECT_TRUE(refuse_unbuilt(gemm({2, 3}, {3, 4}, {4})).is_ok());
  Problem epilogue = gemm({2, 3}, {3, 4});
  epilogue.epilogue = {{"gelu", "", ""}};
  EXPECT_TRUE(refuse_unbuilt(epilogue).is_ok());
  epilogue.dtype = DType::kFloat64;
  EXPECT_EQ(refuse_unbuilt(epilogue).code(), StatusCode::kUnsupported);
  EXPECT_EQ(refuse_unbuilt(epilogue).message(),
            "epilogue step 'gelu' for float64: not built yet; allowed: gelu_tanh, or another type");
  Problem storage = gemm({2, 3}, {3, 4}, {4});
  storage.b.storage = DType::kInt8;
  EXPECT_TRUE(refuse_unbuilt(storage).is_ok());
  storage.c->storage = DType::kFloat16;
  EXPECT_EQ(refuse_unbuilt(storage).code(), StatusCode::kUnsupported);
  EXPECT_EQ(refuse_unbuilt(storage).message(),
            "operand C stored as float16: not built yet; allowed: storage in the problem's type float32");
}

TEST(ProblemShapes, OutputShape) {
  EXPECT_EQ(output_shape(gemm({2, 3}, {3, 4})), shape({2, 4}));
  Problem transposed = gemm({"k", "m"}, {4, "k"});
  transposed.trans_a = transposed.trans_b = true;
  EXPECT_EQ(output_shape(transposed), shape({"m", 4}));
  EXPECT_EQ(output_shape(matmul({3}, {3})), shape({}));
  EXPECT_EQ(output_shape(matmul({3}, {5, 3, 4})), shape({5, 4}));
  EXPECT_EQ(output_shape(matmul({5, 2, 3}, {3})), shape({5, 2}));
  EXPECT_EQ(output_shape(matmul({5, 1, 2, 3}, {7, 3, 4})), shape({5, 7, 2, 4}));
  EXPECT_EQ(output_shape(matmul({"s", 1, 2, 3}, {"t", 7, 3, 4})), shape({"max(s,t)", 7, 2, 4}));
  EXPECT_EQ(output_shape(matmul({"s", 2, 3}, {7, 3, 4})), shape({7, 2, 4}));
  EXPECT_EQ(output_shape(matmul({1, 2, 3}, {"t", 3, 4})), shape({"t", 2, 4}));
  EXPECT_EQ(output_shape(matmul({0, 2, 3}, {1, 3, 4})), shape({0, 2, 4}));
}

TEST(ProblemShapes, KnownStride) {
  const Shape sizes = shape({"b", 3, "m", 4, 5});
  EXPECT_EQ(known_stride(sizes, {}, 4), 1);
  EXPECT_EQ(known_stride(sizes, {}, 2), 20);
  EXPECT_EQ(known_stride(sizes, {}, 1), std::nullopt) << "depends on m";
  const Strides given = {Stride::fixed(-7), Stride::runtime(), Stride{}, Stride{}, Stride{}};
  EXPECT_EQ(known_stride(sizes, given, 0), -7);
  EXPECT_EQ(known_stride(sizes, given, 1), std::nullopt);
  EXPECT_EQ(known_stride(sizes, given, 3), 5);
  EXPECT_EQ(known_stride(shape({2, kMax, kMax}), {}, 0), kMax);
}

TEST(ProblemShapes, TextOfShapes) {
  EXPECT_EQ(shape_text(shape({"batch", 12, 64})), "(?batch, 12, 64)");
  EXPECT_EQ(shape_text(shape({4})), "(4)");
  EXPECT_EQ(shape_text(Shape{}), "()");
  EXPECT_EQ(shape_text(std::vector<int64_t>{2, 3}), "(2, 3)");
}

TEST(Problem, EqualityIsThatOfEveryField) {
  const Problem base = gemm({2, 3}, {3, 4}, {2, 4});
  EXPECT_TRUE(base == gemm({2, 3}, {3, 4}, {2, 4}));
  const std::function<void(Problem&)> kChanges[] = {
      [](Problem& p) { p.op = Operator::kMatMul; },
      [](Problem& p) { p.dtype = DType::kFloat64; },
      [](Problem& p) { p.a.shape[0] = Dim::fixed(5); },
      [](Problem& p) { p.b.is_constant = true; },
      [](Problem& p) { p.c.reset(); },
      [](Problem& p) {
        p.y_strides = {Stride::fixed(9), Stride::fixed(1)};
      },
      [](Problem& p) { p.trans_a = true; },
      [](Problem& p) { p.trans_b = true; },
      [](Problem& p) { p.alpha = 2; },
      [](Problem& p) { p.beta = std::nanf(""); },
      [](Problem& p) { p.order = SummationOrder::kByK; },
      [](Problem& p) {
        p.epilogue = {{"relu", "", ""}};
      },
  };
  for (size_t i = 0; i < std::size(kChanges); ++i) {
    const Problem changed = with(base, kChanges[i]);
    EXPECT_FALSE(changed == base) << "change " << i;
    EXPECT_TRUE(changed == with(base, kChanges[i])) << "change " << i;
  }
  const auto scaled = [&](float alpha) { return with(base, [=](Problem& p) { p.alpha = alpha; }); };
  EXPECT_TRUE(scaled(std::nanf("1")) == scaled(-std::nanf("2"))) << "a NaN is a NaN";
  EXPECT_FALSE(scaled(0.0f) == scaled(-0.0f)) << "they print differently";
}

TEST(ProblemShapes, SaturatingProduct) {
  EXPECT_EQ(saturating_product(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_EQ(saturating_product(int64_t{1} << 32, int64_t{1} << 31), kMax);
  EXPECT_EQ(saturating_product(kMax, kMax), kMax);
  EXPECT_EQ(saturating_product(kMax, 0), 0);
}

}  // namespace
}  // namespace gemmc
