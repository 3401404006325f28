#include "core/key.h"

#include <gtest/gtest.h>

#include <set>

#include "core/problem_string.h"

namespace gemmc {
namespace {

struct Parts {
  std::string problem = "gemm f32 m=2 n=3 k=4 c=n";
  std::string target = "x86-64-v3";
  std::string schedule = "tiled mr=6 nr=16 lanes=8";
  std::string compiler = "halide 21.0.0; llvm 22.1.8; gemmc 1";

  std::string text() const {
    Expected<Problem> parsed = parse_problem(problem);
    EXPECT_TRUE(parsed) << parsed.status().message();
    return key_text(canonical(*parsed).problem, *parse_target(target), schedule, compiler);
  }
};

TEST(Key, TextListsEveryField) {
  EXPECT_EQ(Parts().text(),
            "format 1:1\n"
            "problem 24:gemm f32 m=2 n=3 k=4 c=n\n"
            "target 22:x86-64-v3 tune=generic\n"
            "schedule 24:tiled mr=6 nr=16 lanes=8\n"
            "compiler 35:halide 21.0.0; llvm 22.1.8; gemmc 1\n");
}

TEST(Key, EachFieldAloneChangesIt) {
  const Parts base;
  std::set<std::string> texts = {base.text()}, digits = {key_digits(base.text())};
  const auto expect_new = [&](Parts changed, const std::string& what) {
    EXPECT_TRUE(texts.insert(changed.text()).second) << what;
    EXPECT_TRUE(digits.insert(key_digits(changed.text())).second) << what;
  };
  for (const char* problem :
       {"gemm f64 m=2 n=3 k=4 c=n", "gemm f32 m=5 n=3 k=4 c=n", "gemm f32 m=2 n=5 k=4 c=n", "gemm f32 m=2 n=3 k=5 c=n",
        "gemm f32 m=? n=3 k=4 c=n", "gemm f32 m=2 n=3 k=4", "gemm f32 m=2 n=3 k=4 c=m1", "gemm f32 m=2 n=3 k=4 ta c=n",
        "gemm f32 m=2 n=3 k=4 tb c=n", "gemm f32 m=2 n=3 k=4 c=n alpha=2", "gemm f32 m=2 n=3 k=4 c=n beta=2",
        "gemm f32 m=2 n=3 k=4 c=n order=k", "gemm f32 m=2 n=3 k=4 c=n sa=9x1", "gemm f32 m=2 n=3 k=4 c=n sb=9x1",
        "gemm f32 m=2 n=3 k=4 c=n sc=9", "gemm f32 m=2 n=3 k=4 c=n sy=9x1", "matmul f32 a=2x4 b=4x3"}) {
    Parts changed;
    changed.problem = problem;
    expect_new(changed, problem);
  }
  for (const char* target : {"x86-64-v2", "x86-64-v4", "znver3", "znver4", "skylake-avx512"}) {
    Parts changed;
    changed.target = target;
    expect_new(changed, target);
  }
  Parts other_schedule, other_compiler;
  other_schedule.schedule = "tiled mr=5 nr=16 lanes=8";
  expect_new(other_schedule, "schedule");
  other_compiler.compiler = "halide 21.0.0; llvm 22.1.8; gemmc 2";
  expect_new(other_compiler, "compiler");
}

TEST(Key, WhatChangesNoCodeIsNotIn) {
  const Parts base;
  for (const char* problem :
       {"gemm f32 m=2 n=3 k=4 c=n const=a,c", "gemm f32 m=2 n=3 k=4 c=1n", "gemm f32 m=2 n=3 k=4 c=n sa=4x1"}) {
    Parts same;
    same.problem = problem;
    EXPECT_EQ(same.text(), base.text()) << problem;
  }
  Parts named, renamed;
  named.problem = "gemm f32 m=?batch n=3 k=?in c=n";
  renamed.problem = "gemm f32 m=?rows:1..512 n=3 k=?cols c=n";
  EXPECT_EQ(named.text(), renamed.text());
}

// It may be packed: another way to call the kernel.
TEST(Key, AConstantBIsIn) {
  Parts constant;
  constant.problem = "gemm f32 m=2 n=3 k=4 c=n const=b";
  EXPECT_NE(constant.text(), Parts().text());
}

TEST(Key, NoValueImitatesAField) {
  Parts one, other;
  one.schedule = "x\ncompiler 1:y";
  one.compiler = "z";
  other.schedule = "x";
  other.compiler = "y\ncompiler 1:z";
  EXPECT_NE(one.text(), other.text());
  EXPECT_NE(one.text().find("schedule 14:x\ncompiler 1:y\n"), std::string::npos);
}

TEST(Key, EqualPartsGiveEqualKeys) { EXPECT_EQ(Parts().text(), Parts().text()); }

TEST(Key, SymbolIsThePrefixAndTheDigits) {
  // XXH3 with 64 bits, of nothing: the algorithm's published value.
  EXPECT_EQ(key_digits(""), "2d06800538d394c2");
  EXPECT_EQ(kernel_symbol(""), "gemmc_2d06800538d394c2");
  const std::string digits = key_digits(Parts().text());
  EXPECT_EQ(digits.size(), 16u);
  EXPECT_EQ(digits.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(kernel_symbol(Parts().text()), "gemmc_" + digits);
}

}  // namespace
}  // namespace gemmc
