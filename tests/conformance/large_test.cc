// Operands beyond 4 GiB and indices beyond 2^31, one direction of growth at a time. Long: minutes, and up to 10 GiB of
// memory and 5 GiB of disk.
//
// A and B repeat a block of small integers whose length divides no power of two, so every product is exact and an index
// that lost its upper bits reads another value.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "api/session.h"
#include "compiler/npy.h"
#include "core/problem_string.h"
#include "tests/conformance/counts.h"
#include "tests/support/half_floats.h"
#include "tests/support/kernel_call.h"
#include "tests/support/random_problem.h"
#include "tests/support/repeated_mapping.h"
#include "tests/support/temporary_folder.h"

namespace gemmc::testing {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kTwoTo31 = int64_t{1} << 31;
constexpr size_t kPage = 4096;
constexpr size_t kBlockPages = 4099;  // a prime
constexpr int64_t kRowStep = 97;      // of the rows and columns of Y that are looked at, besides those at the ends

int64_t value_of(size_t index_in_block) { return static_cast<int64_t>(index_in_block * 2654435761u >> 7 & 7) - 3; }

template <typename T>
T encode(int64_t value) {
  if constexpr (sizeof(T) == 2) return to_bfloat16_bits(static_cast<double>(value));
  return static_cast<T>(value);
}

// Elements of T, of which the i-th is value_of(i modulo the block).
template <typename T>
class Operand {
 public:
  explicit Operand(int64_t elements) : mapping_(static_cast<size_t>(elements) * sizeof(T), block_bytes()) {}
  const void* data() const { return mapping_.data(); }
  static int64_t at(int64_t index) { return value_of(static_cast<size_t>(index) % kElements); }

 private:
  static constexpr size_t kElements = kBlockPages * kPage / sizeof(T);
  static std::span<const uint8_t> block_bytes() {
    static const std::vector<T> block = [] {
      std::vector<T> values(kElements);
      for (size_t i = 0; i < values.size(); ++i) values[i] = encode<T>(value_of(i));
      return values;
    }();
    return {reinterpret_cast<const uint8_t*>(block.data()), block.size() * sizeof(T)};
  }
  RepeatedMapping mapping_;
};

// A large, writable Y that is zero where nothing was written.
class LargeBuffer {
 public:
  explicit LargeBuffer(int64_t bytes) : memory_(static_cast<uint8_t*>(std::calloc(static_cast<size_t>(bytes), 1))) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  ~LargeBuffer() { std::free(memory_); }
  LargeBuffer(const LargeBuffer&) = delete;
  LargeBuffer& operator=(const LargeBuffer&) = delete;
  uint8_t* data() { return memory_; }

 private:
  uint8_t* memory_;
};

int64_t available_memory_gib() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  int64_t kib = 0;
  while (file >> word && word != "MemAvailable:") {
  }
  file >> kib;
  return kib >> 20;
}

::testing::AssertionResult has_gib(int64_t needed, int64_t available, const char* what) {
  if (available >= needed) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << needed << " GiB of " << what << " are needed, found " << available;
}

::testing::AssertionResult has_enough_memory() { return has_gib(10, available_memory_gib(), "free memory"); }

struct LargeCase {
  std::string problem;  // all sizes static; the same is run with the sizes as arguments
  int64_t batch = 1, m, n, k;
  bool trans_a = false, trans_b = false;
  bool b_is_shared = false;  // by the batches
};

std::ostream& operator<<(std::ostream& stream, const LargeCase& large) { return stream << large.problem; }

class LargeTest : public ::testing::TestWithParam<LargeCase> {};

template <typename T>
void run(const LargeCase& large, const Problem& problem) {
  const Target target = *host_target();
  Session session(target);
  const Expected<Session::Result> result = session.kernel(problem);
  ASSERT_TRUE(result) << result.status().message();
  const std::map<std::string, int64_t> sizes = {{"m", large.m}, {"n", large.n}, {"k", large.k}};
  std::vector<int64_t> dims;
  for (const std::string& name : result->dim_names) dims.push_back(sizes.at(name));
  const int64_t b_batches = large.b_is_shared ? 1 : large.batch;
  const Operand<T> a(large.batch * large.m * large.k), b(b_batches * large.k * large.n);
  LargeBuffer memory(large.batch * large.m * large.n * static_cast<int64_t>(sizeof(T)));
  gemmc_call call = make_call(a.data(), b.data(), nullptr, memory.data());
  call.dims = dims.empty() ? nullptr : dims.data();
  ASSERT_EQ(result->kernel->entry()(&call), GEMMC_OK);

  const auto* y = reinterpret_cast<const T*>(memory.data());
  const auto is_looked_at = [](int64_t index, int64_t extent) {
    return extent < 4 * kRowStep || index % kRowStep == 0 || index < 8 || index >= extent - 8;
  };
  int64_t looked_at = 0;
  for (int64_t i = 0; i < large.batch; ++i) {
    for (int64_t row = 0; row < large.m; ++row) {
      if (!is_looked_at(row, large.m)) continue;
      for (int64_t col = 0; col < large.n; ++col) {
        if (!is_looked_at(col, large.n)) continue;
        int64_t expected = 0;
        for (int64_t j = 0; j < large.k; ++j) {
          const int64_t a_index = large.trans_a ? j * large.m + row : row * large.k + j;
          const int64_t b_index = large.trans_b ? col * large.k + j : j * large.n + col;
          expected += Operand<T>::at(i * large.m * large.k + a_index) *
                      Operand<T>::at((large.b_is_shared ? 0 : i) * large.k * large.n + b_index);
        }
        ++looked_at;
        const T found = y[(i * large.m + row) * large.n + col];
        ASSERT_EQ(found, encode<T>(expected)) << "Y[" << i << ", " << row << ", " << col << "]";
      }
    }
  }
  EXPECT_GT(looked_at, 0);
  count_run({"large", problem.dtype, parse_schedule(result->kernel->artifact().schedule)->family, target.level,
             ConformanceRoute::kJit},
            true);
}

template <typename T>
void run_static_and_run_time(const LargeCase& large) {
  const Expected<Problem> problem = parse_problem(large.problem);
  ASSERT_TRUE(problem) << problem.status().message();
  run<T>(large, *problem);
  if (problem->op == Operator::kGemm) run<T>(large, runtime_problem(*problem));
}

TEST_P(LargeTest, IsRight) {
  ASSERT_TRUE(has_enough_memory());
  const LargeCase& large = GetParam();
  const bool is_16_bit = large.problem.find("bf16") != std::string::npos;
  is_16_bit ? run_static_and_run_time<uint16_t>(large) : run_static_and_run_time<int32_t>(large);
}

// 65543 x 32771 elements are more than 2^31; so are the single dimensions.
INSTANTIATE_TEST_SUITE_P(
    Directions, LargeTest,
    ::testing::Values(
        LargeCase{.problem = "gemm bf16 m=65543 n=2 k=32771", .m = 65543, .n = 2, .k = 32771},
        LargeCase{.problem = "gemm bf16 m=65543 n=2 k=32771 ta", .m = 65543, .n = 2, .k = 32771, .trans_a = true},
        LargeCase{.problem = "gemm bf16 m=2 n=65543 k=32771", .m = 2, .n = 65543, .k = 32771},
        LargeCase{.problem = "gemm bf16 m=2 n=65543 k=32771 tb", .m = 2, .n = 65543, .k = 32771, .trans_b = true},
        LargeCase{.problem = "gemm i32 m=2 n=65543 k=32771", .m = 2, .n = 65543, .k = 32771},
        LargeCase{.problem = "gemm bf16 m=65543 n=32771 k=3", .m = 65543, .n = 32771, .k = 3},
        LargeCase{.problem = "gemm bf16 m=2147483659 n=1 k=1", .m = kTwoTo31 + 11, .n = 1, .k = 1},
        LargeCase{.problem = "gemm bf16 m=1 n=2147483659 k=1", .m = 1, .n = kTwoTo31 + 11, .k = 1},
        LargeCase{.problem = "gemm i32 m=1 n=1 k=2147483659", .m = 1, .n = 1, .k = kTwoTo31 + 11},
        LargeCase{.problem = "matmul bf16 a=2147483659x1x1 b=1x1",
                  .batch = kTwoTo31 + 11,
                  .m = 1,
                  .n = 1,
                  .k = 1,
                  .b_is_shared = true},
        LargeCase{.problem = "matmul i32 a=3x40009x11 b=3x11x20011", .batch = 3, .m = 40009, .n = 20011, .k = 11}));

// Strides that carry a few elements far apart: more than 2^32 elements between rows of A, columns of B backwards.
TEST(LargeStrides, ReachFarElements) {
  const int64_t far = (int64_t{1} << 32) + 5;
  const std::string words = "gemm f32 m=3 n=2 k=2 sa=" + std::to_string(far) + "x1 sb=1x-" + std::to_string(far);
  const Expected<Problem> problem = parse_problem(words);
  ASSERT_TRUE(problem) << problem.status().message();
  Session session(*host_target());
  const Expected<Session::Result> result = session.kernel(*problem);
  ASSERT_TRUE(result) << result.status().message();
  const auto reserve = [](int64_t elements) {
    void* const memory = mmap(nullptr, static_cast<size_t>(elements) * sizeof(float), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<float*>(memory);
  };
  const int64_t a_elements = 2 * far + 2, b_elements = far + 2;
  float *const a = reserve(a_elements), *const b = reserve(b_elements);
  ASSERT_TRUE(a != nullptr && b != nullptr) << "no address space";
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t k = 0; k < 2; ++k) a[row * far + k] = static_cast<float>(1 + row * 2 + k);
  }
  float* const first_of_b = b + far;
  for (int64_t k = 0; k < 2; ++k) {
    for (int64_t col = 0; col < 2; ++col) first_of_b[k - col * far] = static_cast<float>(10 + k * 2 + col);
  }
  float y[6] = {};
  const gemmc_call call = make_call(a, first_of_b, nullptr, y);
  ASSERT_EQ(result->kernel->entry()(&call), GEMMC_OK);
  // [1 2; 3 4; 5 6] [10 11; 12 13]
  EXPECT_EQ(std::vector<float>(y, y + 6), (std::vector<float>{34, 37, 78, 85, 122, 133}));
  count_run({"large", DType::kFloat32, Family::kGeneral, session.target().level, ConformanceRoute::kJit}, true);
  munmap(a, static_cast<size_t>(a_elements) * sizeof(float));
  munmap(b, static_cast<size_t>(b_elements) * sizeof(float));
}

TEST(LargeArrays, AreReadAndWrittenAsNpy) {
  ASSERT_TRUE(has_enough_memory());
  const TemporaryFolder folder;
  const auto available_bytes = static_cast<int64_t>(std::filesystem::space(folder.path()).available);
  ASSERT_TRUE(has_gib(5, available_bytes / kGiB, "free disk in the temporary folder (TMPDIR)"));
  const std::string path = (folder.path() / "large.npy").string();
  const int64_t elements = 4 * kGiB / 2 + 3;
  {
    Tensor written{DType::kBFloat16, {elements}, std::vector<uint8_t>(static_cast<size_t>(elements) * 2)};
    written.bytes.back() = 0x3f;
    ASSERT_TRUE(write_npy(path, written).is_ok());
  }
  const Expected<Tensor> read = read_npy(path);
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(read->shape, std::vector<int64_t>{elements});
  EXPECT_EQ(read->bytes.size(), static_cast<size_t>(elements) * 2);
  EXPECT_EQ(read->bytes.back(), 0x3f);
}

}  // namespace
}  // namespace gemmc::testing
