#include "core/dim_names.h"

#include <gtest/gtest.h>

#include "core/problem_string.h"

namespace gemmc {
namespace {

Problem matmul(const Shape& a, const Shape& b) {
  Problem problem;
  problem.op = Operator::kMatMul;
  problem.a.shape = a;
  problem.b.shape = b;
  return problem;
}

Dim hinted(const std::string& name, int64_t min, int64_t max) {
  Dim dim = Dim::runtime(name);
  dim.min = min;
  dim.max = max;
  return dim;
}

TEST(DimNames, UnifyTakesTheStaticOneOrTheFirst) {
  const Dim m = Dim::runtime("m"), k = Dim::runtime("k"), j = Dim::runtime("j");
  Problem p = matmul({m, k}, {j, m});
  unify_dims(p, k, j);
  EXPECT_EQ(print_problem(p), "matmul f32 a=?mx?k b=?kx?m");
  unify_dims(p, m, Dim::fixed(7));
  EXPECT_EQ(print_problem(p), "matmul f32 a=7x?k b=?kx7");
  unify_dims(p, Dim::fixed(5), k);
  EXPECT_EQ(print_problem(p), "matmul f32 a=7x5 b=5x7");
  unify_dims(p, Dim::fixed(5), Dim::fixed(7));
  EXPECT_EQ(print_problem(p), "matmul f32 a=7x5 b=5x7") << "sizes that differ are left to validate()";
}

TEST(DimNames, FreshNamesAreNotTaken) {
  Problem p = matmul({Dim::runtime("m"), Dim::runtime("k")}, {Dim::runtime("k"), Dim::runtime("m_")});
  EXPECT_EQ(fresh_dim_name(p, "n"), "n");
  EXPECT_EQ(fresh_dim_name(p, "m"), "m__");
  p.c.emplace();
  p.c->shape = {Dim::runtime("n")};
  EXPECT_EQ(fresh_dim_name(p, "n"), "n_");
}

TEST(DimNames, HintsHoldWhereverTheNameStands) {
  const Dim k = Dim::runtime("k");
  Problem p = matmul({Dim::runtime("s"), k}, {k, hinted("s", 1, 9)});
  EXPECT_FALSE(check_hints(p).is_ok());
  ASSERT_TRUE(share_hints(p).is_ok());
  EXPECT_EQ(p.a.shape[0], hinted("s", 1, 9));
  EXPECT_TRUE(check_hints(p).is_ok());
  p.a.shape[0] = hinted("s", 1, 8);
  const Status conflict = share_hints(p);
  EXPECT_NE(conflict.message().find("dimension 's' has two different ranges"), std::string::npos);
  EXPECT_FALSE(validate(p).is_ok());
}

TEST(DimNames, StaticDimensionsHaveNoHints) {
  Dim two = Dim::fixed(2);
  two.likely = {2};
  EXPECT_FALSE(check_hints(matmul({two, Dim::fixed(3)}, {Dim::fixed(3), Dim::fixed(4)})).is_ok());
}

}  // namespace
}  // namespace gemmc
