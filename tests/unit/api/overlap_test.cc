#include "api/overlap.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/problem_string.h"

namespace gemmc {
namespace {

constexpr int64_t kFloat = sizeof(float);

// Places in one buffer, in elements.
struct Places {
  int64_t a, b, c, y;
  std::vector<int64_t> epilogue = {};
  int64_t scratch = 0;
  uint64_t scratch_bytes = 0;
};

// The refusal, or "" where the call passes.
std::string refusal(const std::string& text, const Places& places, std::vector<int64_t> dims = {},
                    std::vector<int64_t> strides = {}) {
  const Expected<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << problem.status().message();
  const LoopForm form = loop_form(canonical(*problem).problem);
  const Expected<ResolvedLoops> loops = resolve(form, dims, strides);
  EXPECT_TRUE(loops) << loops.status().message();
  static float buffer[1 << 16];
  std::vector<const void*> epilogue;
  for (const int64_t place : places.epilogue) epilogue.push_back(buffer + place);
  gemmc_call call = {};
  call.a = buffer + places.a;
  call.b = buffer + places.b;
  call.c = buffer + places.c;
  call.y = buffer + places.y;
  call.epilogue = epilogue.data();
  if (places.scratch_bytes > 0) call.scratch = buffer + places.scratch;
  call.scratch_bytes = places.scratch_bytes;
  return std::string(check_buffers(form, *loops, call, {kFloat, kFloat}).message());
}

TEST(Overlap, BuffersOfTheirOwnPass) {
  // A is 0..5, B 6..17, C 18..25, Y 26..33.
  EXPECT_EQ(refusal("gemm f32 m=2 n=4 k=3 c=mn", {0, 6, 18, 26}), "");
  EXPECT_EQ(refusal("gemm f32 m=2 n=4 k=3 c=mn", {0, 0, 0, 26}), "") << "operands may overlap";
  EXPECT_EQ(refusal("gemm f32 m=?m n=?n k=?k", {8, 8, 0, 0}, {2, 4, 3}), "") << "Y ends where A begins";
}

TEST(Overlap, OfAAndBAreRefused) {
  const std::string problem = "gemm f32 m=2 n=4 k=3";
  EXPECT_EQ(refusal(problem, {0, 100, 0, 0}), "Y overlaps A; allowed: buffers of their own");
  EXPECT_EQ(refusal(problem, {7, 100, 0, 0}), "Y overlaps A; allowed: buffers of their own") << "Y's last element";
  EXPECT_EQ(refusal(problem, {0, 100, 0, 5}), "Y overlaps A; allowed: buffers of their own") << "A's last element";
  EXPECT_EQ(refusal(problem, {100, 0, 0, 11}), "Y overlaps B; allowed: buffers of their own");
  EXPECT_EQ(refusal(problem, {100, 0, 0, 12}), "");
}

TEST(Overlap, OfCIsForTheSameElementsOnly) {
  const std::string problem = "gemm f32 m=2 n=4 k=3 c=mn";
  EXPECT_EQ(refusal(problem, {100, 200, 0, 0}), "") << "in place";
  EXPECT_NE(refusal(problem, {100, 200, 1, 0}).find("Y overlaps C; allowed: buffers of their own, or of an operand"),
            std::string::npos);
  EXPECT_NE(refusal("gemm f32 m=2 n=4 k=3 c=n", {100, 200, 0, 0}), "") << "a row of Y that is added to every row";
  EXPECT_EQ(refusal("gemm f32 m=1 n=4 k=3 c=mn", {100, 200, 0, 0}), "") << "one row is the same";
  EXPECT_NE(refusal("gemm f32 m=2 n=4 k=3 c=mn sc=8x1", {100, 200, 0, 0}), "") << "another layout";
}

TEST(Overlap, OfTheEpilogueToo) {
  const std::string problem = "gemm f32 m=2 n=4 k=3 epi=bias:n,residual";
  EXPECT_EQ(refusal(problem, {100, 200, 0, 0, {300, 0}}), "") << "in place";
  EXPECT_NE(refusal(problem, {100, 200, 0, 0, {300, 4}}).find("Y overlaps operand e1 of the epilogue"),
            std::string::npos);
  EXPECT_NE(refusal(problem, {100, 200, 0, 0, {0, 300}}).find("Y overlaps operand e0"), std::string::npos);
}

TEST(Overlap, OfScratchMemoryIsRefused) {
  // A is 100..105, B 200..211, C 300..307, e0 400..407, Y 500..507.
  const std::string problem = "gemm f32 m=2 n=4 k=3 c=mn epi=residual";
  const auto with_scratch = [&](int64_t first, int64_t floats) {
    Places places{100, 200, 300, 500, {400}};
    places.scratch = first;
    places.scratch_bytes = static_cast<uint64_t>(floats) * sizeof(float);
    return refusal(problem, places);
  };
  EXPECT_EQ(with_scratch(108, 90), "") << "between A and B";
  EXPECT_EQ(with_scratch(0, 101), "scratch overlaps A; allowed: memory of its own");
  EXPECT_EQ(with_scratch(202, 4), "scratch overlaps B; allowed: memory of its own") << "inside";
  EXPECT_EQ(with_scratch(307, 1), "scratch overlaps C; allowed: memory of its own");
  EXPECT_EQ(with_scratch(380, 40), "scratch overlaps operand e0 of the epilogue; allowed: memory of its own");
  EXPECT_EQ(with_scratch(0, 2000), "scratch overlaps Y; allowed: memory of its own");
}

TEST(Overlap, OperandsWithElementsAreNotNull) {
  const auto without = [](void (*drop)(gemmc_call & call), std::vector<int64_t> dims) {
    const LoopForm form = loop_form(canonical(*parse_problem("gemm f32 m=?m n=4 k=?k c=mn epi=bias:n")).problem);
    float buffer[200] = {};
    const void* epilogue[] = {buffer};
    gemmc_call call = {};
    call.a = call.b = call.c = buffer;
    call.y = buffer + 100;
    call.epilogue = epilogue;
    drop(call);
    return std::string(check_buffers(form, *resolve(form, dims, {}), call, {kFloat, kFloat}).message());
  };
  const auto allowed = [](const std::string& operand) {
    return operand + " is NULL; allowed: the address of its elements";
  };
  EXPECT_EQ(without([](gemmc_call&) {}, {2, 3}), "");
  EXPECT_EQ(without([](gemmc_call& call) { call.a = nullptr; }, {2, 3}), allowed("a"));
  EXPECT_EQ(without([](gemmc_call& call) { call.b = nullptr; }, {2, 3}), allowed("b"));
  EXPECT_EQ(without([](gemmc_call& call) { call.c = nullptr; }, {2, 3}), allowed("c"));
  EXPECT_EQ(without([](gemmc_call& call) { call.y = nullptr; }, {2, 3}), allowed("y"));
  static const void* const none[] = {nullptr};
  EXPECT_EQ(without([](gemmc_call& call) { call.epilogue = none; }, {2, 3}), allowed("epilogue[0]"));
  EXPECT_EQ(without([](gemmc_call& call) { call.a = call.b = nullptr; }, {2, 0}), "") << "K = 0";
  EXPECT_EQ(without([](gemmc_call& call) { call = {}; }, {0, 3}), "") << "an empty Y";
}

TEST(Overlap, ViewsBetweenEachOthersRowsPass) {
  // Rows of 16: A has columns 0..2, Y columns 3..6.
  EXPECT_EQ(refusal("gemm f32 m=2 n=4 k=3 sa=16x1 sy=16x1", {0, 100, 0, 3}), "");
  EXPECT_NE(refusal("gemm f32 m=2 n=4 k=3 sa=16x1 sy=16x1", {0, 100, 0, 2}), "");
  EXPECT_EQ(refusal("gemm f32 m=2 n=4 k=3 sa=?x1 sy=?x1", {0, 100, 0, 3}, {}, {16, 16}), "");
  EXPECT_EQ(refusal("gemm f32 m=2 n=4 k=3 sy=-4x1", {100, 200, 0, 4}), "") << "Y's rows run backwards: 0..7";
  EXPECT_NE(refusal("gemm f32 m=2 n=4 k=3 sy=-4x1", {0, 200, 0, 4}), "");
}

TEST(Overlap, BatchesAndEmptyOperands) {
  const std::string problem = "matmul f32 a=?bx2x3 b=?bx3x4";
  EXPECT_EQ(refusal(problem, {0, 1000, 0, 2000}, {5}), "");
  EXPECT_NE(refusal(problem, {39, 1000, 0, 0}, {5}), "") << "A begins at Y's last element";
  EXPECT_EQ(refusal(problem, {40, 1000, 0, 0}, {5}), "");
  EXPECT_EQ(refusal(problem, {0, 0, 0, 0}, {0}), "") << "nothing is written";
  EXPECT_EQ(refusal("gemm f32 m=2 n=4 k=?k", {0, 0, 0, 0}, {0}), "") << "nothing is read";
}

TEST(Overlap, ABroadcastOperandIsNotYEvenWhereMIsOne) {
  EXPECT_EQ(refusal("gemm f32 m=1 n=4 k=3 c=n", {100, 200, 0, 0}), "");
  EXPECT_EQ(refusal("gemm f32 m=?m n=4 k=3 c=n", {100, 200, 0, 0}, {1}),
            "Y overlaps C; allowed: buffers of their own, or of an operand with Y's shape the same elements");
  EXPECT_NE(refusal("gemm f32 m=?m n=4 k=3 epi=bias:n", {100, 200, 50, 0, {0}}, {1}).find("Y overlaps operand e0"),
            std::string::npos);
}

}  // namespace
}  // namespace gemmc
