#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "core/problem.h"
#include "core/problem_string.h"
#include "tests/unit/core/make_problem.h"
#include "tests/unit/core/random_every_field.h"

namespace gemmc {
namespace {

CanonicalProblem canonical_of(const std::string& text) {
  Expected<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.status().message();
  return problem ? canonical(*problem) : CanonicalProblem{};
}

struct Row {
  std::string given, canonical;
  std::vector<std::string> dim_names = {};
};

void expect_rows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    const CanonicalProblem result = canonical_of(row.given);
    EXPECT_EQ(print_problem(result.problem), row.canonical) << row.given;
    EXPECT_EQ(result.dim_names, row.dim_names) << row.given;
  }
}

TEST(Canonical, DropsWhatChangesNoCode) {
  expect_rows({
      {"gemm f32 m=2 n=3 k=4 c=mn beta=0", "gemm f32 m=2 n=3 k=4"},
      {"gemm f32 m=2 n=3 k=4 c=mn beta=-0", "gemm f32 m=2 n=3 k=4"},
      {"gemm f32 m=2 n=3 k=4 c=* beta=0", "gemm f32 m=2 n=3 k=4"},
      {"gemm f32 m=2 n=3 k=4 beta=0.5", "gemm f32 m=2 n=3 k=4"},
      {"gemm f32 m=2 n=3 k=4 beta=nan", "gemm f32 m=2 n=3 k=4"},
      {"gemm f32 m=2 n=3 k=4 c=mn const=a,c", "gemm f32 m=2 n=3 k=4 c=mn"},
      {"gemm f32 m=?s:1..512 n=3 k=4", "gemm f32 m=?d0 n=3 k=4", {"s"}},
      {"gemm i32 m=2 n=3 k=4 order=k", "gemm i32 m=2 n=3 k=4"},
      {"gemm f32 m=2 n=3 k=4 order=k", "gemm f32 m=2 n=3 k=4 order=k"},
  });
}

TEST(Canonical, LikelyValuesStayWhereMOrNOrKOrAMatrixStrideDependsOnThem) {
  expect_rows({
      {"gemm f32 m=4 n=?s:1..512~128 k=4", "gemm f32 m=4 n=?d0:~128 k=4", {"s"}},
      {"gemm f32 m=4 n=3 k=?~7~0", "gemm f32 m=4 n=3 k=?d0:~0~7", {"k"}},
      {"gemm f32 m=4 n=?s:~64~128~64 k=4", "gemm f32 m=4 n=?d0:~64~128 k=4", {"s"}},
      {"gemm f32 m=?s:~128 n=?s k=4 c=mn", "gemm f32 m=?d0:~128 n=?d0 k=4 c=mn", {"s"}},
      {"gemm f32 m=?~1 n=?~64 k=4", "gemm f32 m=?d0:~1 n=?d1:~64 k=4", {"m", "n"}},
      {"gemm f32 m=?~1 n=3 k=4 ta", "gemm f32 m=?d0:~1 n=3 k=4 ta", {"m"}},
      {"gemm f32 m=?~1 n=3 k=4 ta sa=8x1", "gemm f32 m=?d0:~1 n=3 k=4 ta sa=8x1", {"m"}},
      {"gemm f32 m=4 n=?1..512 k=4", "gemm f32 m=4 n=?d0 k=4", {"n"}},
      {"matmul f32 a=?b:~2x?s:~64x32 b=?bx32x?s", "matmul f32 a=?d0x?d1:~64x32 b=?d0x32x?d1", {"b", "s"}},
      {"matmul f32 a=?b:~2x?s:~64x32 b=32x16", "matmul f32 a=?d0:~2x?d1:~64x32 b=32x16", {"b", "s"}},
      {"matmul f32 a=2x?k:~9 b=7x5", "matmul f32 a=2x7 b=7x5"},
  });
  EXPECT_TRUE(canonical_of("gemm f32 m=4 n=?a:..200~9~7 k=4").problem ==
              canonical_of("gemm f32 m=4 n=?b:~7~9 k=4").problem);
}

// Where a kernel may want it packed.
TEST(Canonical, AConstantBThatIsAllKnown) {
  expect_rows({
      {"gemm f32 m=?m n=3 k=4 c=mn const=a,b,c", "gemm f32 m=?d0 n=3 k=4 c=mn const=b", {"m"}},
      {"gemm f32 m=2 n=3 k=4 tb sb=9x2 const=b", "gemm f32 m=2 n=3 k=4 tb sb=9x2 const=b"},
      {"gemm f32 m=2 n=?n k=4 const=b", "gemm f32 m=2 n=?d0 k=4", {"n"}},
      {"gemm f32 m=2 n=3 k=?k const=b", "gemm f32 m=2 n=3 k=?d0", {"k"}},
      {"gemm f32 m=2 n=3 k=4 sb=?x1 const=b", "gemm f32 m=2 n=3 k=4 sb=?x1"},
      {"matmul f32 a=?mx?k b=4x3 const=b", "matmul f32 a=?d0x4 b=4x3 const=b", {"m"}},
      {"matmul f32 a=2x4 b=4 const=b", "matmul f32 a=2x4 b=4x1 const=b"},
      {"matmul f32 a=5x2x4 b=1x4x3 const=b", "matmul f32 a=10x4 b=4x3 const=b"},
      {"matmul f32 a=5x2x4 b=5x4x3 const=b", "matmul f32 a=5x2x4 b=5x4x3"},
      {"matmul f32 a=2x4 b=* const=b", "matmul f32 a=2x4 b=?d0x4x?d1", {"batch", "n"}},
  });
}

TEST(Canonical, EpiloguesWithoutNames) {
  expect_rows({
      {"gemm f32 m=2 n=3 k=4 epi=bias:n:b1,gelu,residual::x", "gemm f32 m=2 n=3 k=4 epi=bias:n,gelu,bias:mn"},
      {"gemm f32 m=2 n=3 k=4 epi=leaky_relu(0.01),clip(0;6)", "gemm f32 m=2 n=3 k=4 epi=leaky_relu,clip(0;6)"},
      // Items of a batch become rows only where no step reads the rows of an item.
      {"matmul f32 a=5x2x4 b=4x3 epi=bias:mn,bias:n", "matmul f32 a=10x4 b=4x3 epi=bias:mn,bias:n"},
      {"matmul f32 a=5x2x4 b=4x3 epi=bias:m", "matmul f32 a=5x2x4 b=4x3 epi=bias:m"},
  });
}

TEST(Canonical, KeepsWhatChangesTheNumbers) {
  expect_rows({
      {"gemm f32 m=2 n=3 k=4 alpha=0", "gemm f32 m=2 n=3 k=4 alpha=0"},
      {"gemm f32 m=2 n=3 k=4 alpha=-0", "gemm f32 m=2 n=3 k=4 alpha=-0"},
      {"gemm f32 m=2 n=3 k=4 c=mn alpha=0.1 beta=-2", "gemm f32 m=2 n=3 k=4 c=mn alpha=0.1 beta=-2"},
      {"gemm bf16 m=2 n=3 k=4 ta tb", "gemm bf16 m=2 n=3 k=4 ta tb"},
  });
}

TEST(Canonical, FormsOfC) {
  expect_rows({
      {"gemm f32 m=2 n=3 k=4 c=s", "gemm f32 m=2 n=3 k=4 c=s"},
      {"gemm f32 m=2 n=3 k=4 c=1", "gemm f32 m=2 n=3 k=4 c=s"},
      {"gemm f32 m=2 n=3 k=4 c=11", "gemm f32 m=2 n=3 k=4 c=s"},
      {"gemm f32 m=2 n=1 k=4 c=n", "gemm f32 m=2 n=1 k=4 c=s"},
      {"gemm f32 m=1 n=1 k=4 c=mn", "gemm f32 m=1 n=1 k=4 c=s"},
      {"gemm f32 m=2 n=3 k=4 c=n", "gemm f32 m=2 n=3 k=4 c=n"},
      {"gemm f32 m=2 n=3 k=4 c=1n", "gemm f32 m=2 n=3 k=4 c=n"},
      {"gemm f32 m=1 n=3 k=4 c=mn", "gemm f32 m=1 n=3 k=4 c=n"},
      {"gemm f32 m=2 n=3 k=4 c=m1", "gemm f32 m=2 n=3 k=4 c=m1"},
      {"gemm f32 m=2 n=3 k=4 c=mn", "gemm f32 m=2 n=3 k=4 c=mn"},
      {"gemm f32 m=2 n=3 k=4 c=*", "gemm f32 m=2 n=3 k=4 c=mn sc=?x?"},
      {"gemm f32 m=?a n=?b k=4 c=*", "gemm f32 m=?d0 n=?d1 k=4 c=mn sc=?x?", {"a", "b"}},
      {"gemm f32 m=2 n=3 k=4 c=1n sc=7x2", "gemm f32 m=2 n=3 k=4 c=1n sc=7x2"},
  });
}

TEST(Canonical, RenamesDimensionsInTheOrderOfTheirFirstAppearance) {
  expect_rows({
      {"gemm f32 m=?batch n=?out k=?in", "gemm f32 m=?d0 n=?d2 k=?d1", {"batch", "in", "out"}},
      {"gemm f32 m=?batch n=?out k=?in ta tb", "gemm f32 m=?d1 n=?d2 k=?d0 ta tb", {"in", "batch", "out"}},
      {"gemm f32 m=?d1 n=?d0 k=4", "gemm f32 m=?d0 n=?d1 k=4", {"d1", "d0"}},
      {"gemm f32 m=?s n=?s k=?s", "gemm f32 m=?d0 n=?d0 k=?d0", {"s"}},
      {"matmul f32 a=?bx12x?sx64 b=?bx12x64x?t", "matmul f32 a=?d0x12x?d1x64 b=?d0x12x64x?d2", {"b", "s", "t"}},
      {"gemm f32 m=?m n=?n k=4 c=mn", "gemm f32 m=?d0 n=?d1 k=4 c=mn", {"m", "n"}},
  });
}

TEST(Canonical, VectorsBecomeMatrices) {
  expect_rows({
      {"matmul f32 a=4 b=4", "matmul f32 a=1x4 b=4x1"},
      {"matmul f32 a=4 b=4x5", "matmul f32 a=1x4 b=4x5"},
      {"matmul f32 a=3x4 b=4", "matmul f32 a=3x4 b=4x1"},
      {"matmul f32 a=4 b=2x4x5", "matmul f32 a=1x4 b=2x4x5"},
      {"matmul f32 a=4 b=4x5 sa=3", "matmul f32 a=1x4 b=4x5 sa=0x3"},
      {"matmul f32 a=4 b=4x5 sa=?", "matmul f32 a=1x4 b=4x5 sa=0x?"},
      {"matmul f32 a=3x4 b=4 sb=-2", "matmul f32 a=3x4 b=4x1 sb=-2x1"},
      {"matmul f32 a=4 b=4x5 sy=2", "matmul f32 a=1x4 b=4x5 sy=0x2"},
      {"matmul f32 a=4 b=2x4x5 sy=20x2", "matmul f32 a=1x4 b=2x4x5 sy=20x0x2"},
      {"matmul f32 a=3x4 b=4 sy=2", "matmul f32 a=3x4 b=4x1 sy=2x1"},
      {"matmul f32 a=?sx2x3x4 b=4 sy=?x?x2", "matmul f32 a=?d0x2x3x4 b=4x1 sy=?x?x2x1", {"s"}},
  });
}

TEST(Canonical, StridesThatSayNothingNewAreDropped) {
  expect_rows({
      {"gemm f32 m=2 n=3 k=4 sa=4x1 sb=3x1 sy=3x1", "gemm f32 m=2 n=3 k=4"},
      {"gemm f32 m=2 n=3 k=4 sa=-x1", "gemm f32 m=2 n=3 k=4"},
      {"gemm f32 m=1 n=3 k=4 sa=77x1 sy=0x1", "gemm f32 m=1 n=3 k=4"},
      {"gemm f32 m=2 n=3 k=4 sa=8x1", "gemm f32 m=2 n=3 k=4 sa=8x1"},
      {"gemm f32 m=2 n=3 k=4 sa=?x1", "gemm f32 m=2 n=3 k=4 sa=?x1"},
      {"gemm f32 m=?s n=3 k=4 sa=4x1", "gemm f32 m=?d0 n=3 k=4", {"s"}},
      {"gemm f32 m=2 n=3 k=?s sa=4x1", "gemm f32 m=2 n=3 k=?d0 sa=4x1", {"s"}},
      {"gemm f32 m=2 n=3 k=4 c=1n sc=9x1", "gemm f32 m=2 n=3 k=4 c=n"},
      {"matmul f32 a=2x3x4 b=4x5 sa=12x4x1 sy=15x5x1", "matmul f32 a=6x4 b=4x5"},
      {"matmul f32 a=2x3x4 b=4x5 sa=12x4x2", "matmul f32 a=2x3x4 b=4x5 sa=12x4x2"},
  });
}

TEST(Canonical, OneKReplacesTheOtherEverywhere) {
  expect_rows({
      {"matmul f32 a=2x?k b=4x5", "matmul f32 a=2x4 b=4x5"},
      {"matmul f32 a=2x4 b=?kx5", "matmul f32 a=2x4 b=4x5"},
      {"matmul f32 a=2x?j b=?kx5", "matmul f32 a=2x?d0 b=?d0x5", {"j"}},
      {"matmul f32 a=?k b=4", "matmul f32 a=1x4 b=4x1"},
      {"matmul f32 a=?sx3x?s b=?tx4x5", "matmul f32 a=4x3x4 b=?d0x4x5", {"t"}},
      {"matmul f32 a=?kx2x4 b=?tx?kx?k", "matmul f32 a=4x2x4 b=?d0x4x4", {"t"}},
      {"matmul f32 a=?kx2x?j b=?kx?kx?j", "matmul f32 a=?d0x2x?d0 b=?d0x?d0x?d0", {"j"}},
  });
}

TEST(Canonical, BatchesWithoutItemsOfTheirOwnDisappear) {
  expect_rows({
      {"matmul f32 a=1x1x2x4 b=4x5", "matmul f32 a=2x4 b=4x5"},
      {"matmul f32 a=2x4 b=1x1x4x5", "matmul f32 a=2x4 b=4x5"},
      {"matmul f32 a=1x7x2x4 b=1x4x5", "matmul f32 a=14x4 b=4x5"},
      {"matmul f32 a=1x2x4 b=7x4x5", "matmul f32 a=2x4 b=7x4x5"},
      {"matmul f32 a=1x2x4 b=7x4x5 sa=?x4x2", "matmul f32 a=2x4 b=7x4x5 sa=4x2"},
      {"matmul f32 a=6x1x2x4 b=6x1x4x5", "matmul f32 a=6x2x4 b=6x4x5"},
      {"matmul f32 a=6x1x2x4 b=6x1x4x5 sa=16x?x8x1 sy=99x98x5x1", "matmul f32 a=6x2x4 b=6x4x5 sa=16x8x1 sy=99x5x1"},
  });
}

TEST(Canonical, StaticBatchesOfADenseAFoldIntoItsRows) {
  expect_rows({
      {"matmul f32 a=2x3x5x4 b=4x6", "matmul f32 a=30x4 b=4x6"},
      {"matmul f32 a=2x3x5x4 b=4", "matmul f32 a=30x4 b=4x1"},
      {"matmul f32 a=2x3x?sx4 b=4x6", "matmul f32 a=6x?d0x4 b=4x6", {"s"}},
      {"matmul f32 a=2x?bx3x5x4 b=4x6", "matmul f32 a=6x?d0x5x4 b=4x6", {"b"}},
      {"matmul f32 a=0x3x5x4 b=4x6", "matmul f32 a=0x4 b=4x6"},
      {"matmul f32 a=2x5x4 b=1x4x6", "matmul f32 a=10x4 b=4x6"},
      {"matmul f32 a=2x5x4 b=4x6 sy=?x6x1", "matmul f32 a=2x5x4 b=4x6 sy=?x6x1"},
      {"matmul f32 a=2x5x4 b=4x6 sa=?x4x1", "matmul f32 a=2x5x4 b=4x6 sa=?x4x1"},
      {"matmul f32 a=2x5x4 b=4x6 sb=1x4", "matmul f32 a=10x4 b=4x6 sb=1x4"},
      {"matmul f32 a=2x5x4 b=2x4x6", "matmul f32 a=2x5x4 b=2x4x6"},
      {"matmul f32 a=4294967296x4294967296x0x4 b=4x0", "matmul f32 a=4294967296x4294967296x0x4 b=4x0"},
  });
}

TEST(Canonical, UnknownRanksAreFlattened) {
  expect_rows({
      {"matmul f32 a=* b=4x5", "matmul f32 a=?d0x4 b=4x5", {"m"}},
      {"matmul f32 a=* b=4", "matmul f32 a=?d0x4 b=4x1", {"m"}},
      {"matmul f32 a=* b=?mx?n", "matmul f32 a=?d0x?d1 b=?d1x?d2", {"m_", "m", "n"}},
      {"matmul f32 a=* b=4x5 sb=1x4", "matmul f32 a=?d0x4 b=4x5 sb=1x4", {"m"}},
      {"matmul f32 a=3x4 b=*", "matmul f32 a=3x4 b=?d0x4x?d1", {"batch", "n"}},
      {"matmul f32 a=4 b=*", "matmul f32 a=1x4 b=?d0x4x?d1", {"batch", "n"}},
      {"matmul f32 a=4 b=* sa=2", "matmul f32 a=1x4 b=?d0x4x?d1 sa=0x2", {"batch", "n"}},
      {"matmul f32 a=* b=7x4x5", "matmul f32 a=?d0x?d1x4 b=?d0x4x5 sa=?x-x- sb=?x-x-", {"batch", "m"}},
      {"matmul f32 a=7x3x4 b=*", "matmul f32 a=?d0x3x4 b=?d0x4x?d1 sa=?x-x- sb=?x-x-", {"batch", "n"}},
      {"matmul f32 a=* b=*", "matmul f32 a=?d0x?d1x?d2 b=?d0x?d2x?d3 sa=?x-x- sb=?x-x-", {"batch", "m", "k", "n"}},
  });
}

TEST(Canonical, EqualComputationsAreEqual) {
  const std::vector<std::string> kGroups[] = {
      {"matmul f32 a=30x4 b=4x5", "matmul f32 a=2x3x5x4 b=4x5", "matmul f32 a=30x4 b=1x4x5",
       "matmul f32 a=15x2x?k b=4x5", "matmul f32 a=30x4 b=4x5 sa=4x1 sy=5x1 const=a"},
      {"matmul f32 a=1x4 b=4x5", "matmul f32 a=4 b=4x5", "matmul f32 a=1x1x4 b=1x4x5",
       "matmul f32 a=4 b=4x5 sa=1 sy=1"},
      {"gemm f32 m=?a n=?b k=4 c=1n beta=2", "gemm f32 m=?s:1..9 n=?y k=4 c=n beta=2 const=c"},
      {"matmul f32 a=?ax2x?s b=?ax?sx3", "matmul f32 a=?bx2x?s b=?bx?tx3"},
  };
  for (const std::vector<std::string>& group : kGroups) {
    for (const std::string& text : group) {
      EXPECT_TRUE(canonical_of(text).problem == canonical_of(group[0]).problem) << text << " is not " << group[0];
    }
  }
}

TEST(Canonical, DifferentComputationsDiffer) {
  const std::string kTexts[] = {
      "gemm f32 m=2 n=3 k=4",
      "gemm f32 m=3 n=2 k=4",
      "gemm f32 m=2 n=3 k=4 ta",
      "gemm f32 m=2 n=3 k=4 tb",
      "gemm f64 m=2 n=3 k=4",
      "gemm f32 m=2 n=3 k=4 c=n",
      "gemm f32 m=2 n=3 k=4 c=m1",
      "gemm f32 m=2 n=3 k=4 c=mn",
      "gemm f32 m=2 n=3 k=4 c=s",
      "gemm f32 m=? n=3 k=4",
      "gemm f32 m=2 n=? k=4",
      "gemm f32 m=? n=?m k=4",
      "gemm f32 m=? n=? k=4",
      "gemm f32 m=2 n=3 k=4 c=*",
      "gemm f32 m=2 n=3 k=4 c=n beta=2",
      "gemm f32 m=2 n=3 k=4 alpha=2",
      "gemm f32 m=2 n=3 k=4 order=k",
      "gemm f32 m=2 n=3 k=4 sa=5x1",
      "gemm f32 m=2 n=3 k=4 sb=5x1",
      "gemm f32 m=2 n=3 k=4 sy=5x1",
      "gemm f32 m=2 n=3 k=4 sa=?x1",
      "matmul f32 a=2x1x4 b=2x4x3",
      "matmul f32 a=2x1x4 b=?ax4x3",
      "matmul f32 a=?ax1x4 b=?ax4x3",
      "matmul f32 a=?ax1x4 b=?bx4x3",
      "matmul f32 a=?ax1x4 b=1x4x3 sa=?x-x-",
  };
  for (const std::string& one : kTexts) {
    for (const std::string& other : kTexts) {
      EXPECT_EQ(print_problem(canonical_of(one).problem) == print_problem(canonical_of(other).problem), &one == &other)
          << one << " and " << other;
    }
  }
}

TEST(Canonical, NamesAreIndicesOfTheCallsDims) {
  EXPECT_EQ(dim_index("d0"), 0u);
  EXPECT_EQ(dim_index("d17"), 17u);
}

TEST(Canonical, IsValidAndItsOwnCanonicalForm) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    const Problem problem = testing::random_every_field(random);
    const Problem once = canonical(problem).problem;
    const Status status = validate(once);
    ASSERT_TRUE(status.is_ok()) << print_problem(problem) << " became " << print_problem(once) << ": "
                                << status.message();
    const CanonicalProblem twice = canonical(once);
    ASSERT_EQ(print_problem(twice.problem), print_problem(once)) << print_problem(problem);
    for (size_t d = 0; d < twice.dim_names.size(); ++d) ASSERT_EQ(twice.dim_names[d], "d" + std::to_string(d));
  }
}

}  // namespace
}  // namespace gemmc
