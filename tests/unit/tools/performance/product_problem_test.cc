#include "tools/performance/product_problem.h"

#include <gtest/gtest.h>

#include "core/problem_string.h"

namespace gemmc {
namespace {

Expected<Product> product_of_text(const std::string& text) {
  const auto problem = parse_problem(text);
  if (!problem) return problem.status();
  return product_of(*problem);
}

Product batched(Product product, int64_t batch, bool shares_a = false, bool shares_b = false) {
  product.batch = batch;
  product.shares_a = shares_a;
  product.shares_b = shares_b;
  return product;
}

TEST(ProductProblem, TakesWhatIsOneDenseProduct) {
  const std::pair<const char*, Product> cases[] = {
      {"gemm f32 m=2 n=3 k=4", {2, 3, 4}},
      {"gemm f32 m=2 n=3 k=4 ta tb", {2, 3, 4, true, true}},
      {"matmul f32 a=5x6x4 b=4x3", {30, 3, 4}},  // leading dimensions fold into M
      {"matmul f32 a=4 b=4x3", {1, 3, 4}},
      {"matmul f32 a=2x4 b=4", {2, 1, 4}},
      {"matmul f32 a=2x4 b=4x3 const=b", {2, 3, 4}},
      {"matmul f32 a=5x2x4 b=5x4x3", batched({2, 3, 4}, 5)},
      {"matmul f32 a=5x6x2x4 b=5x6x4x3", batched({2, 3, 4}, 30)},
      {"matmul f32 a=2x4 b=5x4x3", batched({2, 3, 4}, 5, true)},
      {"matmul f32 a=1x1x4 b=1x4x3", {1, 3, 4}},
  };
  for (const auto& [text, product] : cases) {
    const auto found = product_of_text(text);
    ASSERT_TRUE(found) << text << ": " << found.status().message();
    EXPECT_EQ(*found, product) << text << ": " << found->to_string();
  }
}

TEST(ProductProblem, RefusesByNameWhatIsNotTimed) {
  const std::pair<const char*, const char*> cases[] = {
      {"gemm f32 m=2 n=3 k=4 c=n", "C: "},
      {"gemm f32 m=2 n=3 k=4 alpha=0.5", "alpha=0.5: "},
      {"gemm f32 m=2 n=3 k=4 epi=relu", "the epilogue's step 'relu': "},
      {"gemm f32 m=2 n=3 k=4 order=k", "order=k: "},
      {"gemm f32 m=2 n=3 k=4 sa=8x1", "strides of A: "},
      {"gemm f32 m=2 n=3 k=4 sy=8x1", "strides of Y: "},
      {"gemm f32 m=2 n=3 k=4 storage=b:bf16", "B stored as bfloat16: "},
      {"matmul f32 a=* b=4x3", "A of unknown rank: "},
      {"gemm f32 m=?rows n=3 k=4", "unbound run-time dimensions: rows; allowed: none, bind each with --dim NAME=SIZE"},
      {"gemm f32 m=0 n=3 k=4", "0x3x4: nothing to time"},
      {"matmul f32 a=5x1x2x4 b=1x6x4x3", "batches that broadcast in several dimensions: "},
  };
  for (const auto& [text, message] : cases) {
    const auto found = product_of_text(text);
    ASSERT_FALSE(found) << text << ": " << found->to_string();
    EXPECT_TRUE(found.status().message().starts_with(message)) << text << ": " << found.status().message();
  }
}

TEST(ProductProblem, AProblemOfAProductIsThatProduct) {
  for (const Product& product : {Product{2, 3, 4, true, false}, batched({2, 3, 4}, 5), batched({2, 3, 4}, 5, true),
                                 batched({2, 3, 4}, 5, false, true)}) {
    const auto problem = problem_of(DType::kFloat32, product, Sizes::kStatic, false);
    ASSERT_TRUE(problem) << problem.status().message();
    const auto found = product_of(*problem);
    ASSERT_TRUE(found) << found.status().message();
    // One B for a whole batch is a taller A.
    EXPECT_EQ(*found, product.shares_b ? Product({10, 3, 4}) : product) << found->to_string();
  }
}

TEST(ProductProblem, ProblemsAreWrittenAsUsersWould) {
  const auto text = [](const Product& product, Sizes sizes, bool has_constant_b) {
    const auto problem = problem_of(DType::kFloat64, product, sizes, has_constant_b);
    return problem ? print_problem(*problem) : problem.status().message();
  };
  EXPECT_EQ(text({2, 3, 4, false, true}, Sizes::kStatic, true), "gemm f64 m=2 n=3 k=4 tb const=b");
  EXPECT_EQ(text({2, 3, 4, true, false}, Sizes::kRuntime, false), "gemm f64 m=? n=? k=? ta");
  EXPECT_EQ(text(batched({2, 3, 4}, 5), Sizes::kRuntime, false), "matmul f64 a=?batchx?mx?k b=?batchx?kx?n");
  EXPECT_EQ(text(batched({2, 3, 4, false, true}, 5), Sizes::kStatic, false), "matmul f64 a=5x2x4 b=5x4x3 sb=12x1x4");
  EXPECT_NE(text(batched({2, 3, 4, true, false}, 5), Sizes::kRuntime, false).find("not built yet"), std::string::npos);
}

}  // namespace
}  // namespace gemmc
