#include "schedules/variants.h"

#include <gtest/gtest.h>

#include "schedules/family_table.h"
#include "schedules/heuristic_schedule.h"
#include "tests/unit/schedules/canonical_problem.h"

namespace gemmc {
namespace {

using testing::canonical_of;

// Beside the body that gemmc chooses for the problem.
Expected<std::vector<Variant>> choose(const CanonicalProblem& made) {
  const Target target = *parse_target("x86-64-v3");
  return choose_variants(made, *choose_schedule(made.problem, target), target);
}

std::vector<Variant> variants(const std::string& text) {
  Expected<std::vector<Variant>> chosen = choose(canonical_of(text));
  EXPECT_TRUE(chosen) << text << ": " << chosen.status().message();
  return chosen ? *std::move(chosen) : std::vector<Variant>();
}

// "d0=64: tiled; d0=128: tiled"
std::string summary(const std::string& text) {
  const CanonicalProblem made = canonical_of(text);
  std::string result;
  for (const Variant& variant : variants(text)) {
    result += (result.empty() ? "" : "; ") + print_condition(variant.when, made.dim_names) + ": " +
              std::string(name(variant.schedule.family));
  }
  return result;
}

TEST(Variants, OneForEachLikelyValue) {
  EXPECT_EQ(summary("matmul f32 a=?bx12x?s:~128~64x32 b=?bx12x32x?s"), "s=64: tiled; s=128: tiled");
  EXPECT_EQ(summary("gemm f32 m=?m n=?~100 k=64 c=n"), "n=100: tiled");
  EXPECT_EQ(summary("gemm f32 m=?~4 n=100 k=64 ta"), "m=4: tiled");
}

TEST(Variants, OneForEachCombination) {
  EXPECT_EQ(summary("gemm f32 m=?m n=?~16~32 k=?~8~9"),
            "k=8 n=16: tiled; k=8 n=32: tiled; k=9 n=16: tiled; k=9 n=32: tiled");
}

TEST(Variants, BindTheNameWhereverItStands) {
  const std::vector<Variant> found = variants("matmul f32 a=?bx12x?s:~128x32 b=?bx12x32x?s");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(print_problem(found[0].problem), "matmul f32 a=?d0x12x128x32 b=?d0x12x32x128");
  EXPECT_EQ(found[0].when.dims, (std::vector<BoundDim>{{"d1", 128}}));
  EXPECT_EQ(found[0].schedule, *choose_schedule(found[0].problem, *parse_target("x86-64-v3")));
}

TEST(Variants, NoneWhereNothingIsGained) {
  for (const char* text : {
           "gemm f32 m=?~128 n=100 k=64",                 // the tiled family takes a run-time M
           "gemm f32 m=?m n=?n k=?~64",                   // N stays unknown
           "gemm f32 m=?m n=?~0 k=64",                    // an empty Y
           "gemm f32 m=?m n=?~64 k=64 tb",                // B's columns are not neighbours
           "gemm f32 m=?m n=?~64 k=64 tb const=b",        // nor is there a packed B: the general body reads it as it is
           "gemm f32 m=?m n=?~65 k=4096",                 // packing pays
           "gemm bf16 m=?m n=?~64 k=64",                  // the general body's family, only with other blocks
           "gemm f32 m=?~8 n=384 k=384 const=b",          // all bodies read one packed B
           "gemm f32 m=?m n=?n k=?~0",                    // no products
           "gemm f32 m=?m n=?~9223372036854775807 k=64",  // no operand has that size
           "matmul f32 a=?b:~5x?s:~5x?b b=7x?bx9",        // batches that do not broadcast
       }) {
    EXPECT_EQ(summary(text), "") << text;
  }
}

TEST(Variants, BindMOnlyWhereNothingElseIsLikely) {
  EXPECT_EQ(summary("gemm f32 m=?~8 n=200 k=40"), "m=8: tiled");  // wider tiles
  EXPECT_EQ(summary("gemm f32 m=?~1~2~3~4~5 n=?~16~32 k=8"), "n=16: tiled; n=32: tiled");
  EXPECT_EQ(variants("gemm bf16 m=?~1 n=64 k=64").at(0).schedule.mr, 1);
}

TEST(Variants, FewRowsReadInPlaceABThatTheGeneralBodyPacks) {
  EXPECT_EQ(summary("gemm f32 m=?m n=768 k=768"), "M<=3: rows; M<=96: tiled");
  EXPECT_EQ(summary("gemm f32 m=?m n=768 k=768 c=mn"), "M<=3: rows; M<=12: tiled");
  EXPECT_EQ(summary("matmul f32 a=?bx?sx768 b=768x768"), "M<=3: rows; M<=96: tiled");
  EXPECT_EQ(summary("gemm f32 m=?m n=768 k=768 tb"), "M<=96: dots");
  EXPECT_EQ(summary("gemm bf16 m=?m n=768 k=768"), "M<=3: rows");
  // A likely value that few rows' bodies serve as well gets none of its own.
  EXPECT_EQ(summary("gemm f32 m=?~1~512 n=768 k=768"), "M<=3: rows; M<=96: tiled");
  for (const char* text : {
           "gemm f32 m=?m n=768 k=768 const=b",  // packed before
           "gemm f32 m=?m n=64 k=64",            // no body packs it
           "gemm f32 m=3 n=768 k=768",           // M is known
           "gemm f32 m=?m n=?n k=768",           // N is not
       }) {
    EXPECT_EQ(summary(text), "") << text;
  }
}

TEST(Variants, DifferFromTheBodyThatTheyStandBeside) {
  const CanonicalProblem made = canonical_of("gemm f32 m=?m n=?~64 k=8");
  const Target target = *parse_target("x86-64-v3");
  EXPECT_EQ(choose_variants(made, heuristic_schedule(Family::kGeneral, made.problem, target), target)->size(), 1u);
  const Schedule same = *choose_schedule(canonical_of("gemm f32 m=?m n=64 k=8").problem, target);
  EXPECT_TRUE(choose_variants(made, same, target)->empty());
}

// A schedule that is asked for may leave a constant B unpacked: then no body reads it packed.
TEST(Variants, ReadAConstantBAsTheGeneralBodyDoes) {
  const CanonicalProblem made = canonical_of("gemm f32 m=?m n=768 k=768 const=b");
  const Target target = *parse_target("x86-64-v3");
  const auto found = choose_variants(made, heuristic_schedule(Family::kGeneral, made.problem, target), target);
  ASSERT_EQ(found->size(), 2u);
  for (const Variant& variant : *found) {
    EXPECT_FALSE(variant.schedule.packs_b);
    EXPECT_FALSE(variant.problem.b.is_constant);
  }
}

TEST(Variants, OfTheGeneralFamilyWhereRowsFitTheTile) {
  const std::vector<Variant> found = variants("gemm bf16 m=?~1 n=64 k=64 ta");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].schedule.family, Family::kGeneral);
  EXPECT_EQ(found[0].schedule.mr, 1);
}

TEST(Variants, LikelyValuesWithoutOneHaveAReason) {
  const auto reasons = [](const std::string& text) {
    const CanonicalProblem made = canonical_of(text);
    const Schedule general = *choose_schedule(made.problem, *parse_target("x86-64-v3"));
    std::string all;
    for (const auto& [dim, reason] : unused_likely_values(made.problem, general, *choose(made))) {
      all += print_condition({{dim}}, made.dim_names) + " " + reason + "\n";
    }
    return all;
  };
  EXPECT_EQ(reasons("gemm f32 m=?~1~128 n=384 k=1024"),
            "m=1 a body for few rows serves it\n"
            "m=128 its body would have the family and register tile of the general one\n");
  EXPECT_EQ(reasons("gemm f32 m=?~1 n=384 k=1024 const=b"), "m=1 one body reads the packed B for every size\n");
  EXPECT_EQ(reasons("gemm f32 m=?~128 n=?~64 k=64"),
            "m=128 a dimension of N, K or a stride has likely values, which count alone\n");
  EXPECT_EQ(reasons("gemm f32 m=?m n=?~64 k=64"), "");
}

TEST(Variants, OnlyValuesThatAreBoundStay) {
  CanonicalProblem made = canonical_of("gemm f32 m=?m n=?~0~64 k=?~8");
  drop_other_likely_values(made.problem, *choose(made));
  EXPECT_EQ(print_problem(made.problem), "gemm f32 m=?d0 n=?d2:~64 k=?d1:~8");
  drop_other_likely_values(made.problem, {});
  EXPECT_EQ(print_problem(made.problem), "gemm f32 m=?d0 n=?d2 k=?d1");
}

TEST(Variants, TooManyAreRefused) {
  EXPECT_EQ(variants("gemm f32 m=?m n=?~1~2~3~4~5~6~7~8 k=4").size(), kMostVariants);
  // 9 combinations, none of which leads to other loops than those of the body for every M.
  EXPECT_EQ(variants("matmul f32 a=?b:~7~8~9x?s:~64~65~66x32 b=32x16").size(), 0u);
  const auto refusal = [](const std::string& text) {
    const Status status = choose(canonical_of(text)).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << text;
    return status.message();
  };
  EXPECT_EQ(refusal("gemm f32 m=?m n=?cols:~1~2~3 k=?depth:~1~2~3"),
            "likely values of 'depth' and 'cols' lead to 9 variants of the kernel; allowed: up to 8");
  std::string values;
  for (int size = 1; size <= 33; ++size) values += "~" + std::to_string(size);
  EXPECT_EQ(refusal("gemm f32 m=?m n=?cols:" + values + " k=?depth:" + values),
            "likely values of 'depth' and 'cols' have 1089 combinations; allowed: up to 1024");
}

}  // namespace
}  // namespace gemmc
