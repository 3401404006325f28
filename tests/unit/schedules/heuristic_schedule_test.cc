#include "schedules/heuristic_schedule.h"

#include <gtest/gtest.h>

#include "schedules/family_table.h"
#include "tests/unit/schedules/canonical_problem.h"

namespace gemmc {
namespace {

using testing::problem;
using testing::target;

TEST(HeuristicSchedule, LowTilesAreWider) {
  const std::pair<const char*, const char*> kRows[] = {
      {"gemm f32 m=8 n=384 k=384 const=b", "tiled mr=4 nr=24 lanes=8 mc=168 pack=b"},
      {"gemm f32 m=8 n=191 k=384 const=b", "tiled mr=6 nr=16 lanes=8 mc=168 pack=b"},   // few columns
      {"gemm f32 m=10 n=384 k=384 const=b", "tiled mr=6 nr=16 lanes=8 mc=168 pack=b"},  // 5 rows: no room
      {"gemm f32 m=3 n=384 k=384 const=b", "tiled mr=6 nr=16 lanes=8 mc=168 pack=b"},   // two panels at a time
      {"gemm f32 m=?m n=384 k=384 const=b", "tiled mr=6 nr=16 lanes=8 mc=168 pack=b"},
  };
  for (const auto& [text, schedule] : kRows) {
    EXPECT_EQ(print_schedule(heuristic_schedule(Family::kTiled, problem(text), target("x86-64-v3"))), schedule) << text;
  }
}

TEST(HeuristicSchedule, NarrowTilesAreHigher) {
  const std::pair<const char*, const char*> kRows[] = {
      {"gemm f32 m=64 n=8 k=100", "tiled mr=12 nr=8 lanes=8 mc=648"},
      {"gemm f32 m=?m n=4 k=100 tb const=b", "tiled mr=12 nr=8 lanes=8 mc=648 pack=b"},
      {"gemm f32 m=64 n=3 k=100", "tiled mr=6 nr=16 lanes=8 mc=654"},  // two vectors of two columns
      {"gemm f32 m=64 n=9 k=100", "tiled mr=6 nr=16 lanes=8 mc=654"},
  };
  for (const auto& [text, schedule] : kRows) {
    EXPECT_EQ(print_schedule(heuristic_schedule(Family::kTiled, problem(text), target("x86-64-v3"))), schedule) << text;
  }
}

TEST(HeuristicSchedule, BlocksOfAnUnpackedB) {
  const std::pair<const char*, const char*> kRows[] = {
      {"gemm f32 m=4 n=4096 k=1024", "tiled mr=6 nr=16 lanes=8 mc=4092 kc=8"},  // few rows: few streams
      {"gemm f32 m=24 n=512 k=2000", "tiled mr=6 nr=16 lanes=8 mc=816 kc=80"},  // more rows: a divisor of K near 96
      {"gemm f32 m=90 n=1760 k=1760", "tiled mr=6 nr=16 lanes=8 mc=372 kc=176"},
      {"gemm f32 m=32 n=32 k=10000", "tiled mr=6 nr=16 lanes=8 mc=816 kc=80"},  // narrow: a block in the L1 cache
      {"gemm f32 m=512 n=64 k=512", "tiled mr=6 nr=16 lanes=8 mc=126"},         // and many rows: B is in the L2 cache
      {"gemm f32 m=24 n=100 k=64", "tiled mr=6 nr=16 lanes=8 mc=1020"},         // B is in the L1 cache
      {"gemm f32 m=24 n=512 k=2000 c=mn", "tiled mr=6 nr=16 lanes=8 mc=30"},    // C may be Y
  };
  for (const auto& [text, schedule] : kRows) {
    EXPECT_EQ(print_schedule(heuristic_schedule(Family::kTiled, problem(text), target("x86-64-v3"))), schedule) << text;
  }
}

TEST(HeuristicSchedule, BlocksOfTheGeneralFamilyFollowTheProduct) {
  const std::pair<const char*, const char*> kRows[] = {
      {"gemm f32 m=?m n=?n k=?k", "general mr=6 nr=16 lanes=8 mc=1020 nc=64 kc=256 lent_nc=512 sums=y"},
      {"gemm f32 m=?m n=?n k=?k c=mn", "general mr=6 nr=16 lanes=8 mc=180 nc=32 kc=512"},     // C may be Y
      {"gemm f32 m=?m n=?n k=32", "general mr=6 nr=16 lanes=8 mc=1020 nc=256 kc=32 sums=y"},  // as wide as useful
      {"gemm f32 m=?m n=32 k=?k", "general mr=6 nr=16 lanes=8 mc=1020 nc=32 kc=256 sums=y"},
      {"gemm f32 m=200 n=200 k=512", "general mr=6 nr=16 lanes=8 mc=180 nc=32 kc=512"},  // one block of K
      {"gemm f32 m=200 n=200 k=513",
       "general mr=6 nr=16 lanes=8 mc=1020 nc=80 kc=176 lent_nc=208 sums=y"},        // three equal
      {"gemm f32 m=?m n=20 k=32", "general mr=6 nr=16 lanes=8 mc=180 nc=32 kc=32"},  // no wider than N
      {"gemm f32 m=?m n=0 k=0", "general mr=6 nr=16 lanes=8 mc=180 nc=16 kc=8"},
      {"gemm f32 m=7 n=?n k=32", "general mr=4 nr=16 lanes=8 mc=1024 nc=256 kc=32 sums=y"},  // strips of 4 and 3 rows
      {"gemm bf16 m=?m n=?n k=?k", "general mr=6 nr=16 lanes=8 mc=66 nc=32 kc=256"},  // beside converted rows of A
  };
  for (const auto& [text, schedule] : kRows) {
    const Schedule sized = heuristic_schedule(Family::kGeneral, problem(text), target("x86-64-v3"));
    EXPECT_EQ(print_schedule(sized), schedule) << text;
  }
}

// With 512-bit vectors there is a choice of tiles, and B is read in place from the L2 cache.
TEST(HeuristicSchedule, WideVectorsLeaveNoNarrowTile) {
  const std::tuple<const char*, Family, const char*> kRows[] = {
      {"gemm f32 m=64 n=64 k=64", Family::kTiled, "tiled mr=6 nr=64 lanes=16 mc=1020"},    // 4 vectors
      {"gemm f32 m=64 n=96 k=64", Family::kTiled, "tiled mr=8 nr=48 lanes=16 mc=1024"},    // 3 + 3
      {"gemm f32 m=100 n=100 k=100", Family::kTiled, "tiled mr=6 nr=64 lanes=16 mc=654"},  // 4 + 3, the last overlaps
      {"gemm f32 m=512 n=512 k=512", Family::kTiled, "tiled mr=8 nr=48 lanes=16 mc=128"},
      {"gemm f32 m=16 n=1000 k=2048", Family::kTiled, "tiled mr=8 nr=48 lanes=16 mc=256 kc=256"},
      {"gemm f32 m=?m n=2048 k=2048", Family::kGeneral,
       "general mr=6 nr=64 lanes=16 mc=1020 nc=64 kc=256 lent_nc=512 sums=y"},
      {"gemm f32 m=?m n=960 k=2048", Family::kGeneral,
       "general mr=8 nr=48 lanes=16 mc=1024 nc=48 kc=304 lent_nc=384 sums=y"},
      {"gemm f32 m=64 n=10 k=128", Family::kGeneral, "general mr=22 nr=16 lanes=16 mc=176 nc=16 kc=128"},  // high
      {"gemm f32 m=?m n=?n k=2048", Family::kGeneral,
       "general mr=8 nr=48 lanes=16 mc=1024 nc=48 kc=304 lent_nc=384 sums=y"},
  };
  for (const auto& [text, family, schedule] : kRows) {
    EXPECT_EQ(print_schedule(heuristic_schedule(family, problem(text), target("x86-64-v4"))), schedule) << text;
  }
}

TEST(HeuristicSchedule, RowsOfLessThanAVectorAreMasked) {
  const std::pair<const char*, const char*> kRows[] = {
      {"gemm f32 m=64 n=13 k=128", "tiled mr=24 nr=16 lanes=16 mc=504 mask=n"},
      {"gemm f32 m=?m n=13 k=128", "tiled mr=12 nr=16 lanes=16 mc=504 mask=n"},
      {"gemm f32 m=64 n=13 k=128 const=b", "tiled mr=24 nr=16 lanes=16 mc=504 mask=n"},  // read where it is
      {"gemm f32 m=64 n=5 k=128", "tiled mr=24 nr=8 lanes=8 mc=504 mask=n"},
      {"gemm f32 m=64 n=3 k=128", "tiled mr=24 nr=4 lanes=4 mc=504 mask=n"},
      {"gemm f64 m=64 n=3 k=128", "tiled mr=24 nr=4 lanes=4 mc=240 mask=n"},
      {"gemm i32 m=64 n=13 k=128 c=n", "tiled mr=16 nr=16 lanes=16 mc=512 mask=n"},
      {"gemm f32 m=64 n=8 k=128", "tiled mr=24 nr=16 lanes=16 mc=504"},                    // a vector
      {"gemm f32 m=64 n=17 k=128", "tiled mr=8 nr=48 lanes=16 mc=512"},                    // more than one
      {"gemm f32 m=64 n=13 k=128 tb const=b", "tiled mr=8 nr=16 lanes=16 mc=512 pack=b"},  // not in place
      {"gemm f32 m=64 n=13 k=128 storage=b:bf16", "tiled mr=8 nr=48 lanes=16 mc=512"},     // widened
  };
  for (const auto& [text, schedule] : kRows) {
    EXPECT_EQ(print_schedule(heuristic_schedule(Family::kTiled, problem(text), target("x86-64-v4"))), schedule) << text;
    EXPECT_FALSE(heuristic_schedule(Family::kTiled, problem(text), target("x86-64-v3")).masks_columns) << text;
  }
}

TEST(HeuristicSchedule, PairsWhereTheTargetAddsThemUp) {
  const std::tuple<const char*, Family, const char*> kRows[] = {
      {"gemm bf16 m=512 n=512 k=512", Family::kGeneral, "general mr=6 nr=64 lanes=16 mc=180 nc=64 kc=512 pairs=k"},
      {"gemm bf16 m=512 n=512 k=512 ta", Family::kGeneral,
       "general mr=6 nr=64 lanes=16 mc=102 nc=64 kc=256 pairs=k pack=a"},
      {"gemm bf16 m=512 n=512 k=512 order=k", Family::kGeneral, "general mr=6 nr=64 lanes=16 mc=102 nc=64 kc=128"},
      {"gemm f16 m=512 n=512 k=512", Family::kGeneral, "general mr=6 nr=64 lanes=16 mc=102 nc=64 kc=128"},
      {"gemm bf16 m=4 n=8 k=64 tb", Family::kDots, "dots mr=4 nr=6 lanes=16 mc=4096 kr=1 pairs=k"},
      {"gemm bf16 m=4 n=8 k=16 tb", Family::kDots, "dots mr=4 nr=6 lanes=16 mc=4096 kr=1"},  // no vector of pairs
  };
  for (const auto& [text, family, schedule] : kRows) {
    EXPECT_EQ(print_schedule(heuristic_schedule(family, problem(text), target("x86-64-v4+bf16"))), schedule) << text;
  }
  const Problem without = problem("gemm bf16 m=512 n=512 k=512");
  EXPECT_FALSE(heuristic_schedule(Family::kGeneral, without, target("x86-64-v4")).pairs_products);
}

// Whatever is chosen is a valid schedule, and the general family has one for everything.
TEST(HeuristicSchedule, IsValidForEveryTypeAndTarget) {
  const std::string kShapes[] = {"m=1 n=1 k=1 const=b",
                                 "m=?m n=5 k=7 tb const=b",
                                 "m=?m n=4096 k=9000 const=b",
                                 "m=1 n=1 k=1",
                                 "m=3 n=5 k=4",
                                 "m=1 n=4096 k=4096",
                                 "m=4096 n=1 k=9",
                                 "m=1000 n=1 k=512",
                                 "m=3 n=700 k=700 tb",
                                 "m=40 n=700 k=700",
                                 "m=512 n=512 k=512",
                                 "m=?m n=?n k=?k c=mn"};
  for (const std::string& word : target_names()) {
    for (DType dtype : kAllDTypes) {
      for (const std::string& shape : kShapes) {
        const Problem p = problem("gemm " + std::string(short_name(dtype)) + " " + shape);
        for (const FamilyVerdict& v : judge_families(p, target(word))) {
          if (v.refusal) continue;
          const Schedule schedule = heuristic_schedule(v.family, p, target(word));
          EXPECT_EQ(schedule.family, v.family);
          const Status status = validate(schedule, dtype, target(word));
          EXPECT_TRUE(status.is_ok()) << word << " " << print_problem(p) << ": " << status.message();
        }
        const Expected<Schedule> chosen = choose_schedule(p, target(word));
        EXPECT_TRUE(chosen) << word << " " << print_problem(p) << ": " << chosen.status().message();
      }
    }
  }
}

}  // namespace
}  // namespace gemmc
