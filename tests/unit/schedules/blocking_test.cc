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

TEST(Blocking, SixteenBitTypesAreConverted) {
  for (DType dtype : kAllDTypes) EXPECT_EQ(converts_a(dtype), size_bytes(dtype) == 2) << name(dtype);
}

}  // namespace
}  // namespace gemmc
