#include "runtime/memory_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

namespace gemmc {
namespace {

using Outcome = Expected<std::shared_ptr<const Kernel>>;

// A kernel that is only a name.
class NamedKernel final : public Kernel {
 public:
  explicit NamedKernel(const std::string& symbol) : Kernel(artifact_named(symbol), {}, nullptr) {}

 private:
  static Artifact artifact_named(const std::string& symbol) {
    Artifact artifact;
    artifact.symbol = symbol;
    return artifact;
  }
};

Outcome named(const std::string& symbol) {
  return std::shared_ptr<const Kernel>(std::make_shared<NamedKernel>(symbol));
}

// Runs `body(index)` on `count` threads that start together.
void run_together(int count, const std::function<void(int)>& body) {
  std::barrier start(count);
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  }
}

TEST(MemoryCache, SixteenThreadsMakeOneKernel) {
  MemoryCache cache;
  std::atomic<int> runs = 0;
  std::vector<std::shared_ptr<const Kernel>> kernels(16);
  run_together(16, [&](int i) {
    const Outcome outcome = cache.get_or_make("key", [&] {
      ++runs;
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      return named("k");
    });
    if (outcome) kernels[i] = *outcome;
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(cache.made_count(), 1u);
  for (const auto& kernel : kernels) {
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(kernel, kernels[0]);
  }
}

TEST(MemoryCache, EachKeyHasItsKernel) {
  MemoryCache cache;
  run_together(16, [&](int i) {
    const std::string key = std::to_string(i % 4);
    const Outcome outcome = cache.get_or_make(key, [&] { return named(key); });
    ASSERT_TRUE(outcome);
    EXPECT_EQ((*outcome)->artifact().symbol, key);
  });
  EXPECT_EQ(cache.made_count(), 4u);
  const Outcome again = cache.get_or_make("2", []() -> Outcome { return Status::internal("made twice"); });
  ASSERT_TRUE(again) << again.status().message();
  EXPECT_EQ((*again)->artifact().symbol, "2");
}

TEST(MemoryCache, AKeyInTheMakingHoldsUpNoOther) {
  MemoryCache cache;
  std::promise<void> started, release;
  std::jthread slow([&] {
    const Outcome outcome = cache.get_or_make("slow", [&] {
      started.set_value();
      release.get_future().wait();
      return named("slow");
    });
    EXPECT_TRUE(outcome);
  });
  started.get_future().wait();
  const Outcome other = cache.get_or_make("other", [] { return named("other"); });
  EXPECT_TRUE(other);
  EXPECT_EQ(cache.made_count(), 2u);
  release.set_value();
}

TEST(MemoryCache, AFailureIsGivenToThoseWhoWaitAndForgotten) {
  MemoryCache cache;
  std::atomic<int> failures = 0;
  run_together(8, [&](int) {
    const Outcome outcome = cache.get_or_make("key", []() -> Outcome {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      return Status::environment("disk full");
    });
    if (!outcome && outcome.status().message() == "disk full") ++failures;
  });
  EXPECT_EQ(failures, 8);
  const Outcome second = cache.get_or_make("key", [] { return named("second"); });
  ASSERT_TRUE(second) << "the failure is remembered: " << second.status().message();
  EXPECT_EQ((*second)->artifact().symbol, "second");
}

TEST(MemoryCache, WhatMakeThrowsIsForgottenToo) {
  MemoryCache cache;
  std::promise<void> started, release;
  std::jthread first([&] {
    EXPECT_THROW((void)cache.get_or_make("key",
                                         [&]() -> Outcome {
                                           started.set_value();
                                           release.get_future().wait();
                                           throw std::bad_alloc();
                                         }),
                 std::bad_alloc);
  });
  started.get_future().wait();
  std::jthread waiting([&] {
    // Either waits for the first, or comes after it was forgotten.
    try {
      const Outcome outcome = cache.get_or_make("key", [] { return named("later"); });
      EXPECT_TRUE(outcome);
    } catch (const std::bad_alloc&) {
    }
  });
  release.set_value();
  first.join();
  waiting.join();
  const Outcome after = cache.get_or_make("key", [] { return named("after"); });
  ASSERT_TRUE(after);
}

TEST(MemoryCache, KernelsOutliveTheCache) {
  std::shared_ptr<const Kernel> kernel;
  {
    MemoryCache cache;
    const Outcome outcome = cache.get_or_make("key", [] { return named("k"); });
    ASSERT_TRUE(outcome);
    kernel = *outcome;
  }
  EXPECT_EQ(kernel->artifact().symbol, "k");
  EXPECT_EQ(kernel.use_count(), 1);
}

}  // namespace
}  // namespace gemmc
