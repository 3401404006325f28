#include "schedules/schedule.h"

#include <gtest/gtest.h>

#include <limits>

namespace gemmc {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

Target target(std::string_view word) { return *parse_target(word); }

Schedule parsed(std::string_view line) {
  Expected<Schedule> schedule = parse_schedule(line);
  EXPECT_TRUE(schedule) << line << ": " << schedule.status().message();
  return schedule ? *schedule : Schedule{};
}

TEST(Schedule, PrintsAndParses) {
  const Schedule tiled{.family = Family::kTiled, .mr = 6, .nr = 16, .lanes = 8, .mc = 96};
  Schedule packed = tiled;
  packed.packs_b = true;
  const Schedule general{.family = Family::kGeneral, .mr = 6, .nr = 16, .lanes = 8, .mc = 72, .nc = 64, .kc = 32};
  Schedule in_y = general;
  in_y.sums_in_y = true;
  Schedule lent = in_y;
  lent.lent_nc = 128;
  Schedule pairs = general;
  pairs.pairs_products = pairs.packs_a = true;
  const Schedule dots{.family = Family::kDots, .mr = 3, .nr = 4, .lanes = 8, .mc = 96, .kr = 2};
  Schedule pairs_of_dots = dots;
  pairs_of_dots.pairs_products = true;
  const Schedule rows{.family = Family::kRows, .mr = 1, .nr = 16, .lanes = 8, .mc = 8, .nc = 1024, .kr = 8};
  const std::pair<Schedule, std::string> kRows[] = {
      {tiled, "tiled mr=6 nr=16 lanes=8 mc=96"},
      {packed, "tiled mr=6 nr=16 lanes=8 mc=96 pack=b"},
      {general, "general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=32"},
      {in_y, "general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=32 sums=y"},
      {lent, "general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=32 lent_nc=128 sums=y"},
      {pairs, "general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=32 pairs=k pack=a"},
      {dots, "dots mr=3 nr=4 lanes=8 mc=96 kr=2"},
      {pairs_of_dots, "dots mr=3 nr=4 lanes=8 mc=96 kr=2 pairs=k"},
      {rows, "rows mr=1 nr=16 lanes=8 mc=8 nc=1024 kr=8"},
  };
  for (const auto& [schedule, line] : kRows) {
    EXPECT_EQ(print_schedule(schedule), line);
    EXPECT_EQ(parsed(line), schedule);
  }
  EXPECT_EQ(parsed("tiled pack=b mc=96 mr=6 nr=16 lanes=8"), packed);
  EXPECT_EQ(parsed("general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=32 pack=a pairs=k"), pairs);
  EXPECT_EQ(parsed("  general  kc=32 nc=64 mc=72 lanes=8 nr=16 mr=6 "), general) << "any order, any spaces";
}

TEST(Schedule, PrintingThenParsingGivesTheSame) {
  for (Family family : kAllFamilies) {
    EXPECT_EQ(parse_family(name(family)), family);
    for (int value : {1, 7, kMaxInt}) {
      Schedule schedule{.family = family, .mr = value, .nr = 2, .lanes = 3, .mc = 4};
      if (family == Family::kGeneral || family == Family::kRows) schedule.nc = value;
      if (family == Family::kGeneral) schedule.kc = 5;
      if (family == Family::kDots || family == Family::kRows) schedule.kr = 6;
      EXPECT_EQ(parsed(print_schedule(schedule)), schedule);
    }
  }
}

TEST(Schedule, ParsingRefuses) {
  const std::pair<std::string, std::string> kRows[] = {
      {"", "schedule is empty; allowed: a family (dots, rows, tiled, general) and its fields"},
      {"   ", "schedule is empty"},
      {"packed mr=6", "schedule family 'packed' is not known; allowed: dots, rows, tiled, general"},
      {"Tiled mr=6 nr=16 lanes=8", "schedule family 'Tiled' is not known"},
      {"tiled mr=6 nr=16 mc=6", "lacks lanes="},
      {"tiled mr=6 nr=16 lanes=8", "lacks mc="},
      {"general mr=6 nr=16 lanes=8 mc=72 nc=64", "lacks kc="},
      {"tiled mr=6 nr=16 lanes=8 kr=72", "'kr=72' is unknown or repeated"},
      {"tiled mr=6 nr=16 lanes=8 mc=6 pack=b pack=b", "'pack=b' is unknown or repeated"},
      {"tiled mr=6 nr=16 lanes=8 mc=6 pack=a", "'pack=a' is unknown or repeated"},
      {"general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=64 pack=b", "'pack=b' is unknown or repeated in a general schedule"},
      {"tiled mr=6 nr=16 lanes=8 mc=6 sums=y", "'sums=y' is unknown or repeated in a tiled schedule"},
      {"tiled mr=6 nr=16 lanes=8 mc=6 pairs=k", "'pairs=k' is unknown or repeated in a tiled schedule"},
      {"dots mr=6 nr=1 lanes=8 mc=6", "lacks kr="},
      {"rows mr=1 nr=8 lanes=8 mc=6 kr=4", "lacks nc="},
      {"tiled mr=6 nr=16 lanes=8 mr=6", "'mr=6' is unknown or repeated"},
      {"tiled mr=6 nr=16 lanes=8 unroll=2", "'unroll=2' is unknown or repeated"},
      {"tiled mr=6 nr=16 lanes", "'lanes' is unknown or repeated"},
      {"tiled mr= nr=16 lanes=8", "'mr='; allowed: a positive number"},
      {"tiled mr=0 nr=16 lanes=8", "'mr=0'; allowed: a positive number"},
      {"tiled mr=-6 nr=16 lanes=8", "'mr=-6'; allowed: a positive number"},
      {"tiled mr=6x nr=16 lanes=8", "'mr=6x'; allowed: a positive number"},
      {"tiled mr=2147483648 nr=16 lanes=8", "'mr=2147483648'; allowed: a positive number"},
      {"tiled mr=6=7 nr=16 lanes=8", "'mr=6=7'; allowed: a positive number"},
      {"tiled =6 nr=16 lanes=8", "'=6' is unknown or repeated"},
  };
  for (const auto& [line, message] : kRows) {
    const Expected<Schedule> schedule = parse_schedule(line);
    ASSERT_FALSE(schedule) << line;
    EXPECT_EQ(schedule.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(schedule.status().message().find(message), std::string::npos)
        << line << ": " << schedule.status().message();
  }
}

TEST(Schedule, TakesWhatFits) {
  const std::pair<std::string, std::string> kRows[] = {
      {"tiled mr=6 nr=16 lanes=8 mc=6", "x86-64-v3"},
      {"tiled mr=15 nr=8 lanes=8 mc=30", "x86-64-v3"},
      {"tiled mr=6 nr=16 lanes=8 mc=6 kc=1 pack=b", "x86-64-v3"},
      {"tiled mr=1 nr=2 lanes=2 mc=4096 pack=b", "x86-64-v2"},
      {"tiled mr=31 nr=16 lanes=16 mc=31", "x86-64-v4"},
      {"tiled mr=1 nr=4 lanes=2 mc=1", "x86-64-v4"},
      {"general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=64", "x86-64-v3"},
      {"general mr=6 nr=16 lanes=8 mc=6 nc=16 kc=1", "x86-64-v3"},
      {"general mr=6 nr=16 lanes=8 mc=6000 nc=16 kc=512 sums=y", "x86-64-v3"},
      {"dots mr=3 nr=5 lanes=8 mc=6 kr=1", "x86-64-v3"},
      {"rows mr=2 nr=16 lanes=8 mc=4096 nc=2048 kr=16", "x86-64-v3"},
  };
  for (const auto& [line, word] : kRows) {
    const Status status = validate(parsed(line), DType::kFloat32, target(word));
    EXPECT_TRUE(status.is_ok()) << status.message();
  }
}

// What does not fit, on x86-64-v3.
TEST(Schedule, ValidationRefuses) {
  struct Row {
    Schedule schedule;
    DType dtype;
    std::string message;
  };
  const Schedule tiled{.family = Family::kTiled, .mr = 6, .nr = 16, .lanes = 8, .mc = 96};
  const Schedule general{.family = Family::kGeneral, .mr = 6, .nr = 16, .lanes = 8, .mc = 72, .nc = 64, .kc = 64};
  Schedule in_y = general;
  in_y.sums_in_y = true;
  const Schedule dots{.family = Family::kDots, .mr = 3, .nr = 4, .lanes = 8, .mc = 96, .kr = 1};
  const Schedule rows{.family = Family::kRows, .mr = 2, .nr = 8, .lanes = 8, .mc = 4, .nc = 64, .kr = 4};
  const auto with = [](Schedule schedule, int Schedule::*field, int value) {
    schedule.*field = value;
    return schedule;
  };
  const Row kRows[] = {
      {with(tiled, &Schedule::lanes, 16), DType::kFloat32, "lanes 16; allowed: a power of two from 2 to 8"},
      {with(tiled, &Schedule::lanes, 1), DType::kFloat32, "lanes 1; allowed: a power of two"},
      {with(tiled, &Schedule::lanes, 3), DType::kFloat32, "lanes 3; allowed: a power of two"},
      {with(tiled, &Schedule::lanes, 0), DType::kFloat32, "lanes 0"},
      {with(tiled, &Schedule::lanes, -8), DType::kFloat32, "lanes -8"},
      {tiled, DType::kFloat64, "lanes 8; allowed: a power of two from 2 to 4"},
      {tiled, DType::kInt64, "lanes 8; allowed: a power of two from 2 to 4"},
      {with(tiled, &Schedule::lanes, 16), DType::kBFloat16, "from 2 to 8"},
      {with(tiled, &Schedule::nr, 12), DType::kFloat32, "nr 12; allowed: a multiple of lanes 8"},
      {with(tiled, &Schedule::nr, 4), DType::kFloat32, "nr 4; allowed: a multiple of lanes 8"},
      {with(tiled, &Schedule::nr, -8), DType::kFloat32, "nr -8"},
      {with(tiled, &Schedule::mr, 8), DType::kFloat32, "accumulators 16; allowed: 1 to 15"},
      {with(tiled, &Schedule::mr, 0), DType::kFloat32, "accumulators 0; allowed: 1 to 15"},
      {with(tiled, &Schedule::mr, -1), DType::kFloat32, "accumulators -2"},
      {with(with(tiled, &Schedule::mr, kMaxInt), &Schedule::nr, kMaxInt / 8 * 8), DType::kFloat32,
       "vectors in a row of the tile 268435455; allowed: up to 16"},
      {with(tiled, &Schedule::mc, 70), DType::kFloat32, "mc 70; allowed: a multiple of mr 6"},
      {with(tiled, &Schedule::mc, 0), DType::kFloat32, "mc 0; allowed: a multiple of mr 6"},
      {with(tiled, &Schedule::mc, 4098), DType::kFloat32, "mc 4098; allowed: up to 4096"},
      {with(dots, &Schedule::kr, 2), DType::kFloat32, "accumulators 24; allowed: 1 to 15"},
      {with(dots, &Schedule::nr, 17), DType::kFloat32, "vectors in a row of the tile 17; allowed: up to 16"},
      {with(rows, &Schedule::kr, 17), DType::kFloat32, "kr 17; allowed: up to 16"},
      {with(rows, &Schedule::nc, 2056), DType::kFloat32, "sums of bytes 16448; allowed: up to 16384"},
      {with(rows, &Schedule::nc, 20), DType::kFloat32, "nc 20; allowed: a multiple of nr 8"},
      {with(rows, &Schedule::mc, 4098), DType::kFloat32, "mc 4098; allowed: up to 4096"},
      {with(general, &Schedule::mc, 70), DType::kFloat32, "mc 70; allowed: a multiple of mr 6"},
      {with(general, &Schedule::mc, 0), DType::kFloat32, "mc 0"},
      {with(general, &Schedule::nc, 72), DType::kFloat32, "nc 72; allowed: a multiple of nr 16"},
      {with(general, &Schedule::nc, -16), DType::kFloat32, "nc -16"},
      {with(general, &Schedule::kc, 0), DType::kFloat32, "kc 0; allowed: 1 and more"},
      {with(general, &Schedule::kc, kMaxInt), DType::kFloat32,
       "a block of 2147483647; allowed: blocks that fit the stack"},
      {with(general, &Schedule::mc, kMaxInt / 6 * 6), DType::kFloat32, "a block of"},
      {with(general, &Schedule::kc, 4096), DType::kFloat32, "blocks of bytes"},
      {with(general, &Schedule::lent_nc, 128), DType::kFloat32, "lent_nc 128; allowed: only with sums=y"},
      {with(in_y, &Schedule::lent_nc, 64), DType::kFloat32, "lent_nc 64; allowed: a multiple of nr 16 above nc 64"},
      {with(in_y, &Schedule::lent_nc, 120), DType::kFloat32, "lent_nc 120; allowed: a multiple of nr 16"},
      {with(in_y, &Schedule::lent_nc, 16400), DType::kFloat32, "a lent block of bytes 4198400; allowed: up to 4194304"},
      {with(in_y, &Schedule::lent_nc, kMaxInt / 16 * 16), DType::kFloat32, "a lent block of bytes 549755809792"},
  };
  for (const Row& row : kRows) {
    const Status status = validate(row.schedule, row.dtype, target("x86-64-v3"));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << row.message;
    EXPECT_NE(status.message().find(row.message), std::string::npos)
        << status.message() << "\n  lacks: " << row.message;
    EXPECT_EQ(status.message().find("schedule '" + print_schedule(row.schedule) + "' has "), 0u) << status.message();
  }
}

// The general family's blocks lie on the caller's stack: what validate() takes is small, and it takes all up to there.
TEST(Schedule, MasksAreForOneVectorOfAnUnpackedB) {
  const std::string kLine = "tiled mr=8 nr=16 lanes=16 mc=96 mask=n";
  EXPECT_EQ(print_schedule(parsed(kLine)), kLine);
  EXPECT_TRUE(validate(parsed(kLine), DType::kFloat32, target("x86-64-v4")).is_ok());
  const std::tuple<std::string, std::string, std::string> kRows[] = {
      {"tiled mr=8 nr=8 lanes=8 mc=96 mask=n", "x86-64-v3", "mask=n for x86-64-v3; allowed: a CPU with AVX-512"},
      {"tiled mr=8 nr=32 lanes=16 mc=96 mask=n", "x86-64-v4", "mask=n and nr 32; allowed: lanes 16"},
      {"tiled mr=8 nr=16 lanes=16 mc=96 mask=n pack=b", "x86-64-v4", "mask=n beside pack=b; allowed: one of them"},
  };
  for (const auto& [line, word, expected] : kRows) {
    const std::string found = validate(parsed(line), DType::kFloat32, target(word)).message();
    EXPECT_NE(found.find(expected), std::string::npos) << line << ": " << found;
  }
}

TEST(Schedule, PairsAreForBFloat16OnATargetThatAddsThemUp) {
  const std::string kLine = "general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=64 pairs=k";
  const auto message = [](const std::string& line, DType dtype, std::string_view word) {
    return validate(parsed(line), dtype, target(word)).message();
  };
  EXPECT_EQ(message(kLine, DType::kBFloat16, "x86-64-v4+bf16"), "");
  const std::string kAllowed = "allowed: bfloat16, on a CPU with AVX512-BF16";
  EXPECT_NE(message(kLine, DType::kBFloat16, "x86-64-v4").find(kAllowed), std::string::npos);
  EXPECT_NE(message(kLine, DType::kFloat16, "x86-64-v4+bf16").find(kAllowed), std::string::npos);
  const std::pair<std::string, std::string> kRows[] = {
      {"general mr=6 nr=4 lanes=2 mc=72 nc=64 kc=64 pairs=k", "pairs=k and lanes 2; allowed: 4 and more"},
      {"general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=63 pairs=k", "pairs=k and kc 63; allowed: an even number"},
      {"general mr=6 nr=16 lanes=8 mc=72 nc=64 kc=64 pack=a", "pack=a alone; allowed: with pairs=k"},
  };
  for (const auto& [line, expected] : kRows) {
    const std::string found = message(line, DType::kBFloat16, "x86-64-v4+bf16");
    EXPECT_NE(found.find(expected), std::string::npos) << line << ": " << found;
  }
  // Blocks of pairs are half as large, and A's only there with pack=a.
  EXPECT_EQ(message("general mr=6 nr=16 lanes=8 mc=6 nc=64 kc=860 pairs=k", DType::kBFloat16, "x86-64-v4+bf16"), "");
  EXPECT_NE(message("general mr=6 nr=16 lanes=8 mc=60 nc=64 kc=800 pairs=k pack=a", DType::kBFloat16, "x86-64-v4+bf16")
                .find("blocks of bytes 213760"),
            std::string::npos);
}

TEST(Schedule, BlocksEndAtTheStackBudget) {
  constexpr int kBudgetBytes = 112 * 1024;
  // Types that are computed in a wider one have a converted block of A there too.
  for (const auto& [dtype, copies_a] : {std::pair(DType::kFloat32, false), std::pair(DType::kBFloat16, true)}) {
    const auto bytes = [&](const Schedule& s) { return 4 * (copies_a * s.mc * s.kc + s.kc * s.nc + s.mc * s.nc); };
    Schedule schedule{.family = Family::kGeneral, .mr = 1, .nr = 8, .lanes = 8, .mc = 64, .nc = 64, .kc = 1};
    while (bytes(schedule) <= kBudgetBytes) {
      ASSERT_TRUE(validate(schedule, dtype, target("x86-64-v3")).is_ok()) << print_schedule(schedule);
      ++schedule.kc;
    }
    EXPECT_FALSE(validate(schedule, dtype, target("x86-64-v3")).is_ok()) << print_schedule(schedule);
  }
}

}  // namespace
}  // namespace gemmc
