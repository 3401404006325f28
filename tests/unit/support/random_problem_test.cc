#include "tests/support/random_problem.h"

#include <gtest/gtest.h>

#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "schedules/variants.h"
#include "tests/support/instance.h"

namespace gemmc::testing {
namespace {

TEST(RandomProblem, IsValidAndItsTextRepeatsIt) {
  Random random(11);
  int in_place = 0, several_calls = 0, rows_at_the_call = 0, variants = 0;
  for (int i = 0; i < 3000; ++i) {
    const DType dtype = kAllDTypes[i % 8];
    const Problem problem = random_problem(dtype, i % 3 == 0 ? DimKind::kSomeRuntime : DimKind::kAllRuntime, random);
    ASSERT_TRUE(validate(problem).is_ok()) << validate(problem).message() << "\n" << print_problem(problem);
    const ArrayShapes shapes = random_shapes(problem, random);
    const Instance instance = make_instance(problem, shapes, static_cast<uint64_t>(i));
    in_place += instance.in_place_operand() != nullptr;
    several_calls += !instance.outer.empty();
    const CanonicalProblem made = canonical(problem);
    const Target target = *parse_target("x86-64-v3");
    const auto chosen = choose_variants(made, *choose_schedule(made.problem, target), target);
    ASSERT_TRUE(chosen) << chosen.status().message();
    variants += !chosen->empty();

    // What a failure prints makes the same instance again.
    const Expected<Problem> parsed = parse_problem(print_problem(problem));
    ASSERT_TRUE(parsed) << parsed.status().message();
    const std::optional<ArrayShapes> parsed_shapes = parse_shapes(print_shapes(shapes));
    ASSERT_TRUE(parsed_shapes);
    const Instance again = make_instance(*parsed, *parsed_shapes, static_cast<uint64_t>(i));
    EXPECT_EQ(again.a.values, instance.a.values);
    EXPECT_EQ(again.a.strides, instance.a.strides);
    EXPECT_EQ(again.call_dims, instance.call_dims);
    EXPECT_EQ(again.call_strides, instance.call_strides);

    const Problem fixed = static_problem(problem, shapes, static_cast<uint64_t>(i));
    EXPECT_TRUE(validate(fixed).is_ok()) << validate(fixed).message() << "\n" << print_problem(fixed);
    EXPECT_TRUE(canonical(fixed).dim_names.empty()) << print_problem(fixed);
    const std::optional<Problem> with_rows = runtime_rows_problem(fixed);
    if (!with_rows) continue;
    ++rows_at_the_call;
    EXPECT_TRUE(validate(*with_rows).is_ok()) << validate(*with_rows).message() << "\n" << print_problem(*with_rows);
    EXPECT_EQ(canonical(*with_rows).dim_names, std::vector<std::string>{"rows"}) << print_problem(*with_rows);
  }
  EXPECT_GT(in_place, 30);
  EXPECT_GT(several_calls, 3);
  EXPECT_GT(rows_at_the_call, 500);
  EXPECT_GT(variants, 200);
}

}  // namespace
}  // namespace gemmc::testing
