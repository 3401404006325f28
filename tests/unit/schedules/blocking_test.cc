#include "schedules/blocking.h"

#include <gtest/gtest.h>

#include "tests/unit/schedules/canonical_problem.h"

namespace gemmc {
namespace {

LoopForm form(const std::string& text) { return loop_form(testing::problem(text)); }

TEST(Blocking, TilesHaveTwoNeighbouringHeights) {
  const Schedule schedule = *parse_schedule("tiled mr=6 nr=16 lanes=8 mc=6");
  const std::pair<int64_t, std::vector<int>> kRows[] = {{1, {1}},  {6, {6}},     {7, {4, 3}},
                                                        {12, {6}}, {13, {5, 4}}, {600, {6}}};
  for (const auto& [m, heights] : kRows) EXPECT_EQ(tile_heights(SizeExpr::fixed(m), schedule), heights) << m;
  EXPECT_EQ(tile_heights(form("gemm f32 m=?m n=1 k=1").m, schedule), (std::vector<int>{6, 5, 4, 3, 2, 1}));
}

TEST(Blocking, OneBlockOfProductsWhereKFitsIt) {
  const Schedule schedule = *parse_schedule("general mr=6 nr=16 lanes=8 mc=6 nc=16 kc=64");
  EXPECT_FALSE(may_need_many_blocks(form("gemm f32 m=?m n=8 k=64"), schedule));
  EXPECT_TRUE(may_need_many_blocks(form("gemm f32 m=?m n=8 k=65"), schedule));
  EXPECT_TRUE(may_need_many_blocks(form("gemm f32 m=?m n=?n k=?k"), schedule));
  EXPECT_TRUE(may_need_many_blocks(form("gemm f32 m=2 n=2 k=2 sa=1x?"), schedule)) << "a stride may be very long";
  EXPECT_FALSE(may_need_many_blocks(form("gemm f32 m=2 n=2 k=1 sa=1x?"), schedule));
}

TEST(Blocking, RowsOfBAreReadInPlaceWhereTheyAreVectors) {
  EXPECT_TRUE(reads_b_in_place(form("gemm f32 m=8 n=16 k=32")));
  EXPECT_TRUE(reads_b_in_place(form("gemm f32 m=8 n=1 k=32 tb sb=77x5")));
  EXPECT_FALSE(reads_b_in_place(form("gemm f32 m=8 n=16 k=32 tb")));
  EXPECT_FALSE(reads_b_in_place(form("gemm f32 m=8 n=16 k=32 sb=99x?")));
}

TEST(Blocking, OnlyPiecesThatSomeBlockHas) {
  const Schedule schedule = *parse_schedule("general mr=6 nr=16 lanes=8 mc=6 nc=32 kc=64");
  const std::pair<const char*, ColumnPieces> kRows[] = {
      {"gemm f32 m=?m n=64 k=64", {.panels = true, .vectors = false, .rest = false}},
      {"gemm f32 m=?m n=32 k=64", {.panels = true, .vectors = false, .rest = false}},
      {"gemm f32 m=?m n=40 k=64", {.panels = true, .vectors = true, .rest = false}},
      {"gemm f32 m=?m n=67 k=64", {.panels = true, .vectors = false, .rest = true}},
      {"gemm f32 m=?m n=47 k=64", {.panels = true, .vectors = true, .rest = true}},
      {"gemm f32 m=?m n=8 k=64", {.panels = false, .vectors = true, .rest = false}},
      {"gemm f32 m=?m n=7 k=64", {.panels = false, .vectors = false, .rest = true}},
      // Blocks may shrink to one column.
      {"gemm f32 m=?m n=64 k=64 sb=1x?", {}},
      {"gemm f32 m=?m n=64 k=64 sy=1x99999999", {}},
      {"gemm f32 m=?m n=64 k=64 c=mn sc=1x-99999999", {}},
      {"gemm f32 m=?m n=?n k=64", {}},
      {"gemm f32 m=?m n=0 k=64", {}},
  };
  for (const auto& [text, pieces] : kRows) EXPECT_EQ(column_pieces(form(text), schedule), pieces) << text;
}

TEST(Blocking, PiecesOfLentBlocksToo) {
  const Schedule schedule = *parse_schedule("general mr=6 nr=16 lanes=8 mc=6 nc=32 kc=64 lent_nc=48 sums=y");
  const std::pair<const char*, ColumnPieces> kRows[] = {
      {"gemm f32 m=?m n=96 k=64", {.panels = true, .vectors = false, .rest = false}},
      {"gemm f32 m=?m n=72 k=64", {.panels = true, .vectors = true, .rest = false}},
      {"gemm f32 m=?m n=100 k=64", {.panels = true, .vectors = false, .rest = true}},
  };
  for (const auto& [text, pieces] : kRows) EXPECT_EQ(column_pieces(form(text), schedule), pieces) << text;
}

TEST(Blocking, ScratchHoldsALentBlockAtAnyAddress) {
  const Schedule none = *parse_schedule("general mr=6 nr=16 lanes=8 mc=6 nc=32 kc=64 sums=y");
  const Schedule lent = *parse_schedule("general mr=6 nr=16 lanes=8 mc=6 nc=32 kc=64 lent_nc=48 sums=y");
  EXPECT_EQ(scratch_bytes(none, DType::kFloat32), 0);
  EXPECT_EQ(scratch_bytes(lent, DType::kFloat32), 64 * 48 * 4 + 64);
  EXPECT_EQ(scratch_bytes(lent, DType::kFloat64), 64 * 48 * 8 + 64);
}

TEST(Blocking, SumsWaitInAYThatNothingReadAtTheEndCanBe) {
  const std::pair<const char*, bool> kRows[] = {
      {"gemm f32 m=?m n=?n k=?k", true},
      {"gemm f32 m=?m n=?n k=?k c=n", true},
      {"gemm f32 m=?m n=?n k=?k c=m1", true},
      {"gemm f32 m=?m n=?n k=?k c=mn", false},
      {"gemm f32 m=?m n=?n k=?k epi=bias:n", true},
      {"gemm f32 m=?m n=?n k=?k epi=residual", false},
      {"gemm f32 m=1 n=?n k=?k c=n", false},
      {"gemm bf16 m=?m n=?n k=?k", false},  // sums are wider than Y
  };
  for (const auto& [text, can] : kRows) {
    const Problem problem = testing::problem(text);
    EXPECT_EQ(can_keep_sums_in_y(problem, loop_form(problem)), can) << text;
  }
}

TEST(Blocking, SixteenBitTypesAreConverted) {
  for (DType dtype : kAllDTypes) EXPECT_EQ(has_wider_sums(dtype), size_bytes(dtype) == 2) << name(dtype);
}

}  // namespace
}  // namespace gemmc
