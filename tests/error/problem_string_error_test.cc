// Problem strings that are wrong: one clear line each, in time linear in their length.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "core/problem_string.h"

namespace gemmc {
namespace {

std::string error_of(const std::string& text) {
  const Expected<Problem> problem = parse_problem(text);
  if (problem) return "no error";
  EXPECT_EQ(problem.status().code(), StatusCode::kInvalidArgument) << text;
  const std::string& message = problem.status().message();
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 1000u) << message;
  EXPECT_TRUE(message.starts_with("problem string: ")) << message;
  return message;
}

TEST(ProblemStringError, NamesTheWordAndWhatIsAllowed) {
  const std::pair<std::string, std::string> kCases[] = {
      {"", "expected an operator (gemm, matmul)"},
      {"gemm", "found 'gemm'"},
      {"conv f32 m=2 n=3 k=4", "unknown operator 'conv'; allowed: gemm, matmul"},
      {"GEMM f32 m=2 n=3 k=4", "unknown operator 'GEMM'"},
      {"gemm f8 m=2 n=3 k=4", "unknown type 'f8'; allowed: bf16,"},
      {"gemm f32", "m=, n= and k= are needed"},
      {"gemm f32 m=2 n=3", "m=, n= and k= are needed; k= is missing"},
      {"gemm f32 a=2x4 b=4x3", "unknown word 'a=2x4' for gemm; allowed: m=, n=, k=, ta, tb,"},
      {"gemm f32 m=2 n=3 k=4 color=red", "unknown word 'color=red'"},
      {"gemm f32 m=2 n=3 k=4 =", "unknown word '='"},
      {"gemm f32 m=2 n=3 k=4 m=2", "word 'm' stands twice"},
      {"gemm f32 m=2 n=3 k=4 ta ta", "word 'ta' stands twice"},
      {"gemm f32 m=2 n=3 k=4 ta=1", "word 'ta=1' takes no value"},
      {"gemm f32 m=2 n=3 k=4 alpha", "word 'alpha' needs =value"},
      {"gemm f32 m=2 n=3 k=4 alpha=1e39", "fits float32"},
      {"gemm f32 m=2 n=3 k=4 alpha=-nan", "found '-nan'"},
      {"gemm f32 m=2 n=3 k=4 alpha=0x10", "found '0x10'"},
      {"gemm f32 m=2 n=3 k=4 alpha=+1", "found '+1'"},
      {"gemm f32 m=2 n=3 k=4 alpha=infinity", "found 'infinity'"},
      {"gemm i32 m=2 n=3 k=4 alpha=inf", "allowed: finite values"},
      {"gemm f32 m=-2 n=3 k=4", "a dimension of -2; allowed: 0 and more"},
      {"gemm f32 m=2.5 n=3 k=4", "unexpected '.5'"},
      {"gemm f32 m= n=3 k=4", "word 'm=': expected a dimension"},
      {"gemm f32 m=2x2 n=3 k=4", "unexpected 'x2'"},
      {"gemm f32 m=9223372036854775808 n=3 k=4", "'9223372036854775808' is out of range"},
      {"gemm f32 m=4611686018427387904 n=3 k=4", "larger than 2^63-1 bytes"},
      {"gemm f32 m=?max n=3 k=4", "unexpected 'x' (a name with an x,"},
      {"gemm f32 m=?m~128 n=3 k=4", "unexpected '~128' (a range and likely values stand behind ?name and a colon"},
      {"gemm f32 m=128..512 n=3 k=4", "unexpected '..512' (a range and likely values"},
      {"gemm f32 m=2 n=3 k=4 sa=10,1", "unexpected ',1' (an x stands between"},
      {"matmul f32 a=2,4 b=4x3", "unexpected ',4' (an x stands between"},
      {"gemm f32 m=?7 n=3 k=4", "expected '..' in a dimension's range"},
      {"gemm f32 m=?s:7 n=3 k=4", "expected '..' in a dimension's range"},
      {"gemm f32 m=?s: n=3 k=4", "expected a range"},
      {"gemm f32 m=?s:9..1 n=3 k=4", "range 9..1"},
      {"gemm f32 m=?s:1..8~9 n=3 k=4", "likely value 9"},
      {"gemm f32 m=?s:1..99999999999999999999 n=3 k=4", "out of range"},
      {"gemm f32 m=?s:1..8 n=?s:1..9 k=4", "dimension 's' has two different ranges"},
      {"gemm f32 m=?() n=3 k=4", "empty name"},
      {"gemm f32 m=?(a n=3 k=4", "expected ')'"},
      {"gemm f32 m=?(a(b) n=3 k=4", "expected ')'"},
      {"gemm f32 m=?(a%2) n=3 k=4", "without two hexadecimal digits"},
      {"gemm f32 m=?(a%-1) n=3 k=4", "without two hexadecimal digits"},
      {"gemm f32 m=2 n=3 k=4 c=nm", "unknown form of C 'nm'; allowed: s, 1, n, 1n, m1, 11, mn, *"},
      {"gemm f32 m=2 n=3 k=4 sc=1", "word 'sc' is about C"},
      {"gemm f32 m=2 n=3 k=4 const=c", "word 'const' is about C"},
      {"gemm f32 m=2 n=3 k=4 const=a,a", "operand 'a' stands twice"},
      {"gemm f32 m=2 n=3 k=4 const=", "unknown operand ''"},
      {"gemm f32 m=2 n=3 k=4 const=y", "unknown operand 'y'; allowed: a, b, c"},
      {"gemm f32 m=2 n=3 k=4 storage=a:i4", "unknown type 'i4'"},
      {"gemm i8 m=2 n=3 k=4", "i8"},
      {"gemm i32 m=2 n=3 k=4 storage=b:i8", "narrower"},
      {"gemm f32 m=2 n=3 k=4 storage=b:i32", "narrower"},
      {"gemm f32 m=2 n=3 k=4 storage=a", "unknown type ''"},
      {"gemm f32 m=2 n=3 k=4 storage=a:f64", "narrower"},
      {"gemm f32 m=2 n=3 k=4 sa=1", "1 strides for rank 2"},
      {"gemm f32 m=2 n=3 k=4 sa=1x", "expected a stride"},
      {"gemm f32 m=2 n=3 k=4 sa=1x--2", "expected a stride"},
      {"gemm f32 m=2 n=3 k=4 sa=9223372036854775807x1", "larger than 2^63-1 bytes"},
      {"gemm f32 m=2 n=3 k=4 sy=0x1", "stride of 0"},
      {"gemm f32 m=2 n=3 k=4 order=n", "unknown order 'n'; allowed: k, any"},
      {"gemm f32 m=2 n=3 k=4 epi=", "epilogue step ''"},
      {"gemm f32 m=2 n=3 k=4 epi=bias:n:b:c", "too many fields"},
      {"gemm f32 m=2 n=3 k=4 epi=bias:k", "axis 'k'"},
      {"gemm f32 m=2 n=3 k=4 epi=frobnicate", "'frobnicate' is not known"},
      {"gemm f32 m=2 n=3 k=4 epi=clip(0;6", "has no ')'"},
      {"gemm f32 m=2 n=3 k=4 epi=clip(0;6)x", "has no ')'"},
      {"gemm f32 m=2 n=3 k=4 epi=clip()", "expected a number that fits float32"},
      {"gemm f32 m=2 n=3 k=4 epi=clip(0;6;7)", "'clip' has 3 values; allowed: none or 2"},
      {"gemm f32 m=2 n=3 k=4 epi=clip(nan;6)", "the value nan"},
      {"gemm f32 m=2 n=3 k=4 epi=leaky_relu(1e39)", "expected a number that fits float32"},
      {"gemm i32 m=2 n=3 k=4 epi=tanh", "'tanh' for type int32; allowed: floating-point types"},
      {"gemm f32 m=2 n=3 k=4\n", "unexpected '\\x0a'"},
      {"matmul f32 a=2x4", "either a= and b=, or m=, n= and k= are needed; b= is missing"},
      {"matmul f32 m=2 k=4", "either a= and b=, or m=, n= and k= are needed; n= is missing"},
      {"matmul f32 a=2x4 b=4x3 m=2", "either a= and b=, or m=, n= and k= are needed"},
      {"matmul f32 a=2x4 b=4x3 ta", "unknown word 'ta' for matmul"},
      {"matmul f32 a=2x4 b=4x3 alpha=1", "unknown word 'alpha=1' for matmul"},
      {"matmul f32 a=2x4 b=4x3 const=c", "word 'const' is about C"},
      {"matmul f32 a=2x4 b=5x3", "K dimension mismatch: 4 in A (2, 4), 5 in B (5, 3)"},
      {"matmul f32 a= b=4x3", "expected a dimension"},
      {"matmul f32 a=* b=4x3 sa=1x2", "unknown rank"},
      {"matmul f32 a=?x4 b=4x3", "a=?x4"},
  };
  for (const auto& [text, part] : kCases) {
    EXPECT_NE(error_of(text).find(part), std::string::npos) << "'" << text << "' gave: " << error_of(text);
  }
}

TEST(ProblemStringError, LongTextsEndSoon) {
  const size_t kLength = size_t{1} << 20;
  const std::string head = "matmul f32 a=";
  const std::string kLong[] = {
      std::string(4 * kLength, 'x'),
      std::string(kLength, ' '),
      head + std::string(kLength - 100, '1'),
      head + "?(" + std::string(kLength - 100, '%') + ")",
      head + "?" + std::string(kLength - 100, 'y'),
      "gemm f32 m=2 n=3 k=4 " + std::string(kLength - 100, 'y'),
      "gemm f32 m=2 n=3 k=4 epi=" + std::string(kLength - 100, ','),
      "gemm f32 m=2 n=3 k=4 sa=" + std::string(kLength - 100, '-'),
      "gemm f32 m=2 n=3 k=4 const=" + std::string(kLength - 100, ','),
  };
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& text : kLong) EXPECT_NE(error_of(text), "no error");
  std::string many_dims = head + "2";
  while (many_dims.size() < kLength - 100) many_dims += "x?a";
  EXPECT_NE(error_of(many_dims + " b=3").find("rank"), std::string::npos);
  std::string many_likely = "gemm f32 n=3 k=4 m=?1..8";
  while (many_likely.size() < kLength - 100) many_likely += "~9";
  EXPECT_NE(error_of(many_likely).find("likely value 9"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)) << "time is not linear in the length";
}

TEST(ProblemStringError, DamagedTextsNeverCrash) {
  const std::string kTexts[] = {
      "gemm f32 m=?(a%20b):1..512~128 n=384 k=? ta tb c=1n alpha=0.5 sa=?x-1 const=a,b storage=b:bf16 epi=bias:n:b1 "
      "order=k",
      "matmul bf16 a=?bx12x?(max)x64 b=?b:1..8x12x64x?t sb=-x-x?x1",
  };
  const std::string alphabet = "?x:.~()%=-,* 0123456789abcmnkst\xff\x80\n\0";
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 50000; ++i) {
    std::string text = kTexts[i % 2];
    for (int edits = 1 + i % 3; edits > 0; --edits) {
      const size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      if (random() % 2 == 0) {
        text[at] = c;
      } else {
        text.insert(at, 1, c);
      }
    }
    const Expected<Problem> problem = parse_problem(text);
    if (problem) {
      const Expected<Problem> again = parse_problem(print_problem(*problem));
      EXPECT_TRUE(again && *again == *problem) << text;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace gemmc
