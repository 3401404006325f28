// Many threads, one session: equal requests compile once, different ones do not disturb each other, all results are
// right.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

#include "api/session.h"
#include "compiler/node.h"
#include "core/problem_string.h"
#include "tests/conformance/counts.h"
#include "tests/conformance/settings.h"
#include "tests/support/case_run.h"
#include "tests/support/cases.h"
#include "tests/support/flush_promise.h"
#include "tests/support/kernel_run.h"
#include "tests/support/random_problem.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {
namespace {

constexpr int kThreads = 16;

Target host() { return value_or_throw(host_target()); }

// Asks `session` for the instance's kernel and runs it. Returns what is wrong.
std::string ask_and_run(Session& session, const Instance& instance) {
  const Expected<Session::Result> compiled = session.kernel(instance.problem);
  const auto wrong = [&instance](const std::string& what) {
    return fmt::format("{}: {}\nrepeat: {}", print_problem(instance.problem), what, instance.repeat);
  };
  if (!compiled) return wrong(compiled.status().message());
  KernelRun run;
  const Artifact& artifact = compiled->kernel->artifact();
  const RunResult result =
      run.run(compiled->kernel->entries(), instance, Placement{}, check_for(artifact, within_bounds));
  const Expected<Schedule> schedule = parse_schedule(artifact.schedule);
  if (!schedule) return wrong(schedule.status().message());
  count_run({"threads", instance.problem.dtype, schedule->family, artifact.target.level, ConformanceRoute::kJit},
            result.is_right());
  return result.is_right() ? "" : wrong(result.failure);
}

// Starts `body(thread)` on all threads at once and collects what each finds wrong.
template <typename Body>
void on_all_threads(const Body& body) {
  std::barrier start(kThreads);
  std::vector<std::string> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      wrong[static_cast<size_t>(t)] = body(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) EXPECT_EQ(text, "");
}

Instance instance_of(const std::string& problem_text, const std::string& shapes_text, uint64_t seed) {
  return make_instance(value_or_throw(parse_problem(problem_text)), parse_shapes(shapes_text).value(), seed);
}

// The problem of a case, with values of its own.
Instance instance_of(const Case& test_case) {
  return make_instance(value_or_throw(node_to_problem(to_node(test_case))), shapes_of(test_case), 1);
}

TEST(ThreadsTest, TheSameNodeIsCompiledOnce) {
  for (int round = 0; round < 3 * conformance_settings().effort; ++round) {
    Session session(host());
    on_all_threads([&](int thread) {
      // The same kernel under other names and with other values and sizes.
      const std::string name = fmt::format("m{}", thread);
      return ask_and_run(session,
                         instance_of("gemm f32 m=?" + name + " n=24 k=40 tb c=n alpha=0.5",
                                     std::to_string(3 + thread) + "x40 24x40 24", static_cast<uint64_t>(thread)));
    });
    EXPECT_EQ(session.compiled_count(), 1u);
  }
}

TEST(ThreadsTest, CasesThatAskForConcurrentFirstCalls) {
  int found = 0;
  for (const Case& test_case : read_cases("reported")) {
    if (test_case.hints.concurrent_first_calls == 1) continue;
    ++found;
    ASSERT_EQ(test_case.hints.concurrent_first_calls, kThreads) << test_case.id;
    const Instance instance = instance_of(test_case);
    Session session(host());
    on_all_threads([&](int) {
      std::string wrong;
      for (int i = 0; i < test_case.hints.repeat && wrong.empty(); ++i) wrong = ask_and_run(session, instance);
      return wrong;
    });
    EXPECT_EQ(session.compiled_count(), 1u) << test_case.id;
  }
  EXPECT_EQ(found, 2);
}

TEST(ThreadsTest, DifferentNodesDoNotDisturbEachOther) {
  std::vector<Instance> instances;
  for (const Case& test_case : read_cases("reported")) {
    if (test_case.group == "g3" || test_case.group == "g4") instances.push_back(instance_of(test_case));
  }
  ASSERT_EQ(instances.size(), 12u);
  std::set<std::string> kernels;
  for (const Instance& instance : instances) kernels.insert(print_problem(canonical(instance.problem).problem));
  for (int round = 0; round < 2 * conformance_settings().effort; ++round) {
    Session session(host());
    on_all_threads([&](int thread) {
      std::string wrong;
      for (size_t i = 0; i < instances.size() && wrong.empty(); ++i) {
        wrong = ask_and_run(session, instances[(i + static_cast<size_t>(thread)) % instances.size()]);
      }
      return wrong;
    });
    EXPECT_EQ(session.compiled_count(), kernels.size());
  }
}

TEST(ThreadsTest, ARefusalIsGivenToEveryoneAndTheNextRequestSucceeds) {
  Session session(host());
  Problem unbuilt = parse_problem("gemm f32 m=4 n=4 k=4 storage=a:bf16").operator*();
  std::atomic<int> refusals = 0;
  on_all_threads([&](int) {
    const Expected<Session::Result> kernel = session.kernel(unbuilt);
    if (!kernel && kernel.status().code() == StatusCode::kUnsupported) ++refusals;
    return std::string();
  });
  EXPECT_EQ(refusals, kThreads);
  unbuilt.a.storage.reset();
  EXPECT_TRUE(session.kernel(unbuilt));
}

// One kernel, many callers at once: it has no state of its own.
TEST(ThreadsTest, OneKernelServesAllThreadsAtOnce) {
  Session session(host());
  Random random(7);
  std::vector<Instance> instances;
  const Problem shared = runtime_problem(parse_problem("gemm f32 m=8 n=8 k=8 c=mn beta=2").operator*());
  for (int t = 0; t < kThreads; ++t) {
    const ArrayShapes shapes = random_shapes(shared, random);
    instances.push_back(make_instance(shared, shapes, random.bits() >> 32));
  }
  on_all_threads([&](int thread) {
    std::string wrong;
    for (int i = 0; i < 20 && wrong.empty(); ++i) wrong = ask_and_run(session, instances[static_cast<size_t>(thread)]);
    return wrong;
  });
  EXPECT_EQ(session.compiled_count(), 1u);
}

}  // namespace
}  // namespace gemmc::testing
