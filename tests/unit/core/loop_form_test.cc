#include "core/loop_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/problem_string.h"
#include "core/resolved_loops.h"

namespace gemmc {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

LoopForm form_of(const std::string& text) {
  Expected<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.status().message();
  return problem ? loop_form(canonical(*problem).problem) : LoopForm{};
}

// "12", "d0*d1", "3*d0": a number and arguments of the call.
std::string text(const SizeExpr& size) {
  std::vector<std::string> factors;
  if (size.factor != 1 || size.dims.empty()) factors.push_back(std::to_string(size.factor));
  for (int dim : size.dims) factors.push_back("d" + std::to_string(dim));
  return fmt::format("{}", fmt::join(factors, "*"));
}
// A size, or "s0": a stride of the call.
std::string text(const StrideExpr& stride) {
  return stride.is_runtime() ? "s" + std::to_string(stride.runtime_index) : text(stride.size);
}
std::string text(const MatrixStrides& strides) { return text(strides.row) + " " + text(strides.col); }

std::string text(const LoopForm& form) {
  std::string result;
  for (size_t i = 0; i < form.batch.size(); ++i) {
    const BatchAxis& axis = form.batch[i];
    result += fmt::format("batch a {}@{} b {}@{} y {}; ", text(axis.a_extent), text(axis.a), text(axis.b_extent),
                          text(axis.b), form.y_batch.empty() ? "dense" : text(form.y_batch[i]));
  }
  result += fmt::format("{}x{}x{}: a {}, b {}", text(form.m), text(form.n), text(form.k), text(form.a), text(form.b));
  if (form.has_c) result += ", c " + text(form.c);
  result += ", y " + text(form.y);
  if (form.dim_count + form.stride_count > 0)
    result += fmt::format(" ({} dims, {} strides)", form.dim_count, form.stride_count);
  return result;
}

// M x N x K, then the strides of a row and of a column of each operand.
TEST(LoopForm, SizesAndStrides) {
  const std::pair<std::string, std::string> kRows[] = {
      // Gemm: transposition exchanges the strides
      {"gemm f32 m=2 n=3 k=4", "2x3x4: a 4 1, b 3 1, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 ta", "2x3x4: a 1 2, b 3 1, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 tb", "2x3x4: a 4 1, b 1 4, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 ta tb", "2x3x4: a 1 2, b 1 4, y 3 1"},
      {"gemm f32 m=?m n=?n k=?k", "d0xd2xd1: a d1 1, b d2 1, y d2 1 (3 dims, 0 strides)"},
      {"gemm f32 m=?m n=?n k=?k ta tb", "d1xd2xd0: a 1 d1, b 1 d0, y d2 1 (3 dims, 0 strides)"},
      {"gemm f32 m=2 n=3 k=0", "2x3x0: a 0 1, b 3 1, y 3 1"},
      // C: a broadcast direction has stride 0
      {"gemm f32 m=2 n=3 k=4 c=s", "2x3x4: a 4 1, b 3 1, c 0 0, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 c=n", "2x3x4: a 4 1, b 3 1, c 0 1, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 c=1n", "2x3x4: a 4 1, b 3 1, c 0 1, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 c=m1", "2x3x4: a 4 1, b 3 1, c 1 0, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 c=mn", "2x3x4: a 4 1, b 3 1, c 3 1, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 c=*", "2x3x4: a 4 1, b 3 1, c s0 s1, y 3 1 (0 dims, 2 strides)"},
      {"gemm f32 m=2 n=3 k=4 c=1n sc=9x2", "2x3x4: a 4 1, b 3 1, c 0 2, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 c=m1 sc=9x2", "2x3x4: a 4 1, b 3 1, c 9 0, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 c=n sc=-2", "2x3x4: a 4 1, b 3 1, c 0 -2, y 3 1"},
      // strides: numbers, the call's, dense beside given
      {"gemm f32 m=2 n=3 k=4 sa=-8x2", "2x3x4: a -8 2, b 3 1, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 ta sa=-8x2", "2x3x4: a 2 -8, b 3 1, y 3 1"},
      {"gemm f32 m=2 n=3 k=4 c=mn sa=?x1 sb=1x? sc=?x? sy=?x1",
       "2x3x4: a s0 1, b 1 s1, c s2 s3, y s4 1 (0 dims, 5 strides)"},
      {"gemm f32 m=2 n=3 k=4 ta sa=?x?", "2x3x4: a s1 s0, b 3 1, y 3 1 (0 dims, 2 strides)"},
      {"gemm f32 m=2 n=?n k=4 sb=-x2", "2xd0x4: a 4 1, b d0 2, y d0 1 (1 dims, 0 strides)"},
      {"gemm f32 m=2 n=3 k=4 c=1n sc=?x1", "2x3x4: a 4 1, b 3 1, c 0 1, y 3 1 (0 dims, 1 strides)"},
      // MatMul: vectors, and batches of A alone as rows
      {"matmul f32 a=4 b=4", "1x1x4: a 4 1, b 1 1, y 1 1"},
      {"matmul f32 a=4 b=4 sa=3", "1x1x4: a 0 3, b 1 1, y 1 1"},
      {"matmul f32 a=2x3x5x4 b=4x6", "30x6x4: a 4 1, b 6 1, y 6 1"},
      {"matmul f32 a=?bx?sx4 b=4x6", "d0*d1x6x4: a 4 1, b 6 1, y 6 1 (2 dims, 0 strides)"},
      {"matmul f32 a=2x?bx3x?sx?k b=?kx6", "6*d0*d1x6xd2: a d2 1, b 6 1, y 6 1 (3 dims, 0 strides)"},
      {"matmul f32 a=* b=4x6", "d0x6x4: a 4 1, b 6 1, y 6 1 (1 dims, 0 strides)"},
      // batches
      {"matmul f32 a=7x2x4 b=7x4x3", "batch a 7@8 b 7@12 y dense; 2x3x4: a 4 1, b 3 1, y 3 1"},
      {"matmul f32 a=2x4 b=7x4x3", "batch a 1@0 b 7@12 y dense; 2x3x4: a 4 1, b 3 1, y 3 1"},
      {"matmul f32 a=5x1x2x4 b=7x4x3",
       "batch a 5@8 b 1@0 y dense; batch a 1@8 b 7@12 y dense; 2x3x4: a 4 1, b 3 1, y 3 1"},
      {"matmul f32 a=?bx2x?k b=?cx?kx3",
       "batch a d0@2*d1 b d2@3*d1 y dense; 2x3xd1: a d1 1, b 3 1, y 3 1 (3 dims, 0 strides)"},
      {"matmul f32 a=7x2x4 b=7x4x3 sa=?x4x1 sy=?x-x1",
       "batch a 7@s0 b 7@12 y s1; 2x3x4: a 4 1, b 3 1, y 3 1 (0 dims, 2 strides)"},
      {"matmul f32 a=7x2x4 b=4x3 sy=99x3x1", "batch a 7@8 b 1@0 y 99; 2x3x4: a 4 1, b 3 1, y 3 1"},
      {"matmul f32 a=7x2x4 b=4x3 sy=-x1x2", "batch a 7@8 b 1@0 y dense; 2x3x4: a 4 1, b 3 1, y 1 2"},
      {"matmul f32 a=7x2x4 b=4x3 sa=-x-x2", "batch a 7@8 b 1@0 y dense; 2x3x4: a 4 2, b 3 1, y 3 1"},
      {"matmul f32 a=3x4 b=*", "batch a 1@0 b d0@4*d1 y dense; 3xd1x4: a 4 1, b d1 1, y d1 1 (2 dims, 0 strides)"},
      {"matmul f32 a=* b=*", "batch a d0@s0 b d0@s1 y dense; d1xd3xd2: a d2 1, b d3 1, y d3 1 (4 dims, 2 strides)"},
  };
  for (const auto& [problem, expected] : kRows) EXPECT_EQ(text(form_of(problem)), expected) << problem;
}

TEST(LoopForm, StaticValues) {
  const LoopForm form = form_of("gemm f32 m=?m n=3 k=4 sa=?x1");
  EXPECT_EQ(form.m.static_value(), std::nullopt);
  EXPECT_EQ(form.n.static_value(), 3);
  EXPECT_EQ(form.a.row.static_value(), std::nullopt);
  EXPECT_EQ(form.a.col.static_value(), 1);
  EXPECT_EQ((SizeExpr{0, {0}}).static_value(), 0) << "nothing times anything";
  EXPECT_EQ(SizeExpr::fixed(kMax) * SizeExpr::fixed(2), SizeExpr::fixed(kMax));
  EXPECT_EQ((SizeExpr{2, {1}} * SizeExpr{3, {0, 1}}), (SizeExpr{6, {1, 0, 1}}));
  EXPECT_EQ((SizeExpr{2, {1}} * SizeExpr::fixed(0)), SizeExpr::fixed(0));
}

ResolvedLoops resolved(const std::string& problem, const std::vector<int64_t>& dims,
                       const std::vector<int64_t>& strides = {}) {
  const LoopForm form = form_of(problem);
  EXPECT_EQ(form.dim_count, static_cast<int>(dims.size())) << problem;
  EXPECT_EQ(form.stride_count, static_cast<int>(strides.size())) << problem;
  Expected<ResolvedLoops> loops = resolve(form, dims, strides);
  EXPECT_TRUE(loops) << problem << ": " << loops.status().message();
  return loops ? *loops : ResolvedLoops{};
}

std::string text(const ResolvedLoops& loops) {
  std::string result;
  for (const ResolvedLoops::Axis& axis : loops.batch) {
    result += fmt::format("batch {}: a {} b {} y {}; ", axis.extent, axis.a, axis.b, axis.y);
  }
  return result + fmt::format("{}x{}x{}: a {} {}, b {} {}, c {} {}, y {} {}", loops.m, loops.n, loops.k, loops.a_row,
                              loops.a_col, loops.b_row, loops.b_col, loops.c_row, loops.c_col, loops.y_row,
                              loops.y_col);
}

TEST(LoopForm, ResolvesToNumbers) {
  EXPECT_EQ(text(resolved("gemm f32 m=?m n=?n k=?k c=mn ta", {5, 2, 3})), "2x3x5: a 1 2, b 3 1, c 3 1, y 3 1");
  EXPECT_EQ(text(resolved("gemm f32 m=2 n=3 k=4 c=* sa=?x?", {}, {-9, 2, 0, 7})), "2x3x4: a -9 2, b 3 1, c 0 7, y 3 1");
  EXPECT_EQ(text(resolved("matmul f32 a=2x?bx3x?sx?k b=?kx6", {5, 7, 4})), "210x6x4: a 4 1, b 6 1, c 0 0, y 6 1");
  const std::string two_batches = "matmul f32 a=?ax?bx2x4 b=?cx?dx4x3";
  EXPECT_EQ(text(resolved(two_batches, {5, 6, 5, 6})),
            "batch 5: a 48 b 72 y 36; batch 6: a 8 b 12 y 6; 2x3x4: a 4 1, b 3 1, c 0 0, y 3 1");
  EXPECT_EQ(text(resolved(two_batches, {1, 6, 5, 1})),
            "batch 5: a 0 b 12 y 36; batch 6: a 8 b 0 y 6; 2x3x4: a 4 1, b 3 1, c 0 0, y 3 1");
  EXPECT_EQ(text(resolved(two_batches, {0, 1, 1, 1})),
            "batch 0: a 8 b 0 y 6; batch 1: a 0 b 0 y 6; 2x3x4: a 4 1, b 3 1, c 0 0, y 3 1");
  EXPECT_EQ(text(resolved("matmul f32 a=?bx2x4 b=7x4x3 sy=?x3x1", {1}, {50})),
            "batch 7: a 0 b 12 y 50; 2x3x4: a 4 1, b 3 1, c 0 0, y 3 1");
}

TEST(LoopForm, ResolveRefusesWhatNoCallMaySay) {
  const auto refusal = [](const std::string& problem, const std::vector<int64_t>& dims) {
    const Expected<ResolvedLoops> loops = resolve(form_of(problem), dims, {});
    EXPECT_FALSE(loops) << problem;
    EXPECT_EQ(loops.status().code(), StatusCode::kInvalidArgument);
    return loops.status().message();
  };
  EXPECT_EQ(refusal("gemm f32 m=?m n=?n k=4", {3, -1}), "a run-time dimension is -1; allowed: 0 and more");
  EXPECT_EQ(refusal("matmul f32 a=?ax2x4 b=?bx4x3", {2, 3}),
            "batch dimension mismatch: 2 in A, 3 in B; allowed: equal, or one of them 1");
  EXPECT_EQ(refusal("matmul f32 a=?ax2x4 b=?bx4x3", {0, 2}),
            "batch dimension mismatch: 0 in A, 2 in B; allowed: equal, or one of them 1");
}

TEST(LoopForm, HugeSizesSaturate) {
  const ResolvedLoops rows = resolved("matmul f32 a=?ax?bx?c b=?cx0", {kMax, kMax, 0});
  EXPECT_EQ(rows.m, kMax);
  EXPECT_EQ(rows.k, 0);
  EXPECT_EQ(resolved("matmul f32 a=?ax?bx?cx4 b=4x3", {kMax, kMax, 0}).m, 0) << "a size of 0 makes the whole 0";
  const ResolvedLoops batches = resolved("matmul f32 a=?ax?bx?mx4 b=?ax?bx4x?n", {kMax, kMax, 0, 0});
  EXPECT_EQ(batches.batch[0].extent, kMax);
  EXPECT_EQ(batches.batch[0].y, 0);
  EXPECT_EQ(form_of("matmul f32 a=9223372036854775807x9223372036854775807x0x4 b=4x0").m, SizeExpr::fixed(0));
}

TEST(LoopForm, OnlyAnOperandWithYsShapeMayBeY) {
  const std::pair<const char*, bool> kC[] = {
      {"gemm f32 m=?m n=?n k=2 c=mn", true}, {"gemm f32 m=?m n=?n k=2 c=*", true}, {"gemm f32 m=?m n=4 k=2 c=n", false},
      {"gemm f32 m=?m n=4 k=2 c=1n", false}, {"gemm f32 m=1 n=4 k=2 c=n", true},   {"gemm f32 m=3 n=1 k=2 c=m1", true},
      {"gemm f32 m=3 n=?n k=2 c=m1", false}, {"gemm f32 m=1 n=1 k=2 c=s", true},   {"gemm f32 m=1 n=1 k=21 c=11", true},
  };
  for (const auto& [problem, is_allowed] : kC) {
    const LoopForm form = form_of(problem);
    EXPECT_EQ(may_be_y(form, {form.c, false}), is_allowed) << problem;
  }
  const std::pair<const char*, bool> kEpilogue[] = {
      {"gemm f32 m=?m n=4 k=2 epi=residual", true},        {"gemm f32 m=?m n=4 k=2 epi=bias:n", false},
      {"gemm f32 m=1 n=4 k=2 epi=bias:n", true},           {"matmul f32 a=?bx1x2 b=?bx2x4 epi=bias:n", false},
      {"matmul f32 a=?bx3x2 b=?bx2x4 epi=residual", true},
  };
  for (const auto& [problem, is_allowed] : kEpilogue) {
    const LoopForm form = form_of(problem);
    EXPECT_EQ(may_be_y(form, form.epilogue.at(0)), is_allowed) << problem;
  }
}

}  // namespace
}  // namespace gemmc
