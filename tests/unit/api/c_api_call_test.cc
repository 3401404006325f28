// What a call may bring beside its operands: scratch memory and threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "gemmc/gemmc.h"
#include "tests/support/parts_backwards.h"
#include "tests/unit/api/c_api_handles.h"

namespace gemmc::testing {
namespace {

TEST(CApiCall, ScratchMemoryChangesNoValue) {
  const Session session;
  const Kernel small(session, "gemm f32 m=2 n=2 k=3 c=n"), kernel(session, "gemm f32 m=400 n=1200 k=1200");
  EXPECT_EQ(gemmc_kernel_scratch_bytes(small.handle), 0u);
  EXPECT_EQ(gemmc_kernel_scratch_bytes(nullptr), 0u);
  const size_t bytes = gemmc_kernel_scratch_bytes(kernel.handle);
  ASSERT_GT(bytes, 0u);
  std::vector<float> a(400 * 1200), b(1200 * 1200);
  for (size_t i = 0; i < a.size(); ++i) a[i] = 1 / static_cast<float>(i % 7 + 1);
  for (size_t i = 0; i < b.size(); ++i) b[i] = 1 / static_cast<float>(i % 11 + 1);
  std::vector<float> without(400 * 1200, -1), own = without, lent = without, little = without;
  std::vector<uint8_t> scratch(bytes + 1, 0xff);
  const auto call_of = [&](std::vector<float>& y, size_t lent_bytes) {
    gemmc_call call = make_call(a.data(), b.data(), nullptr, y.data());
    if (lent_bytes > 0) call.scratch = scratch.data() + 1;
    call.scratch_bytes = lent_bytes;
    return call;
  };
  const gemmc_call plain = call_of(without, 0), from_thread = call_of(own, 0), given = call_of(lent, bytes),
                   too_little = call_of(little, bytes - 1);
  EXPECT_EQ(gemmc_kernel_get_entry(kernel.handle)(&plain), GEMMC_OK);
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &from_thread), GEMMC_OK) << gemmc_last_error();
  EXPECT_EQ(std::count(scratch.begin(), scratch.end(), 0xff), static_cast<ptrdiff_t>(scratch.size()));
  EXPECT_EQ(gemmc_kernel_get_entry(kernel.handle)(&too_little), GEMMC_OK);
  EXPECT_EQ(std::count(scratch.begin(), scratch.end(), 0xff), static_cast<ptrdiff_t>(scratch.size()));
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &given), GEMMC_OK) << gemmc_last_error();
  EXPECT_LT(std::count(scratch.begin(), scratch.end(), 0xff), static_cast<ptrdiff_t>(scratch.size() / 2)) << "used";
  for (const std::vector<float>* y : {&own, &lent, &little}) EXPECT_TRUE(*y == without);
}

TEST(CApiCall, PartsGiveTheSameBits) {
  const Session session;
  const std::pair<const char*, std::vector<int64_t>> kRows[] = {
      // sizes of M, K, N
      {"gemm f32 m=?m n=?n k=?k", {37, 61, 100}},        // general, by columns
      {"gemm f32 m=?m n=?n k=?k", {100, 61, 20}},        // by rows
      {"gemm f32 m=?m n=?n k=?k c=mn", {100, 900, 70}},  // sums on the stack
      {"gemm f32 m=?m n=100 k=64", {131}},               // tiles
      {"gemm f32 m=160 n=100 k=64", {}},                 // static
      {"matmul f32 a=?bx?mx30 b=?bx30x40", {3, 20}},     // batches that do not come out even
      {"matmul f32 a=?bx?mx30 b=?bx30x40", {5, 1}},      // small ones
      {"matmul f32 a=?bx?mx30 b=?bx30x40", {40, 5}},     // many
      {"gemm f32 m=?m n=300 k=200 tb", {3}},
  };
  for (const auto& [text, dims] : kRows) {
    const Kernel kernel(session, text);
    std::vector<float> a(100000), b(100000), c(10000), alone(100000, -1);
    for (size_t i = 0; i < a.size(); ++i) a[i] = 1 / static_cast<float>(i % 7 + 1);
    for (size_t i = 0; i < b.size(); ++i) b[i] = 1 / static_cast<float>(i % 11 + 1);
    gemmc_call call = make_call(a.data(), b.data(), c.data(), alone.data());
    call.dims = dims.data();
    ASSERT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK) << gemmc_last_error();
    for (const int32_t threads : {-3, 0, 1, 2, 3, 7}) {
      const PartsBackwards backwards(threads);
      std::vector<float> y(alone.size(), -1);
      call.y = y.data();
      call.parallel = backwards.hook();
      ASSERT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK) << gemmc_last_error();
      EXPECT_TRUE(y == alone) << text << " in " << threads;
      EXPECT_EQ(backwards.most_parts() > 1, threads > 1) << text << " in " << threads;
    }
  }
}

TEST(CApiCall, ThreadsGiveTheSameBits) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=?m n=?n k=?k");
  const std::vector<int64_t> dims = {300, 200, 700};  // M, K, N
  std::vector<float> a(300 * 200), b(200 * 700), alone(300 * 700, -1), y = alone;
  for (size_t i = 0; i < a.size(); ++i) a[i] = 1 / static_cast<float>(i % 7 + 1);
  for (size_t i = 0; i < b.size(); ++i) b[i] = 1 / static_cast<float>(i % 11 + 1);
  gemmc_call call = make_call(a.data(), b.data(), nullptr, alone.data());
  call.dims = dims.data();
  ASSERT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK) << gemmc_last_error();
  const gemmc_parallel* parallel = nullptr;
  ASSERT_EQ(gemmc_parallel_create(3, &parallel), GEMMC_OK) << gemmc_last_error();
  call.y = y.data();
  call.parallel = parallel;
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK) << gemmc_last_error();
  EXPECT_TRUE(y == alone);
  gemmc_parallel_free(parallel);
  EXPECT_EQ(gemmc_parallel_create(0, &parallel), GEMMC_INVALID_ARGUMENT);
  EXPECT_TRUE(error_has("threads is 0; allowed: 1 to 4096")) << gemmc_last_error();
  gemmc_parallel_free(nullptr);
}

TEST(CApiCall, ScratchMemoryIsCheckedFirst) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=2 n=2 k=3 c=n");
  std::vector<float> y(4, -1);
  const auto refuses = [&](void* scratch, uint64_t bytes, const std::string& reason) {
    gemmc_call call = call_with(y);
    call.scratch = scratch;
    call.scratch_bytes = bytes;
    EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has(reason)) << gemmc_last_error();
    EXPECT_EQ(y, std::vector<float>(4, -1)) << "Y is untouched";
  };
  char memory[8];
  refuses(nullptr, 1, "scratch is NULL and scratch_bytes is 1; allowed: both zero, or memory and its size");
  refuses(memory, 0, "scratch is not NULL and scratch_bytes is 0; allowed: both zero");
  refuses(memory, UINT64_MAX, "scratch_bytes is 18446744073709551615; allowed");
  refuses(y.data(), 4, "scratch overlaps Y; allowed: memory of its own");
}

TEST(CApiCall, ThreadsAreCheckedFirst) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=2 n=2 k=3 c=n");
  std::vector<float> y(4, -1);
  const auto refuses = [&](const gemmc_parallel& parallel, const std::string& reason) {
    gemmc_call call = call_with(y);
    call.parallel = &parallel;
    EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has(reason)) << gemmc_last_error();
    EXPECT_EQ(y, std::vector<float>(4, -1)) << "Y is untouched";
  };
  gemmc_parallel parallel = *PartsBackwards(2).hook();
  parallel.run = nullptr;
  refuses(parallel, "parallel has size_bytes 40 and no run; allowed: sizeof(gemmc_parallel), and a function");
  parallel = *PartsBackwards(2).hook();
  parallel.size_bytes = 8;
  refuses(parallel, "parallel has size_bytes 8 and a run; allowed");
}

}  // namespace
}  // namespace gemmc::testing
