#include <gtest/gtest.h>
#include <pthread.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <thread>

#include "gemmc/gemmc.h"
#include "tests/unit/api/c_api_handles.h"

// In c_api_links.c: calls everything from C99.
extern "C" int c_api_from_c(void);

namespace {

using gemmc::testing::call_with;
using gemmc::testing::error_has;
using gemmc::testing::kA;
using gemmc::testing::kB;
using gemmc::testing::Kernel;
using gemmc::testing::kY;
using gemmc::testing::Session;

TEST(CApi, Version) { EXPECT_STREQ(gemmc_version(), GEMMC_VERSION); }

TEST(CApi, CompilesFromC99) { EXPECT_EQ(c_api_from_c(), 0) << gemmc_last_error(); }

TEST(CApi, RunsAProblemString) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=2 n=2 k=3 c=n");
  std::vector<float> y(4, -1);
  const gemmc_call call = call_with(y);
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK);
  EXPECT_EQ(y, kY);
  EXPECT_EQ(gemmc_kernel_dim_count(kernel.handle), 0u);
  EXPECT_EQ(gemmc_kernel_stride_count(kernel.handle), 0u);
  EXPECT_EQ(std::string(gemmc_kernel_symbol(kernel.handle)).find("gemmc_"), 0u);
  EXPECT_EQ(std::strlen(gemmc_kernel_symbol(kernel.handle)), 22u);
}

constexpr char kNode[] = R"( {"name": "fc1", "op_type": "Gemm", "opset": 13,
  "inputs": [{"name": "x", "dtype": "float32", "shape": ["rows", 3]},
             {"name": "w", "dtype": "float32", "shape": [3, 2]},
             {"name": "b", "dtype": "float32", "shape": [2]}],
  "outputs": ["y"]})";

TEST(CApi, RunsANodeDescription) {
  const Session session;
  const Kernel kernel(session, kNode);
  ASSERT_EQ(gemmc_kernel_dim_count(kernel.handle), 1u);
  EXPECT_STREQ(gemmc_kernel_dim_name(kernel.handle, 0), "rows");
  EXPECT_EQ(gemmc_kernel_dim_name(kernel.handle, 1), nullptr);
  std::vector<float> y(4, -1);
  const int64_t rows = 2;
  const gemmc_call call = call_with(y, &rows);
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK);
  EXPECT_EQ(y, kY);
  y.assign(4, -1);
  EXPECT_EQ(gemmc_kernel_get_entry(kernel.handle)(&call), GEMMC_OK);
  EXPECT_EQ(y, kY);
}

TEST(CApi, CountsStridesAndDimensions) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=?m n=?n k=4 c=* sa=?x1");
  EXPECT_EQ(gemmc_kernel_dim_count(kernel.handle), 2u);
  EXPECT_STREQ(gemmc_kernel_dim_name(kernel.handle, 0), "m");
  EXPECT_STREQ(gemmc_kernel_dim_name(kernel.handle, 1), "n");
  EXPECT_EQ(gemmc_kernel_stride_count(kernel.handle), 3u);
}

TEST(CApi, EqualRequestsAreOneKernel) {
  const Session session;
  const Kernel one(session, "gemm f32 m=2 n=2 k=3 c=n"), other(session, "gemm f32 m=2 n=2 k=3 c=1n");
  EXPECT_NE(one.handle, other.handle) << "each has to be released";
  EXPECT_EQ(gemmc_kernel_get_entry(one.handle), gemmc_kernel_get_entry(other.handle));
}

TEST(CApi, KernelsOutliveTheirSession) {
  gemmc_kernel* kernel = nullptr;
  {
    const Session session;
    ASSERT_EQ(gemmc_session_kernel(session.handle, "gemm f32 m=2 n=2 k=3 c=n", &kernel), GEMMC_OK);
  }
  std::vector<float> y(4, -1);
  const gemmc_call call = call_with(y);
  EXPECT_EQ(gemmc_kernel_call(kernel, &call), GEMMC_OK);
  EXPECT_EQ(y, kY);
  gemmc_kernel_release(kernel);
}

TEST(CApi, SessionsForATarget) {
  gemmc_session* session = nullptr;
  EXPECT_EQ(gemmc_session_create(nullptr, &session), GEMMC_OK) << "NULL is the host";
  gemmc_session_free(session);
  EXPECT_EQ(gemmc_session_create("x86-64-v2", &session), GEMMC_OK);
  gemmc_session_free(session);

  const auto not_a_session = reinterpret_cast<gemmc_session*>(&session);
  session = not_a_session;
  EXPECT_EQ(gemmc_session_create("pentium", &session), GEMMC_INVALID_ARGUMENT);
  EXPECT_EQ(session, nullptr) << "nothing to free after a failure";
  EXPECT_TRUE(error_has("'pentium'")) << gemmc_last_error();
  EXPECT_EQ(gemmc_session_create("aarch64", &session), GEMMC_UNSUPPORTED);
  EXPECT_TRUE(error_has("not built yet")) << gemmc_last_error();
}

TEST(CApi, RefusesDescriptions) {
  const Session session;
  struct Row {
    std::string description;
    gemmc_status status;
    std::string message;
  };
  const Row kRows[] = {
      {"", GEMMC_INVALID_ARGUMENT, "problem string"},
      {" \n", GEMMC_INVALID_ARGUMENT, "problem string"},
      {"gemm f32 m=2", GEMMC_INVALID_ARGUMENT, "problem string"},
      {"gemm f32 m=2 n=2 k=3 c=nope", GEMMC_INVALID_ARGUMENT, "nope"},
      {"gemm f64 m=2 n=2 k=3 epi=gelu", GEMMC_UNSUPPORTED, "epilogue step 'gelu' for float64: not built yet"},
      {"{", GEMMC_INVALID_ARGUMENT, ""},
      {"{}", GEMMC_INVALID_ARGUMENT, ""},
      {"  {\"name\": \"fc1\", \"op_type\": \"Conv\"}", GEMMC_INVALID_ARGUMENT, "fc1"},
      {R"({"name": "fc1", "op_type": "MatMul", "inputs": [{"name": "a", "dtype": "float32", "shape": [2, 3]},
           {"name": "b", "dtype": "float32", "shape": [4, 5]}], "outputs": ["y"]})",
       GEMMC_INVALID_ARGUMENT, "(node 'fc1')"},
      {R"({"name": "fc1", "op_type": "MatMul", "inputs": [{"name": "a", "dtype": "float32", "shape": [2, 3], "storage": "bfloat16"},
           {"name": "b", "dtype": "float32", "shape": [3, 5]}], "outputs": ["y"]})",
       GEMMC_UNSUPPORTED, "(node 'fc1')"},
      {std::string(1 << 20, '{'), GEMMC_INVALID_ARGUMENT, ""},
      {"gemm f32 m=2 n=2 k=3 " + std::string(100000, 'x'), GEMMC_INVALID_ARGUMENT, "xxx"},
      {"gemm f32 m=2 n=2 k=3 " + std::string(1 << 20, 'x'), GEMMC_INVALID_ARGUMENT, "too long"},
  };
  for (const Row& row : kRows) {
    auto* kernel = reinterpret_cast<gemmc_kernel*>(session.handle);
    const std::string shown = row.description.substr(0, 80);
    EXPECT_EQ(gemmc_session_kernel(session.handle, row.description.c_str(), &kernel), row.status)
        << shown << ": " << gemmc_last_error();
    EXPECT_EQ(kernel, nullptr) << "nothing to release after a failure";
    EXPECT_TRUE(error_has(row.message)) << shown << ": " << gemmc_last_error();
    EXPECT_STRNE(gemmc_last_error(), "") << shown;
    EXPECT_EQ(std::strchr(gemmc_last_error(), '\n'), nullptr) << gemmc_last_error();
  }
}

// A host may round otherwise, flush subnormals to zero, or trap: the kernel is the same, and so is the host's state.
TEST(CApi, CompilesWhateverTheFloatingPointState) {
  const auto symbol_of_two = [](const Session& session) {
    return std::string(gemmc_kernel_symbol(Kernel(session, "gemm f32 m=1 n=1 k=1 alpha=0.1").handle)) +
           gemmc_kernel_symbol(Kernel(session, "gemm f64 m=1 n=1 k=1 alpha=1e-40").handle);
  };
  constexpr char kScaled[] = R"({"op_type": "Gemm", "attributes": {"alpha": 1e-40}, "inputs": [
      {"dtype": "float64", "shape": [1, 1]}, {"shape": [1, 1]}]})";
  const auto scaled = [](const Kernel& kernel) {
    const double a = 1, b = 1;
    double y = 0;
    const gemmc_call call = gemmc::testing::make_call(&a, &b, nullptr, &y);
    EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK);
    return y;
  };
  std::string expected_symbols;
  {
    const Session session;
    expected_symbols = symbol_of_two(session);
    EXPECT_EQ(scaled(Kernel(session, kScaled)), static_cast<double>(1e-40f));
  }
  constexpr uint32_t kFlushToZero = 0x8040, kRoundDown = 0x2000, kUnmaskUnderflow = 0x0800;
  for (const uint32_t change : {kFlushToZero, kRoundDown, kUnmaskUnderflow}) {
    const uint32_t before = _mm_getcsr();
    const uint32_t changed = before ^ change;
    _mm_setcsr(changed);
    // Each from a session of its own: both would be one kernel, and the second only found.
    const Session session, other_session;
    const std::string symbols = symbol_of_two(session);
    const Kernel from_json(other_session, kScaled);
    const uint32_t after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after, changed);
    EXPECT_EQ(symbols, expected_symbols) << std::hex << change;
    EXPECT_EQ(scaled(from_json), static_cast<double>(1e-40f)) << std::hex << change;
  }
}

TEST(CApi, NullIsRefusedOrAllowed) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=2 n=2 k=3 c=n");
  gemmc_kernel* place = nullptr;
  std::vector<float> y(4);
  const gemmc_call call = call_with(y);
  EXPECT_EQ(gemmc_session_create("host", nullptr), GEMMC_INVALID_ARGUMENT);
  place = kernel.handle;
  EXPECT_EQ(gemmc_session_kernel(nullptr, "gemm f32 m=2 n=2 k=3", &place), GEMMC_INVALID_ARGUMENT);
  EXPECT_EQ(place, nullptr);
  EXPECT_EQ(gemmc_session_kernel(session.handle, nullptr, &place), GEMMC_INVALID_ARGUMENT);
  EXPECT_EQ(gemmc_session_kernel(session.handle, "gemm f32 m=2 n=2 k=3", nullptr), GEMMC_INVALID_ARGUMENT);
  EXPECT_TRUE(error_has("NULL")) << gemmc_last_error();
  EXPECT_EQ(gemmc_kernel_call(nullptr, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, nullptr), GEMMC_INVALID_ARGUMENT);
  EXPECT_EQ(gemmc_kernel_get_entry(nullptr), nullptr);
  EXPECT_EQ(gemmc_kernel_get_pack_b(nullptr), nullptr);
  EXPECT_EQ(gemmc_kernel_symbol(nullptr), nullptr);
  EXPECT_EQ(gemmc_kernel_dim_count(nullptr), 0u);
  EXPECT_EQ(gemmc_kernel_dim_name(nullptr, 0), nullptr);
  EXPECT_EQ(gemmc_kernel_stride_count(nullptr), 0u);
  EXPECT_EQ(gemmc_kernel_note(nullptr), nullptr);
  gemmc_session_free(nullptr);
  gemmc_kernel_release(nullptr);
}

TEST(CApi, CallsThatTheKernelRefuses) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=?m n=2 k=3 c=n");
  std::vector<float> y(4, -1);
  int64_t rows = -2;
  gemmc_call call = call_with(y, &rows);
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_STREQ(gemmc_last_error(), "dims[0], 'm', is -2; allowed: 0 and more");
  rows = 2;
  call.dims = nullptr;
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_STREQ(gemmc_last_error(), "dims is NULL; allowed: an array of 1");
  call.dims = &rows;
  call.size_bytes = offsetof(gemmc_call, epilogue) - 1;
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_TRUE(error_has("size_bytes is 103; allowed: sizeof(gemmc_call), 112")) << gemmc_last_error();
  call.size_bytes = sizeof call;
  const void* const a = call.a;
  call.a = nullptr;
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_STREQ(gemmc_last_error(), "a is NULL; allowed: the address of its elements");
  call.a = a;
  EXPECT_EQ(y, std::vector<float>(4, -1)) << "Y is untouched";
  call.size_bytes = sizeof call + 64;
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK) << "a later version's struct";
  EXPECT_EQ(y, kY);
}

TEST(CApi, BatchesThatDoNotBroadcastAreNamed) {
  const Session session;
  const Kernel kernel(session, "matmul f32 a=?px1x1 b=?qx1x1");
  const int64_t dims[] = {2, 3};
  float y = 0;
  gemmc_call call = gemmc::testing::make_call(kA, kB, nullptr, &y);
  call.dims = dims;
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_STREQ(gemmc_last_error(), "batch dimension mismatch: 2 in A, 3 in B; allowed: equal, or one of them 1");
  const Kernel strided(session, "gemm f32 m=1 n=1 k=1 sa=?x1");
  EXPECT_EQ(gemmc_kernel_call(strided.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_STREQ(gemmc_last_error(), "strides is NULL; allowed: an array of 1");
}

TEST(CApi, OverlapsWithYAreRefused) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=2 n=2 k=3 c=mn");
  std::vector<float> y = kY;
  gemmc_call call = gemmc::testing::make_call(kA, kB, y.data(), y.data());
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK) << "in place";
  const std::vector<float> before = y;
  call.a = y.data() - 5;
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_STREQ(gemmc_last_error(), "Y overlaps A; allowed: buffers of their own");
  EXPECT_EQ(y, before) << "Y is untouched";
}

TEST(CApi, OperandsOfTheEpilogue) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=2 n=2 k=3 c=n epi=bias:n,relu,scale");
  EXPECT_EQ(gemmc_kernel_epilogue_count(kernel.handle), 2u);
  std::vector<float> y(4, -1);
  gemmc_call call = call_with(y);
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_STREQ(gemmc_last_error(), "epilogue is NULL; allowed: an array of 2");
  const float bias[] = {-20, 5}, scale = 0.5f;
  const void* const epilogue[] = {bias, &scale};
  call.epilogue = epilogue;
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK) << gemmc_last_error();
  const auto expected = [&](size_t i) { return std::max(kY[i] + bias[i % 2], 0.0f) * scale; };
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], expected(i)) << i;
  call.size_bytes = offsetof(gemmc_call, epilogue);
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT) << "a struct without the field";
}

TEST(CApi, AConstantBIsPackedOnce) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=?m n=2 k=3 c=n tb const=b");
  const gemmc_pack_entry pack_b = gemmc_kernel_get_pack_b(kernel.handle);
  ASSERT_NE(pack_b, nullptr);
  std::vector<float> packed(static_cast<size_t>(pack_b(nullptr, nullptr)) / sizeof(float), -1);
  ASSERT_GE(packed.size(), 6u);
  {
    const std::vector<float> transposed = {1, 0, 1, 0, 1, 1};
    EXPECT_EQ(pack_b(transposed.data(), packed.data()), static_cast<int64_t>(packed.size() * sizeof(float)));
  }
  std::vector<float> y(4, -1);
  const int64_t rows = 2;
  gemmc_call call = call_with(y, &rows);
  call.b = nullptr;
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_STREQ(gemmc_last_error(), "packed[1] is NULL; allowed: what gemmc_kernel_get_pack_b()'s function wrote");
  EXPECT_EQ(gemmc_kernel_get_entry(kernel.handle)(&call), GEMMC_INVALID_ARGUMENT);
  EXPECT_EQ(y, std::vector<float>(4, -1)) << "Y is untouched";
  call.packed[1] = packed.data();
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK) << gemmc_last_error();
  EXPECT_EQ(y, kY);
  call.y = packed.data() + packed.size() - 1;
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_STREQ(gemmc_last_error(), "Y overlaps B; allowed: buffers of their own");
  call.y = y.data();
  call.packed[0] = packed.data();
  EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
  EXPECT_TRUE(error_has("it is reserved")) << gemmc_last_error();
  const Kernel in_place(session, "gemm f32 m=?m n=2 k=3 c=n");
  EXPECT_EQ(gemmc_kernel_get_pack_b(in_place.handle), nullptr);
}

TEST(CApi, ReservedFieldsMustBeZero) {
  const Session session;
  const Kernel kernel(session, "gemm f32 m=2 n=2 k=3 c=n");
  std::vector<float> y(4, -1);
  const auto refuses = [&](auto set) {
    gemmc_call call = call_with(y);
    set(call);
    EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has("allowed: zero, it is reserved")) << gemmc_last_error();
    EXPECT_EQ(y, std::vector<float>(4, -1)) << "Y is untouched";
  };
  for (int i = 0; i < 3; ++i) refuses([&](gemmc_call& call) { call.packed[i] = kA; });
}

TEST(CApi, NoteSaysWhatIsNotBuilt) {
  const Session session;
  const Kernel plain(session, "gemm f32 m=2 n=2 k=3"), forward(session, R"({"op_type": "Gemm", "opset": 13,
      "inputs": [{"name": "x", "dtype": "float32", "shape": [2, 3]}, {"name": "w", "dtype": "float32", "shape": [3, 2]}],
      "outputs": ["y"], "training": true})");
  EXPECT_STREQ(gemmc_kernel_note(plain.handle), "");
  EXPECT_STREQ(gemmc_kernel_note(forward.handle),
               "training: the backward kernels are not built yet, only the forward one is");
}

TEST(CApi, LastErrorBelongsToItsThread) {
  std::string elsewhere = "not set";
  gemmc_session* session = nullptr;
  EXPECT_EQ(gemmc_session_create("here", &session), GEMMC_INVALID_ARGUMENT);
  std::jthread([&] {
    elsewhere = gemmc_last_error();
    gemmc_session* other = nullptr;
    EXPECT_EQ(gemmc_session_create("there", &other), GEMMC_INVALID_ARGUMENT);
    EXPECT_TRUE(error_has("'there'"));
  }).join();
  EXPECT_EQ(elsewhere, "") << "nothing failed on that thread before";
  EXPECT_TRUE(error_has("'here'")) << gemmc_last_error();
}

TEST(CApi, CompilesForThreadsWithSmallStacks) {
  // Sanitizers make every frame larger.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr size_t kStackBytes = size_t{1} << 20;
#else
  constexpr size_t kStackBytes = size_t{64} << 10;
#endif
  Session session;
  const auto body = [](void* argument) -> void* {
    const Kernel kernel(*static_cast<Session*>(argument), "matmul f64 a=?bx?mx?k b=?bx?kx?n");
    EXPECT_NE(kernel.handle, nullptr);
    return nullptr;
  };
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &session), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(CApi, OneSessionServesManyThreads) {
  const Session session;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&session, i] {
      const Kernel kernel(session, i % 2 == 0 ? "gemm f32 m=2 n=2 k=3 c=n" : "gemm f32 m=?m n=2 k=3 c=n");
      std::vector<float> y(4, -1);
      const int64_t rows = 2;
      const gemmc_call call = call_with(y, &rows);
      EXPECT_EQ(gemmc_kernel_call(kernel.handle, &call), GEMMC_OK);
      EXPECT_EQ(y, kY);
    });
  }
}

}  // namespace
