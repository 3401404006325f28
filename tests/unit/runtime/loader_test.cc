#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "compiler/compile.h"
#include "core/problem_string.h"
#include "runtime/kernel.h"
#include "tests/support/compiled.h"
#include "tests/support/kernel_call.h"

namespace gemmc {
namespace {

Artifact compiled(const std::string& text) {
  Expected<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << problem.status().message();
  Expected<Artifact> artifact = testing::compile_problem(*problem, *host_target());
  EXPECT_TRUE(artifact) << artifact.status().message();
  return artifact ? *std::move(artifact) : Artifact{};
}

// One object for all tests: Y (2, 2) = A (2, 3) B (3, 2).
const Artifact& product() {
  static const Artifact artifact = compiled("gemm f32 m=2 n=2 k=3");
  return artifact;
}

constexpr float kA[] = {1, 2, 3, 4, 5, 6};
constexpr float kB[] = {1, 0, 0, 1, 1, 1};
const std::vector<float> kY = {4, 5, 10, 11};

std::vector<float> call(gemmc_kernel_entry entry) {
  std::vector<float> y(4, -1);
  const gemmc_call call = testing::make_call(kA, kB, nullptr, y.data());
  EXPECT_EQ(entry(&call), GEMMC_OK);
  return y;
}

// Why an artifact is not loaded, with nothing on stderr.
Status refusal(const Artifact& artifact) {
  ::testing::internal::CaptureStderr();
  const Expected<std::shared_ptr<const Kernel>> kernel = load_kernel(artifact);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(kernel);
  return kernel.status();
}

// The permissions of the page at an address, "r-xp".
std::string permissions(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t start = 0, end = 0;
    char access[8] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &start, &end, access) != 3) continue;
    const auto value = reinterpret_cast<uintptr_t>(address);
    if (value >= start && value < end) return access;
  }
  return "not mapped";
}

TEST(Loader, LoadsBothEntries) {
  const Expected<std::shared_ptr<const Kernel>> kernel = load_kernel(product());
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_EQ((*kernel)->artifact().symbol, product().symbol);
  EXPECT_EQ(call((*kernel)->entry()), kY);
  std::vector<float> y(4, -1);
  const auto typed = reinterpret_cast<int32_t (*)(const float*, const float*, float*)>((*kernel)->typed_entry());
  EXPECT_EQ(typed(kA, kB, y.data()), GEMMC_OK);
  EXPECT_EQ(y, kY);
}

TEST(Loader, PassesRunTimeArguments) {
  const Expected<std::shared_ptr<const Kernel>> kernel = load_kernel(compiled("gemm f32 m=?m n=2 k=?k sa=?x1"));
  ASSERT_TRUE(kernel) << kernel.status().message();
  std::vector<float> y(4, -1);
  const int64_t dims[] = {2, 3}, strides[] = {3};
  gemmc_call call = testing::make_call(kA, kB, nullptr, y.data());
  call.dims = dims;
  call.strides = strides;
  EXPECT_EQ((*kernel)->entry()(&call), GEMMC_OK);
  EXPECT_EQ(y, kY);
  call.size_bytes = offsetof(gemmc_call, epilogue) - 1;
  EXPECT_EQ((*kernel)->entry()(&call), GEMMC_INVALID_ARGUMENT);
}

// LLVM makes a call of memset from a loop that stores zeros.
TEST(Loader, GivesAKernelTheMemoryFunctions) {
  const Artifact zeros = compiled("gemm i32 m=1 n=?n k=4 alpha=0");
  const std::string bytes(zeros.object.begin(), zeros.object.end());
  EXPECT_NE(bytes.find("memset"), std::string::npos) << "another problem is needed for this test";
  const Expected<std::shared_ptr<const Kernel>> kernel = load_kernel(zeros);
  ASSERT_TRUE(kernel) << kernel.status().message();
  const std::vector<int32_t> a(4, 7), b(4 * 1000, 7);
  std::vector<int32_t> y(1000, 7);
  gemmc_call call = testing::make_call(a.data(), b.data(), nullptr, y.data());
  const int64_t columns = 1000;
  call.dims = &columns;
  EXPECT_EQ((*kernel)->entry()(&call), GEMMC_OK);
  EXPECT_EQ(y, std::vector<int32_t>(1000, 0));
}

TEST(Loader, CodeIsNeverWritable) {
  const Expected<std::shared_ptr<const Kernel>> kernel = load_kernel(product());
  ASSERT_TRUE(kernel) << kernel.status().message();
  EXPECT_EQ(permissions((*kernel)->typed_entry()), "r-xp");
  EXPECT_EQ(permissions(reinterpret_cast<const void*>((*kernel)->entry())), "r-xp");
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) EXPECT_EQ(line.find("rwxp"), std::string::npos) << line;
}

TEST(Loader, CodeLivesAsLongAsItsKernel) {
  const void* code = nullptr;
  {
    std::shared_ptr<const Kernel> copy;
    {
      Expected<std::shared_ptr<const Kernel>> kernel = load_kernel(product());
      ASSERT_TRUE(kernel) << kernel.status().message();
      copy = *kernel;
    }
    EXPECT_EQ(call(copy->entry()), kY);
    code = copy->typed_entry();
    EXPECT_EQ(permissions(code), "r-xp");
  }
  EXPECT_NE(permissions(code), "r-xp") << "the code of a released kernel is still there";
}

TEST(Loader, OneObjectIsLoadedTwice) {
  const Expected<std::shared_ptr<const Kernel>> first = load_kernel(product()), second = load_kernel(product());
  ASSERT_TRUE(first && second);
  EXPECT_NE((*first)->entry(), (*second)->entry());
  EXPECT_EQ(call((*first)->entry()), call((*second)->entry()));
}

TEST(Loader, ManyThreadsLoadAtOnce) {
  product();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 4; ++round) {
        const Expected<std::shared_ptr<const Kernel>> kernel = load_kernel(product());
        ASSERT_TRUE(kernel) << kernel.status().message();
        EXPECT_EQ(call((*kernel)->entry()), kY);
      }
    });
  }
}

TEST(Loader, RefusesAKernelOfABetterCpu) {
  Artifact foreign = product();
  foreign.target.level = "x86-64-v9";
  foreign.target.features |= 1u << 31;  // no CPU has this one
  const Status status = refusal(foreign);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("x86-64-v9"), std::string::npos) << status.message();

  const Target most = *parse_target("znver4");
  const uint32_t missing = most.features & ~detect_cpu_features();
  foreign.target = most;
  if (missing & kAvx512Bf16) {
    EXPECT_NE(refusal(foreign).message().find("lacks"), std::string::npos);
    EXPECT_NE(refusal(foreign).message().find("AVX512-BF16"), std::string::npos) << refusal(foreign).message();
  } else {
    EXPECT_TRUE(load_kernel(foreign)) << "this CPU has everything";
  }
}

TEST(Loader, RefusesWhatIsNoObject) {
  const auto expect_internal = [](std::vector<uint8_t> bytes, const std::string& what) {
    Artifact broken = product();
    broken.object = std::move(bytes);
    const Status status = refusal(broken);
    EXPECT_EQ(status.code(), StatusCode::kInternal) << what;
    EXPECT_EQ(status.message().find("loading kernel " + broken.symbol + ": "), 0u) << what << ": " << status.message();
  };
  expect_internal({}, "nothing");
  expect_internal({'M', 'Z'}, "another format");
  expect_internal(std::vector<uint8_t>(4096, 0), "zeros");
  expect_internal(std::vector<uint8_t>(4096, 0xff), "ones");
  const std::vector<uint8_t>& whole = product().object;
  for (size_t bytes = 4; bytes < whole.size(); bytes += whole.size() / 16) {
    expect_internal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)},
                    "the first " + std::to_string(bytes) + " bytes");
  }
  std::vector<uint8_t> other_machine = whole;
  other_machine[18] = 183;  // e_machine: AArch64
  expect_internal(other_machine, "AArch64");
  Artifact broken = product();
  broken.object = other_machine;
  EXPECT_NE(refusal(broken).message().find("relocation"), std::string::npos)
      << "the linker's reason: " << refusal(broken).message();
}

TEST(Loader, RefusesAnObjectWithoutTheEntry) {
  Artifact renamed = product();
  renamed.symbol = "another";
  const Status status = refusal(renamed);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("another"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace gemmc
