#include "core/problem_string.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "tests/unit/core/random_every_field.h"

namespace gemmc {
namespace {

Problem parsed(std::string_view text) {
  Expected<Problem> problem = parse_problem(text);
  if (!problem) {
    ADD_FAILURE() << text << ": " << problem.status().message();
    return {};
  }
  return *problem;
}

// What is written and how it is printed.
TEST(ProblemString, PrintsCanonically) {
  const std::pair<std::string, std::string> kCases[] = {
      {"gemm f32 m=2 n=3 k=4", "gemm f32 m=2 n=3 k=4"},
      {"  gemm\tfloat32 k=4 n=3   m=2 ", "gemm f32 m=2 n=3 k=4"},
      {"gemm double m=2 n=3 k=4 alpha=1.0 beta=1 order=any", "gemm f64 m=2 n=3 k=4"},
      {"gemm f32 order=k epi=bias:n,gelu alpha=0.50 c=n tb k=384 n=384 m=?seq",
       "gemm f32 m=?seq n=384 k=384 tb c=n alpha=0.5 epi=bias:n,gelu order=k"},
      {"gemm f32 m=?m n=?n:1..512 k=?k:..7~3", "gemm f32 m=? n=?1..512 k=?..7~3"},
      {"gemm f32 m=?n n=? k=?m", "gemm f32 m=?n n=? k=?m"},
      {"gemm f32 m=?(seq) n=?(a_1) k=?(1a)", "gemm f32 m=?seq n=?a_1 k=?(1a)"},
      {"gemm f32 m=?(max) n=?(%61%28%29%25%20) k=?(größe)", "gemm f32 m=?(max) n=?(a%28%29%25%20) k=?(größe)"},
      {"gemm f32 m=?(%ff) n=?(%0a) k=?(%E2%80%A8)", "gemm f32 m=?(%FF) n=?(%0A) k=?(%E2%80%A8)"},
      {"gemm f32 m=?s:0..9223372036854775807 n=?t:5.. k=?u:~7~8", "gemm f32 m=?s n=?t:5.. k=?u:~7~8"},
      {"gemm f32 m=?s n=?s:1..8 k=3", "gemm f32 m=?s:1..8 n=?s k=3"},
      {"gemm f32 m=2 n=1 k=4 c=1", "gemm f32 m=2 n=1 k=4 c=1"},
      {"gemm f32 m=2 n=1 k=4 c=n", "gemm f32 m=2 n=1 k=4 c=1"},
      {"gemm f32 m=1 n=3 k=4 c=mn", "gemm f32 m=1 n=3 k=4 c=1n"},
      {"gemm f32 m=2 n=3 k=4 c=m1 sc=-x5 sa=?x-3 sy=-x1 const=c,b",
       "gemm f32 m=2 n=3 k=4 c=m1 sa=?x-3 sc=-x5 sy=-x1 const=b,c"},
      {"gemm f32 m=2 n=3 k=4 c=* const=c storage=c:bfloat16,a:float16",
       "gemm f32 m=2 n=3 k=4 c=* const=c storage=a:f16,c:bf16"},
      {"gemm f32 m=2 n=3 k=4 alpha=-0 beta=-inf", "gemm f32 m=2 n=3 k=4 alpha=-0 beta=-inf"},
      {"gemm f32 m=2 n=3 k=4 alpha=0.1000000001 beta=16777217", "gemm f32 m=2 n=3 k=4 alpha=0.1 beta=16777216"},
      {"gemm f32 m=2 n=3 k=4 epi=bias::my%20b,scale:m:1%3A2%2c,relu",
       "gemm f32 m=2 n=3 k=4 epi=bias::my%20b,scale:m:1%3A2%2C,relu"},
      {"gemm f32 m=2 n=3 k=4 epi=leaky_relu(0.010),clip(-inf;6.0),leaky_relu(0.25),residual:mn:x",
       "gemm f32 m=2 n=3 k=4 epi=leaky_relu,clip(-inf;6),leaky_relu(0.25),residual:mn:x"},
      {"matmul bf16 a=?bx12x?sx64 b=?bx12x64x?t", "matmul bf16 a=?bx12x?sx64 b=?bx12x64x?t"},
      {"matmul i64 a=4 b=4", "matmul i64 a=4 b=4"},
      {"matmul u64 a=* b=3x4", "matmul u64 a=* b=3x4"},
      {"matmul u32 m=2 n=?1..9 k=4", "matmul u32 a=2x4 b=4x?n:1..9"},
      {"matmul f16 a=?s:1..512~128x?s b=?sx3", "matmul f16 a=?s:1..512~128x?s b=?sx3"},
      {"matmul f32 a=0x9223372036854775807 b=9223372036854775807x0",
       "matmul f32 a=0x9223372036854775807 b=9223372036854775807x0"},
  };
  for (const auto& [written, printed] : kCases) {
    EXPECT_EQ(print_problem(parsed(written)), printed) << written;
  }
}

TEST(ProblemString, ReadsEveryField) {
  const Problem p = parsed(
      "gemm f32 m=?s:2..8~4 n=3 k=?(a%20b) ta tb c=1n alpha=0.1 beta=-2 sa=?x-1 sb=-x0 sc=7x? sy=-x1 const=b "
      "storage=b:bf16 epi=bias:n:b1,relu order=k");
  Dim s = Dim::runtime("s");
  s.min = 2;
  s.max = 8;
  s.likely = {4};
  Problem expected;
  expected.a.shape = {Dim::runtime("a b"), s};
  expected.a.strides = {Stride::runtime(), Stride::fixed(-1)};
  expected.b.shape = {Dim::fixed(3), Dim::runtime("a b")};
  expected.b.strides = {Stride{}, Stride::fixed(0)};
  expected.b.is_constant = true;
  expected.b.storage = DType::kBFloat16;
  expected.c.emplace();
  expected.c->shape = {Dim::fixed(1), Dim::fixed(3)};
  expected.c->strides = {Stride::fixed(7), Stride::runtime()};
  expected.y_strides = {Stride{}, Stride::fixed(1)};
  expected.trans_a = expected.trans_b = true;
  expected.alpha = 0.1f;
  expected.beta = -2.0f;
  expected.epilogue = {{"bias", "n", "b1"}, {"relu", "", ""}};
  expected.order = SummationOrder::kByK;
  EXPECT_TRUE(p == expected) << print_problem(p);
}

TEST(ProblemString, EqualNamesAreOneDimension) {
  const Problem p = parsed("matmul f32 a=?s:1..512x?k b=?kx?s");
  EXPECT_EQ(p.b.shape[1].max, 512);
  EXPECT_EQ(p.b.shape[1], p.a.shape[0]);
}

TEST(ProblemString, ParsesWhatItPrints) {
  std::mt19937 random(7);
  std::set<std::string> seen_words;
  for (int i = 0; i < 20000; ++i) {
    const Problem problem = testing::random_every_field(random);
    const std::string text = print_problem(problem);
    Expected<Problem> again = parse_problem(text);
    ASSERT_TRUE(again) << text << ": " << again.status().message();
    ASSERT_TRUE(*again == problem) << text << " became " << print_problem(*again);
    for (size_t space = text.find(' '); space != std::string::npos; space = text.find(' ', space + 1)) {
      seen_words.insert(text.substr(space + 1, text.find_first_of("= ", space + 1) - space - 1));
    }
  }
  for (const char* word : {"m", "n", "k", "ta", "tb", "c", "a", "b", "alpha", "beta", "sa", "sb", "sc", "sy", "const",
                           "storage", "epi", "order"}) {
    EXPECT_TRUE(seen_words.contains(word)) << "no random problem had the word " << word;
  }
}

TEST(ProblemString, DifferentProblemsPrintDifferently) {
  std::mt19937 random(11);
  std::map<std::string, Problem> by_text;
  for (int i = 0; i < 5000; ++i) {
    const Problem problem = testing::random_every_field(random);
    const auto [found, is_new] = by_text.emplace(print_problem(problem), problem);
    ASSERT_TRUE(is_new || found->second == problem) << found->first;
  }
}

TEST(ProblemString, EveryFloatComesBackWithTheSameBits) {
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    float alpha = 0;
    const uint32_t bits = static_cast<uint32_t>(random());
    static_assert(sizeof(alpha) == sizeof(bits));
    std::memcpy(&alpha, &bits, sizeof(alpha));
    Problem problem = parsed("gemm f64 m=2 n=3 k=4");
    problem.alpha = alpha;
    const Problem parsed_again = parsed(print_problem(problem));
    EXPECT_TRUE(parsed_again == problem) << print_problem(problem);
    const float again = parsed_again.alpha;
    if (std::isnan(alpha)) {
      EXPECT_TRUE(std::isnan(again));
    } else {
      EXPECT_EQ(std::memcmp(&again, &alpha, sizeof(alpha)), 0) << alpha;
    }
  }
}

TEST(ProblemString, PrintsShapesOfInvalidProblemsForMessages) {
  Problem p = parsed("gemm f32 m=2 n=3 k=4 c=mn");
  p.c->shape[0] = Dim::runtime("other");
  EXPECT_EQ(print_problem(p), "gemm f32 m=2 n=3 k=4 c=?otherx3");
  p.a.shape.pop_back();
  EXPECT_EQ(print_problem(p), "gemm f32 a=2 b=4x3");
  p.a.shape.clear();
  EXPECT_EQ(print_problem(p), "gemm f32 a= b=4x3");
}

}  // namespace
}  // namespace gemmc
