// What only a kernel's entry knows: sizes and strides beyond 32 bits, empty operands, refusals.
#include "compiler/thunk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "api/session.h"
#include "core/problem_string.h"
#include "tests/support/kernel_call.h"

namespace gemmc {
namespace {

Session& session() {
  static Session* const shared = new Session(*host_target());
  return *shared;
}

gemmc_kernel_entry entry(const std::string& text) {
  Expected<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.status().message();
  Expected<Session::Result> result = session().kernel(*problem);
  EXPECT_TRUE(result) << text << ": " << result.status().message();
  return result ? result->kernel->entry() : nullptr;
}

// An address space of int32 elements, of which only those that are touched take memory; index 0 is in the middle.
class SparseElements {
 public:
  SparseElements() : bytes_(mmap(nullptr, 2 * kHalfBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0)) {
    EXPECT_NE(bytes_, MAP_FAILED);
  }
  ~SparseElements() { munmap(bytes_, 2 * kHalfBytes); }
  SparseElements(const SparseElements&) = delete;
  SparseElements& operator=(const SparseElements&) = delete;

  int32_t* middle() { return reinterpret_cast<int32_t*>(static_cast<char*>(bytes_) + kHalfBytes); }
  int32_t& at(int64_t index) { return middle()[index]; }

 private:
  static constexpr size_t kHalfBytes = size_t{48} << 30;
  static constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* bytes_;
};

// The strides of a row and of a column of each operand of a 2 x 3 x 2 product.
struct Layout {
  int64_t a_row, a_col, b_row, b_col, c_row, c_col, y_row, y_col;
};

std::string strides_text(const Layout& l) {
  return fmt::format("sa={}x{} sb={}x{} sc={}x{} sy={}x{}", l.a_row, l.a_col, l.b_row, l.b_col, l.c_row, l.c_col,
                     l.y_row, l.y_col);
}

void expect_right_product(const std::string& text, const Layout& l) {
  constexpr int kM = 2, kN = 3, kK = 2;
  SparseElements a, b, c, y;
  for (int m = 0; m < kM; ++m) {
    for (int k = 0; k < kK; ++k) a.at(m * l.a_row + k * l.a_col) = 1 + 2 * m + k;
  }
  for (int k = 0; k < kK; ++k) {
    for (int n = 0; n < kN; ++n) b.at(k * l.b_row + n * l.b_col) = 10 + 3 * k + n;
  }
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) c.at(m * l.c_row + n * l.c_col) = 100 * m + n;
  }
  const int64_t strides[] = {l.a_row, l.a_col, l.b_row, l.b_col, l.c_row, l.c_col, l.y_row, l.y_col};
  gemmc_call call = testing::make_call(a.middle(), b.middle(), c.middle(), y.middle());
  call.strides = strides;
  ASSERT_EQ(entry(text)(&call), GEMMC_OK) << text;
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      int32_t expected = 100 * m + n;
      for (int k = 0; k < kK; ++k) expected += (1 + 2 * m + k) * (10 + 3 * k + n);
      EXPECT_EQ(y.at(m * l.y_row + n * l.y_col), expected)
          << text << " " << strides_text(l) << " at " << m << ", " << n;
    }
  }
}

TEST(Thunk, StridesBeyond32Bits) {
  constexpr int64_t kBig = (int64_t{1} << 31) + 5, kLarge = int64_t{1} << 30;
  const Layout kLayouts[] = {
      {kBig, 1, 5, 1, 5, 1, 5, 1},
      {1, kBig, 5, 1, 5, 1, 5, 1},
      {2, 1, kBig, 1, 5, 1, 5, 1},
      {2, 1, 1, kBig, 5, 1, 5, 1},
      {2, 1, 5, 1, -kBig, 1, 5, 1},
      {2, 1, 5, 1, 1, -kBig, 5, 1},
      {2, 1, 5, 1, 5, 1, kBig, 1},
      {2, 1, 5, 1, 5, 1, 1, -kBig},
      {kLarge, 2 * kLarge, -kLarge, 7, 5, 1, 5, 1},
      {2 * kLarge - 1, 1, 5, 1, 5, 1, kLarge, kLarge + 1},
  };
  for (const Layout& layout : kLayouts) {
    expect_right_product("gemm i32 m=2 n=3 k=2 c=mn sa=?x? sb=?x? sc=?x? sy=?x?", layout);
    expect_right_product("gemm i32 m=2 n=3 k=2 c=mn " + strides_text(layout), layout);
  }
}

// What the kernel returns that is given no operand: touching one would be a fault.
int32_t status_without_operands(const std::string& text, const std::vector<int64_t>& dims) {
  gemmc_call call = testing::make_call(nullptr, nullptr, nullptr, nullptr);
  call.dims = dims.data();
  return entry(text)(&call);
}

// Y has no element, so the other sizes do not matter, and nothing is read.
TEST(Thunk, AnEmptyYIsReadyAtOnce) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  const std::pair<std::string, std::vector<int64_t>> kRows[] = {
      {"gemm f32 m=0 n=4611686018427387904 k=0", {}},
      {"matmul f32 a=4611686018427387904x0x0 b=4611686018427387904x0x5", {}},
      {"gemm f32 m=?m n=?n k=?k", {0, kHuge, kHuge}},
      {"gemm f32 m=?m n=?n k=?k", {kHuge, kHuge, 0}},
      {"matmul f32 a=?bx0x4 b=?bx4x5", {kHuge}},
      {"matmul f32 a=?bx?mx?k b=?cx?kx?n", {kHuge, 0, kHuge, 1, kHuge}},
      {"matmul f32 a=?bx?mx?k b=?cx?kx?n", {0, 5, 5, 1, 5}},
      {"matmul f32 a=4611686018427387904x0x2x3 b=4611686018427387904x0x3x5", {}},
  };
  for (const auto& [text, dims] : kRows) EXPECT_EQ(status_without_operands(text, dims), GEMMC_OK) << text;
}

TEST(Thunk, RefusesACallAndTouchesNothing) {
  const std::pair<std::string, std::vector<int64_t>> kRows[] = {
      {"gemm f32 m=?m n=?n k=?k", {0, 0, -1}},
      {"gemm f32 m=?m n=?n k=?k", {INT64_MIN, 1, 1}},
      {"matmul f32 a=?bx?mx?k b=?cx?kx?n", {2, 1, 1, 3, 1}},
      {"matmul f32 a=?bx?mx?k b=?cx?kx?n", {0, 1, 1, 2, 1}},
      {"matmul f32 a=?bx?mx?k b=?cx?kx?n", {2, 0, 1, 3, 1}},
      {"matmul f32 a=?bx2x3 b=7x3x4", {5}},
  };
  for (const auto& [text, dims] : kRows) {
    EXPECT_EQ(status_without_operands(text, dims), GEMMC_INVALID_ARGUMENT) << text;
  }
}

TEST(Thunk, NumbersThatAreNotThereAreRefused) {
  const int64_t numbers[] = {1, 1};
  gemmc_call call = testing::make_call(nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(entry("gemm f32 m=?m n=2 k=2")(&call), GEMMC_INVALID_ARGUMENT);
  EXPECT_EQ(entry("gemm f32 m=2 n=2 k=2 sa=?x?")(&call), GEMMC_INVALID_ARGUMENT);
  call.dims = numbers;
  EXPECT_EQ(entry("gemm f32 m=?m n=2 k=2 sa=?x?")(&call), GEMMC_INVALID_ARGUMENT);
  call.size_bytes = offsetof(gemmc_call, epilogue) - 1;
  call.strides = numbers;
  EXPECT_EQ(entry("gemm f32 m=?m n=2 k=2 sa=?x?")(&call), GEMMC_INVALID_ARGUMENT);
}

// K = 0: Y is beta * C, A and B are not read.
TEST(Thunk, AnEmptySumIsZero) {
  const float c[] = {1, 2, 3, 4};
  for (const char* text : {"gemm f32 m=2 n=2 k=0 c=mn beta=3", "gemm f32 m=2 n=2 k=?k c=mn beta=3"}) {
    float y[4] = {-1, -1, -1, -1};
    const int64_t k = 0;
    gemmc_call call = testing::make_call(nullptr, nullptr, c, y);
    call.dims = &k;
    EXPECT_EQ(entry(text)(&call), GEMMC_OK) << text;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(y[i], 3 * c[i]) << text;
  }
}

}  // namespace
}  // namespace gemmc
