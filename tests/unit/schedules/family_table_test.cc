#include "schedules/family_table.h"

#include <gtest/gtest.h>

#include "tests/unit/schedules/canonical_problem.h"

namespace gemmc {
namespace {

using testing::problem;
using testing::target;

FamilyVerdict verdict(Family family, const std::string& text, std::string_view target_word = "x86-64-v3") {
  for (FamilyVerdict& candidate : judge_families(problem(text), target(target_word))) {
    if (candidate.family == family) return std::move(candidate);
  }
  ADD_FAILURE() << "no verdict of family " << name(family);
  return {};
}

TEST(FamilyTable, BestFirstGeneralLast) {
  std::vector<Family> families;
  for (const FamilyVerdict& v : judge_families(problem("gemm f32 m=8 n=1 k=32"), target("x86-64-v3"))) {
    EXPECT_EQ(v.sums_by_k, v.family != Family::kDots) << name(v.family);
    EXPECT_FALSE(v.refusal) << *v.refusal;
    families.push_back(v.family);
  }
  EXPECT_EQ(families, std::vector(std::begin(kAllFamilies), std::end(kAllFamilies)));
  EXPECT_EQ(families.back(), Family::kGeneral);
}

TEST(FamilyTable, DotsTakesWhatIsContiguousAlongK) {
  const std::pair<const char*, const char*> kRows[] = {
      {"gemm f32 m=1 n=1000 k=512 tb", ""},
      {"gemm bf16 m=?m n=1000 k=512 tb", ""},
      {"gemm i64 m=1000 n=1 k=2", ""},
      {"gemm f32 m=8 n=16 k=32 tb sa=40x1 sb=50x1 sy=2x99", ""},
      {"gemm f32 m=8 n=16 k=32", "B's neighbours along K are not neighbours in memory"},
      {"gemm f32 m=8 n=16 k=32 ta tb", "A's neighbours along K are not neighbours in memory"},
      {"gemm f32 m=8 n=?n k=32 tb", "N or K is known only at the call"},
      {"gemm f32 m=8 n=16 k=1 tb", "K=1 makes no vector"},
      {"gemm f32 m=8 n=16 k=32 tb order=k", "order=k: the family sums in another order"},
  };
  for (const auto& [text, reason] : kRows) EXPECT_EQ(verdict(Family::kDots, text).refusal.value_or(""), reason) << text;
}

TEST(FamilyTable, DotsDemursWherePackingPays) {
  const std::pair<const char*, const char*> kRows[] = {
      {"gemm f32 m=96 n=1000 k=512 tb", ""},
      {"gemm f32 m=1000 n=1 k=512", ""},
      {"gemm f32 m=?m n=1 k=512 const=b", ""},
      {"gemm f32 m=97 n=1000 k=512 tb", "more than 96 rows may pass by: packing B pays"},
      {"gemm f32 m=?m n=1000 k=512 tb", "more than 96 rows may pass by: packing B pays"},
      {"gemm f32 m=1 n=1000 k=512 tb const=b", "a constant B is packed once, in panels of columns"},
      {"gemm f32 m=1 n=1000 k=15 tb", "K=15 is less than two vectors of 8"},
  };
  for (const auto& [text, reason] : kRows)
    EXPECT_EQ(verdict(Family::kDots, text).demurral.value_or(""), reason) << text;
}

TEST(FamilyTable, RowsIsForFewRowsOfALargeB) {
  const std::pair<const char*, const char*> kRows[] = {
      {"gemm f32 m=1 n=4096 k=4096", ""},
      {"gemm bf16 m=3 n=4096 k=4096 c=n", ""},
      {"gemm f32 m=4 n=4096 k=4096", "more than 3 rows may pass by"},
      {"gemm f32 m=?m n=4096 k=4096", "more than 3 rows may pass by"},
      {"gemm f32 m=1 n=31 k=4096", "N=31 is less than four vectors of 8"},
      {"gemm f32 m=1 n=100 k=100", "40000 bytes of B are in the cache"},
      {"gemm f32 m=1 n=4096 k=4096 const=b", "a constant B is packed once, in panels of columns"},
  };
  for (const auto& [text, reason] : kRows)
    EXPECT_EQ(verdict(Family::kRows, text).demurral.value_or(""), reason) << text;
  EXPECT_EQ(verdict(Family::kRows, "gemm f32 m=1 n=16 k=32 tb").refusal, "B's columns are not neighbours in memory");
  EXPECT_EQ(verdict(Family::kRows, "gemm f32 m=1 n=16 k=32 sy=99x2").refusal,
            "Y's columns are not neighbours in memory");
}

TEST(FamilyTable, FewRowsAtTheCallAreAsGoodAsFewRowsKnownNow) {
  const Problem p = problem("gemm f32 m=?m n=4096 k=4096");
  const auto family = [&](std::optional<int64_t> most_rows) {
    return choose_schedule(p, target("x86-64-v3"), most_rows)->family;
  };
  EXPECT_EQ(family(3), Family::kRows);
  EXPECT_EQ(family(24), Family::kTiled);
  EXPECT_EQ(family(25), Family::kGeneral);
  EXPECT_EQ(family(std::nullopt), Family::kGeneral);
}

TEST(FamilyTable, HowManyRowsPackingNeedsDependsOnB) {
  const std::pair<const char*, std::vector<int64_t>> kRows[] = {
      {"gemm f32 m=?m n=1000 k=512", {3, 96}},
      {"gemm f32 m=?m n=1024 k=512", {3, 24, 96}},       // rows of B are pages apart
      {"gemm f32 m=?m n=1000 k=512 c=mn", {3, 12, 96}},  // C may be Y's buffer: sums cannot wait there
  };
  for (const auto& [text, limits] : kRows) EXPECT_EQ(row_limits(problem(text), target("x86-64-v3")), limits) << text;
}

TEST(FamilyTable, TiledTakes) {
  for (const char* text :
       {"gemm f32 m=8 n=16 k=32", "gemm f64 m=1 n=1 k=1 ta tb c=mn alpha=2 beta=3", "gemm i32 m=17 n=17 k=17 c=m1",
        "gemm u64 m=3 n=5 k=4 c=s", "matmul f32 a=7x8x32 b=7x32x16", "matmul f32 a=?bx8x32 b=?bx32x16",
        "gemm f32 m=8 n=16 k=32 sa=-40x2 sb=20x1 sy=-99x1", "gemm f32 m=8 n=1 k=32 tb sb=77x5 sy=3x9",
        "gemm f32 m=8 n=16 k=32 order=k", "gemm f32 m=?m n=16 k=32", "matmul f32 a=?bx?sx32 b=32x16",
        "gemm f32 m=?m n=16 k=32 tb const=b", "gemm f32 m=8 n=16 k=32 sb=99x2 const=b"}) {
    EXPECT_EQ(verdict(Family::kTiled, text).refusal, std::nullopt) << text;
  }
}

TEST(FamilyTable, TiledRefusesWithTheReason) {
  const std::pair<std::string, std::string> kRows[] = {
      {"gemm f32 m=8 n=?n k=32", "N or K is known only at the call"},
      {"gemm f32 m=8 n=16 k=?k", "N or K is known only at the call"},
      {"gemm f32 m=0 n=16 k=32", "M, N or K is 0"},
      {"gemm f32 m=8 n=16 k=0", "M, N or K is 0"},
      {"gemm f32 m=?m n=16 k=32 ta", "a stride of A is known only at the call"},
      {"gemm f16 m=8 n=16 k=32", "float16 operands are converted while they are packed"},
      {"gemm bf16 m=8 n=16 k=32", "bfloat16 operands are converted while they are packed"},
      {"gemm f32 m=8 n=16 k=32 sa=?x1", "a stride of A is known only at the call"},
      {"gemm f32 m=8 n=16 k=32 sb=?x1", "a stride of B is known only at the call"},
      {"gemm f32 m=8 n=16 k=32 c=mn sc=?x1", "a stride of C is known only at the call"},
      {"gemm f32 m=8 n=16 k=32 sy=?x1", "a stride of Y is known only at the call"},
      {"gemm f32 m=8 n=16 k=32 tb",
       "B's columns are not neighbours in memory: it must be packed, which needs a constant B"},
      {"gemm f32 m=8 n=16 k=32 sb=99x2",
       "B's columns are not neighbours in memory: it must be packed, which needs a constant B"},
      {"gemm f32 m=8 n=16 k=32 sy=99x2", "Y's columns are not neighbours in memory"},
      {"gemm f32 m=8 n=16 k=32 c=mn sc=99x2", "C's columns are not neighbours in memory"},
      {"gemm f32 m=4096 n=1 k=131072", "4096 rows of A span more than 2147483647 bytes"},
      {"gemm f32 m=?m n=1 k=131072", "4096 rows of A span more than 2147483647 bytes"},
      {"gemm f32 m=1 n=536870912 k=1", "1 rows of B span more than 2147483647 bytes"},
      {"gemm f32 m=1 n=536870900 k=1 const=b", "B packed has more than 2147483647 bytes"},
      {"gemm f32 m=2 n=2 k=2 sa=-536870912x1", "2 rows of A span more than 2147483647 bytes"},
      {"gemm f32 m=2 n=2 k=2 c=mn sc=536870911x1", "2 rows of C span more than 2147483647 bytes"},
      {"gemm f32 m=32768 n=131072 k=1", "4096 rows of Y span more than 2147483647 bytes"},
      {"gemm f32 m=1 n=4 k=4294967297 sa=0x0 sb=0x1", "N=4, K=4294967297: one of them is over 2147483647"},
  };
  for (const auto& [text, reason] : kRows) EXPECT_EQ(verdict(Family::kTiled, text).refusal, reason) << text;
}

TEST(FamilyTable, TiledTakesTheLargestSpan) {
  EXPECT_EQ(verdict(Family::kTiled, "gemm f32 m=4096 n=1 k=131071").refusal, std::nullopt);
  EXPECT_EQ(verdict(Family::kTiled, "gemm f32 m=2 n=2 k=2 sa=536870909x1").refusal, std::nullopt);
}

TEST(FamilyTable, OrderKNeedsFma) {
  for (Family family : {Family::kRows, Family::kTiled, Family::kGeneral}) {
    EXPECT_EQ(verdict(family, "gemm f32 m=8 n=16 k=32 order=k", "x86-64-v2").refusal,
              "order=k is a chain of fused multiply-adds, which x86-64-v2 tune=generic has not");
    EXPECT_EQ(verdict(family, "gemm i32 m=8 n=16 k=32 order=k", "x86-64-v2").refusal, std::nullopt)
        << "integers are exact";
  }
  const Expected<Schedule> none = choose_schedule(problem("gemm f64 m=?m n=16 k=32 order=k"), target("x86-64-v2"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(none.status().message().find("order=k"), std::string::npos) << none.status().message();
}

TEST(FamilyTable, OrderKIsOnlyForFamiliesThatSumByK) {
  const Target v3 = target("x86-64-v3");
  const Problem ordered = problem("gemm f32 m=8 n=16 k=32 order=k"), any = problem("gemm f32 m=8 n=16 k=32");
  EXPECT_EQ(refuse_order(false, ordered, v3), "order=k: the family sums in another order");
  EXPECT_EQ(refuse_order(false, any, v3), std::nullopt);
  EXPECT_EQ(refuse_order(true, ordered, v3), std::nullopt);
  EXPECT_EQ(refuse_order(false, problem("gemm i32 m=8 n=16 k=32 order=k"), v3), std::nullopt) << "integers are exact";
  for (const FamilyVerdict& v : judge_families(ordered, v3)) {
    EXPECT_EQ(v.refusal, refuse_order(v.sums_by_k, ordered, v3)) << name(v.family);
  }
}

TEST(FamilyTable, ChoosesTheFirstThatNeitherRefusesNorDemurs) {
  const std::string kTexts[] = {"gemm f32 m=8 n=16 k=32",      "gemm f32 m=?m n=?n k=32", "gemm f32 m=?m n=16 k=4096",
                                "gemm f32 m=512 n=512 k=4096", "gemm bf16 m=8 n=16 k=32", "gemm f32 m=1 n=64 k=64 tb",
                                "gemm f32 m=1 n=512 k=512"};
  for (const std::string& text : kTexts) {
    const Expected<Schedule> chosen = choose_schedule(problem(text), target("x86-64-v3"));
    ASSERT_TRUE(chosen) << text << ": " << chosen.status().message();
    for (const FamilyVerdict& v : judge_families(problem(text), target("x86-64-v3"))) {
      if (v.refusal || v.demurral) {
        EXPECT_NE(chosen->family, v.family) << text;
        continue;
      }
      EXPECT_EQ(chosen->family, v.family) << text;
      break;
    }
  }
  EXPECT_EQ(choose_schedule(problem(kTexts[0]), target("x86-64-v3"))->family, Family::kTiled);
  EXPECT_EQ(choose_schedule(problem(kTexts[1]), target("x86-64-v3"))->family, Family::kGeneral);
}

TEST(FamilyTable, ManyRowsOfALargeBArePacked) {
  const std::pair<const char*, Family> kRows[] = {
      {"gemm f32 m=512 n=320 k=32", Family::kTiled},          // 40 KiB
      {"gemm f32 m=512 n=321 k=32", Family::kGeneral},        // more
      {"gemm f64 m=512 n=161 k=32", Family::kGeneral},        // in bytes
      {"gemm f32 m=512 n=65 k=321", Family::kGeneral},        // long in K
      {"gemm f32 m=512 n=64 k=321", Family::kTiled},          // a narrow B is as good as packed
      {"gemm f32 m=512 n=64 k=321 c=mn", Family::kGeneral},   // but sums cannot wait in Y
      {"gemm f32 m=96 n=321 k=32", Family::kTiled},           // few rows
      {"gemm f32 m=12 n=321 k=32 c=mn", Family::kTiled},      // two tiles of rows
      {"gemm f32 m=?m n=321 k=32", Family::kTiled},           // may be few rows
      {"gemm f32 m=512 n=321 k=32 const=b", Family::kTiled},  // packed once before
  };
  for (const auto& [text, family] : kRows)
    EXPECT_EQ(choose_schedule(problem(text), target("x86-64-v3"))->family, family) << text;
  EXPECT_EQ(verdict(Family::kTiled, "gemm f32 m=512 n=321 k=32").demurral,
            "many tiles of rows may walk through B unpacked, K=32, 41088 bytes: packing pays");
  EXPECT_EQ(verdict(Family::kTiled, "gemm f32 m=512 n=65 k=321").demurral,
            "many tiles of rows may walk through B unpacked, K=321, 83460 bytes: packing pays");
}

TEST(FamilyTable, WideVectorsReadLargerBInPlace) {
  const std::pair<const char*, Family> kRows[] = {
      {"gemm f32 m=512 n=512 k=512", Family::kTiled},      // in the L2 cache
      {"gemm f32 m=512 n=1024 k=256", Family::kGeneral},   // its rows want the same cache sets
      {"gemm f32 m=960 n=960 k=960", Family::kGeneral},    // long in K
      {"gemm f32 m=960 n=2000 k=400", Family::kGeneral},   // beyond the L2 cache
      {"gemm f32 m=256 n=2000 k=2000", Family::kTiled},    // few rows
      {"gemm f32 m=257 n=2000 k=2000", Family::kGeneral},  // more
      {"gemm f32 m=48 n=2048 k=2048", Family::kTiled},     // few, of a B in pages
      {"gemm f32 m=49 n=2048 k=2048", Family::kGeneral},
      {"gemm f32 m=24 n=9 k=64", Family::kTiled},                   // one masked vector
      {"gemm f32 m=24 n=9 k=64 storage=b:bf16", Family::kGeneral},  // one padded vector
      {"gemm f32 m=24 n=8 k=64 storage=b:bf16", Family::kTiled},    // half of one
      {"gemm f32 m=23 n=9 k=64 storage=b:bf16", Family::kTiled},    // few rows
  };
  for (const auto& [text, family] : kRows)
    EXPECT_EQ(choose_schedule(problem(text), target("x86-64-v4"))->family, family) << text;
}

TEST(FamilyTable, ARefusalNeedsNoDemurral) {
  const FamilyVerdict refused = verdict(Family::kTiled, "gemm f32 m=?m n=?n k=4096");
  EXPECT_TRUE(refused.refusal);
  EXPECT_FALSE(refused.demurral);
}

TEST(FamilyTable, PacksAConstantB) {
  const Target v3 = target("x86-64-v3");
  const std::pair<const char*, const char*> kRows[] = {
      {"gemm f32 m=?m n=1000 k=768 tb const=b", "tiled mr=6 nr=16 lanes=8 mc=84 pack=b"},
      {"gemm f32 m=?m n=12 k=768 const=b", "tiled mr=6 nr=16 lanes=8 mc=84 pack=b"},
      {"gemm f32 m=?m n=8 k=768 const=b", "tiled mr=12 nr=8 lanes=8 mc=84 pack=b"},  // no wider than B needs
      {"gemm f32 m=?m n=1000 k=4096 const=b", "tiled mr=6 nr=16 lanes=8 mc=126 kc=512 pack=b"},  // K blocks
      {"gemm f32 m=?m n=1000 k=769 const=b", "tiled mr=6 nr=16 lanes=8 mc=162 kc=392 pack=b"},
      {"gemm f32 m=12 n=1000 k=4096 const=b", "tiled mr=6 nr=16 lanes=8 mc=12 pack=b"},       // for few rows none
      {"gemm f32 m=?m n=1000 k=4096 c=mn const=b", "tiled mr=6 nr=16 lanes=8 mc=12 pack=b"},  // C may be Y
      {"gemm f32 m=?m n=7 k=100 const=b", "tiled mr=6 nr=16 lanes=8 mc=654"},  // the padding would cost more
      {"gemm f32 m=?m n=7 k=100 tb const=b", "tiled mr=6 nr=8 lanes=8 mc=654 pack=b"},
      {"gemm f32 m=?m n=1 k=100 tb const=b", "dots mr=8 nr=1 lanes=8 mc=4096 kr=1"},
      {"gemm f32 m=?m n=80 k=100", "tiled mr=6 nr=16 lanes=8 mc=654"},
  };
  for (const auto& [text, schedule] : kRows) {
    const Expected<Schedule> chosen = choose_schedule(problem(text), v3);
    ASSERT_TRUE(chosen) << chosen.status().message();
    EXPECT_EQ(print_schedule(*chosen), schedule) << text;
  }
}

TEST(FamilyTable, RefusesASchedule) {
  const Target v3 = target("x86-64-v3");
  const auto refusal = [&](const std::string& schedule, const std::string& text) {
    return refuse_schedule(*parse_schedule(schedule), problem(text), v3);
  };
  EXPECT_EQ(refusal("dots mr=1 nr=8 lanes=8 mc=8 kr=1", "gemm f32 m=8 n=16 k=7 tb"), "lanes 8 are more than K=7");
  const std::string kSumsInY = "general mr=6 nr=16 lanes=8 mc=6 nc=16 kc=8 sums=y";
  const std::string kReason = "sums=y needs a Y of the sums' type, and no C or operand that may be Y's buffer";
  for (const char* text : {"gemm f32 m=8 n=16 k=32", "gemm i64 m=8 n=16 k=32 c=n epi=bias:m"})
    EXPECT_EQ(refusal(kSumsInY, text), std::nullopt) << text;
  for (const char* text :
       {"gemm f16 m=8 n=16 k=32", "gemm f32 m=8 n=16 k=32 c=mn", "gemm f32 m=8 n=16 k=32 epi=residual"})
    EXPECT_EQ(refusal(kSumsInY, text), kReason) << text;
  const std::string kInPlace = "tiled mr=6 nr=16 lanes=8 mc=6", kPacked = kInPlace + " pack=b";
  EXPECT_EQ(refusal(kPacked, "gemm f32 m=8 n=16 k=32 tb const=b"), std::nullopt);
  EXPECT_EQ(refusal(kInPlace, "gemm f32 m=8 n=16 k=32 const=b"), std::nullopt);
  EXPECT_EQ(refusal(kInPlace, "gemm f32 m=8 n=16 k=32 tb const=b"),
            "B's columns are not neighbours in memory: it needs pack=b");
  EXPECT_EQ(refusal(kPacked, "gemm f32 m=8 n=16 k=32"), "pack=b needs a B that is a constant matrix, all known");
  EXPECT_EQ(refusal(kPacked, "matmul f32 a=2x8x32 b=2x32x16 const=b"),
            "pack=b needs a B that is a constant matrix, all known");
  EXPECT_EQ(refusal(kInPlace, "gemm f32 m=8 n=?n k=32"), "N or K is known only at the call");

  const auto refusal_of_mask = [&](const std::string& text) {
    return refuse_schedule(*parse_schedule("tiled mr=8 nr=16 lanes=16 mc=8 mask=n"), problem(text),
                           target("x86-64-v4"));
  };
  for (const char* text : {"gemm f32 m=8 n=15 k=32", "gemm i32 m=8 n=2 k=32 c=mn epi=bias:m,bias:n"})
    EXPECT_EQ(refusal_of_mask(text), std::nullopt) << text;
  for (const char* text : {"gemm f32 m=8 n=16 k=32", "gemm f32 m=8 n=1 k=32", "gemm f32 m=8 n=15 k=32 storage=b:bf16"})
    EXPECT_EQ(refusal_of_mask(text),
              "mask=n needs 2 to 15 columns that are neighbours in memory, and a B of the "
              "problem's type")
        << text;

  const Target with_pairs = target("x86-64-v4+bf16");
  const auto refusal_of_pairs = [&](const std::string& schedule, const std::string& text) {
    return refuse_schedule(*parse_schedule(schedule), problem(text), with_pairs);
  };
  const std::string kGeneral = "general mr=6 nr=16 lanes=8 mc=6 nc=16 kc=8 pairs=k", kBoth = kGeneral + " pack=a";
  EXPECT_EQ(refusal_of_pairs(kGeneral, "gemm bf16 m=8 n=16 k=32"), std::nullopt);
  EXPECT_EQ(refusal_of_pairs(kBoth, "gemm bf16 m=8 n=16 k=32 ta"), std::nullopt);
  EXPECT_EQ(refusal_of_pairs(kGeneral, "gemm bf16 m=8 n=16 k=32 ta"),
            "A's columns are not neighbours in memory: pairs=k needs pack=a");
  const std::string kOrder = "pairs=k adds up in another order than order=k, and needs a B stored as bfloat16";
  EXPECT_EQ(refusal_of_pairs(kGeneral, "gemm bf16 m=8 n=16 k=32 order=k"), kOrder);
  EXPECT_EQ(refusal_of_pairs("dots mr=1 nr=8 lanes=16 mc=8 kr=1 pairs=k", "gemm bf16 m=8 n=16 k=31 tb"),
            "16 lanes of pairs are more than K=31");
}

}  // namespace
}  // namespace gemmc
