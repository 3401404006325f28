// The reader of the case files: what a test believes about them must be what they say.
#include "tests/support/cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace gemmc::testing {
namespace {

class Cases : public ::testing::Test {
 protected:
  Case read(const std::string& text) const {
    std::ofstream(folder_.path() / "x.json") << text;
    return read_case(folder_.path() / "x.json");
  }

  // A case whose A is `a`.
  static std::string with_a(const std::string& a) {
    return R"({"id": "x", "op": "MatMul", "attrs": {}, "why": "", "inputs": {"A": )" + a +
           R"(, "B": {"dtype": "float32", "shape": [], "data": [1]}}, "expect": {"ok": false, "error_contains_any": ["e"]}})";
  }

  template <typename T>
  std::vector<T> values_of_a(const std::string& a) const {
    const std::vector<uint8_t> bytes = read(with_a(a)).a.tensor.bytes;
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  TemporaryFolder folder_;
};

TEST_F(Cases, AllFilesAreRead) {
  EXPECT_EQ(read_cases("worked").size(), 21u);
  EXPECT_EQ(read_cases("reported").size(), 143u);
  EXPECT_THROW(read_cases("none"), std::exception);
}

TEST_F(Cases, ValuesAreExact) {
  EXPECT_EQ(
      values_of_a<int64_t>(R"({"dtype": "int64", "shape": [2], "data": [9223372036854775807, -9223372036854775808]})"),
      (std::vector<int64_t>{INT64_MAX, INT64_MIN}));
  EXPECT_EQ(values_of_a<uint64_t>(R"({"dtype": "uint64", "shape": [1], "data": [18446744073709551615]})"),
            std::vector<uint64_t>{UINT64_MAX});
  EXPECT_EQ(values_of_a<uint16_t>(R"({"dtype": "float16", "shape": [3], "data": [1.0, "-inf", 65504]})"),
            (std::vector<uint16_t>{0x3c00, 0xfc00, 0x7bff}));
  EXPECT_EQ(values_of_a<uint16_t>(R"({"dtype": "bfloat16", "shape": [2], "data": [-2.0, "inf"]})"),
            (std::vector<uint16_t>{0xc000, 0x7f80}));
  EXPECT_EQ(values_of_a<float>(R"({"dtype": "float32", "shape": [1, 1], "data": [0.1]})"), std::vector<float>{0.1f});
  EXPECT_TRUE(std::isnan(values_of_a<double>(R"({"dtype": "float64", "shape": [1], "data": ["nan"]})")[0]));
}

TEST_F(Cases, WhatDoesNotFitIsAnError) {
  for (const char* a :
       {R"({"dtype": "int32", "shape": [1], "data": [2147483648]})",
        R"({"dtype": "int64", "shape": [1], "data": [9223372036854775808]})",
        R"({"dtype": "uint32", "shape": [1], "data": [-1]})", R"({"dtype": "int32", "shape": [1], "data": [1.0]})",
        R"({"dtype": "bfloat16", "shape": [1], "data": [1.001]})", R"({"dtype": "float32", "shape": [2], "data": [1]})",
        R"({"dtype": "float32", "shape": [1], "data": ["x"]})", R"({"dtype": "float8", "shape": [1], "data": [1]})",
        R"({"dtype": "float32", "shape": [1], "data": [1], "more": 1})"}) {
    EXPECT_THROW(read(with_a(a)), std::runtime_error) << a;
  }
}

TEST_F(Cases, HintsReachTheCase) {
  const std::vector<Case> cases = read_cases("reported");
  const auto named = [&](const std::string& id) {
    for (const Case& test_case : cases) {
      if (test_case.id == id) return test_case;
    }
    throw std::runtime_error("no case " + id);
  };
  EXPECT_EQ(named("lay_strided_A").a.strides, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(named("lay_neg_stride").y_strides, (std::vector<int64_t>{-3, -1}));
  EXPECT_TRUE(named("lay_alias_YC").hints.y_is_c);
  EXPECT_TRUE(named("lay_alias_AB").hints.b_is_a);
  EXPECT_EQ(named("th_concurrent_bf16").hints.repeat, 50);
  const Node node = to_node(named("optC_emptyname_i32"));
  ASSERT_EQ(node.inputs.size(), 3u);
  EXPECT_TRUE(node.inputs[2].is_absent);
  EXPECT_EQ(to_node(named("lay_strided_A")).inputs[0].strides, (Strides{Stride::fixed(1), Stride::fixed(3)}));
}

}  // namespace
}  // namespace gemmc::testing
