#include "api/session.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <limits>
#include <thread>

#include "core/problem_string.h"
#include "tests/support/kernel_call.h"

namespace gemmc {
namespace {

Problem problem(const std::string& text) {
  Expected<Problem> parsed = parse_problem(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.status().message();
  return parsed ? *parsed : Problem{};
}

std::shared_ptr<const Kernel> kernel(Session& session, const std::string& text, const CompileOptions& options = {}) {
  Expected<Session::Result> result = session.kernel(problem(text), options);
  EXPECT_TRUE(result) << text << ": " << result.status().message();
  return result ? result->kernel : nullptr;
}

TEST(Session, CompilesEachKernelOnce) {
  Session session(*host_target());
  EXPECT_EQ(session.compiled_count(), 0u);
  const auto first = kernel(session, "gemm f32 m=2 n=3 k=4 c=n");
  EXPECT_EQ(kernel(session, "gemm f32 m=2 n=3 k=4 c=n"), first);
  EXPECT_EQ(kernel(session, "gemm f32 m=2 n=3 k=4 c=1n const=a,c"), first) << "the same computation";
  EXPECT_EQ(session.compiled_count(), 1u);
  EXPECT_NE(kernel(session, "gemm f32 m=2 n=3 k=4"), first);
  EXPECT_EQ(session.compiled_count(), 2u);
}

TEST(Session, SixteenThreadsCompileOnce) {
  Session session(*host_target());
  std::vector<std::shared_ptr<const Kernel>> kernels(16);
  {
    std::vector<std::jthread> threads;
    for (auto& place : kernels) threads.emplace_back([&] { place = kernel(session, "gemm f32 m=5 n=6 k=7"); });
  }
  EXPECT_EQ(session.compiled_count(), 1u);
  for (const auto& k : kernels) {
    ASSERT_NE(k, nullptr);
    EXPECT_EQ(k, kernels[0]);
  }
}

TEST(Session, NamesAndSchedulesMakeOtherKernels) {
  Session session(*host_target());
  const std::string text = "gemm f32 m=2 n=3 k=4";
  CompileOptions named, other_name, scheduled;
  named.symbol = "one";
  other_name.symbol = "two";
  scheduled.schedule = *parse_schedule("tiled mr=2 nr=4 lanes=4 mc=2");
  EXPECT_EQ(kernel(session, text, named)->artifact().symbol, "one");
  EXPECT_EQ(kernel(session, text, other_name)->artifact().symbol, "two");
  EXPECT_EQ(kernel(session, text, scheduled)->artifact().schedule, "tiled mr=2 nr=4 lanes=4 mc=2");
  EXPECT_EQ(kernel(session, text, named)->artifact().symbol, "one");
  EXPECT_EQ(session.compiled_count(), 3u);
}

// Requests of one kernel may call its dimensions differently.
TEST(Session, GivesEachRequestItsOwnNames) {
  Session session(*host_target());
  const auto names = [&](const std::string& text) { return session.kernel(problem(text))->dim_names; };
  EXPECT_EQ(names("gemm f32 m=?rows n=?cols k=4"), (std::vector<std::string>{"rows", "cols"}));
  EXPECT_EQ(names("gemm f32 m=?batch n=?out k=4"), (std::vector<std::string>{"batch", "out"}));
  EXPECT_EQ(session.compiled_count(), 1u);
}

// The compiler refuses to work where files may have fewer bytes than its bitcode needs.
TEST(Session, FailuresAreForgotten) {
  Session session(*host_target());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const Expected<Session::Result> failed = session.kernel(problem("gemm f32 m=2 n=3 k=4"));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);  // before anything is printed, which may be to a file
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.status().code(), StatusCode::kEnvironment) << failed.status().message();
  EXPECT_EQ(session.compiled_count(), 1u) << "the failure did not come from compiling";
  EXPECT_NE(kernel(session, "gemm f32 m=2 n=3 k=4"), nullptr);
  EXPECT_EQ(session.compiled_count(), 2u);
}

TEST(Session, WhatIsRefusedIsNotCompiled) {
  Session session(*host_target());
  Problem wrong = problem("gemm f32 m=2 n=3 k=4");
  wrong.a.storage = DType::kBFloat16;
  for (int i = 0; i < 2; ++i) {
    const Expected<Session::Result> result = session.kernel(wrong);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.status().code(), StatusCode::kUnsupported);
  }
  EXPECT_EQ(session.compiled_count(), 0u);
}

TEST(Session, CompilesNothingForAnotherCpu) {
  Target foreign = *host_target();
  foreign.features |= 1u << 31;
  Session session(foreign);
  const Expected<Session::Result> result = session.kernel(problem("gemm f32 m=2 n=3 k=4"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(session.compiled_count(), 0u) << "compiled, and then refused";
}

TEST(Session, KernelsOutliveTheSession) {
  std::shared_ptr<const Kernel> survivor;
  {
    Session session(*host_target());
    survivor = kernel(session, "gemm f32 m=1 n=1 k=1");
  }
  const float a = 3, b = 5;
  float y = 0;
  const gemmc_call call = testing::make_call(&a, &b, nullptr, &y);
  EXPECT_EQ(survivor->entry()(&call), GEMMC_OK);
  EXPECT_EQ(y, 15);
}

// alpha * 6 + beta * 5 for every kind of scalar, in both families: LLVM knows special rules for -1, 0 and NaN.
TEST(Session, AlphaAndBetaOfEveryKind) {
  Session session(*host_target());
  const float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> a = {1, 2}, b = {2, 2}, c = {5};
  for (const char* sizes : {"m=1 n=1 k=2", "m=1 n=?n k=2"}) {
    for (float alpha : {1.0f, -1.0f, 0.0f, kInf, std::nanf("")}) {
      for (float beta : {1.0f, -1.0f, 0.0f, 2.0f, std::nanf("")}) {
        Problem p = problem(std::string("gemm f32 c=mn ") + sizes);
        p.alpha = alpha;
        p.beta = beta;
        const Expected<Session::Result> made = session.kernel(p);
        ASSERT_TRUE(made) << made.status().message();
        const int64_t n = 1;
        float y = -77;
        gemmc_call call = testing::make_call(a.data(), b.data(), c.data(), &y);
        call.dims = &n;
        ASSERT_EQ(made->kernel->entry()(&call), GEMMC_OK);
        const float expected = beta == 0 ? alpha * 6 : alpha * 6 + beta * 5;
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(y)) << print_problem(p) << " is " << y;
        } else {
          EXPECT_EQ(y, expected) << print_problem(p);
        }
      }
    }
  }
}

// A stride of 0 makes many products of one element: K beyond 32 bits is counted, not cut.
TEST(Session, SizesBeyond32BitsAreNotCut) {
  const Problem p = problem("gemm f32 m=1 n=4 k=4294967297 sa=0x0 sb=0x1");
  CompileOptions tiled;
  tiled.schedule = *parse_schedule("tiled mr=2 nr=4 lanes=4 mc=2");
  const Expected<KernelPlan> refused = plan(p, *host_target(), tiled);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.status().message().find("K=4294967297"), std::string::npos) << refused.status().message();
  EXPECT_EQ(plan(p, *host_target())->schedule.family, Family::kGeneral);
}

}  // namespace
}  // namespace gemmc
