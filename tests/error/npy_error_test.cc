// .npy files that are wrong: one clear line each, with the file's path.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <random>

#include "compiler/npy.h"
#include "tests/support/temporary_folder.h"

namespace gemmc {
namespace {

class NpyError : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "a.npy"; }

  Status status_of_file(const std::string& content) const {
    std::ofstream(path(), std::ios::binary) << content;
    const Expected<Tensor> tensor = read_npy(path());
    return tensor ? Status::ok() : tensor.status();
  }

  static std::string file(const std::string& header, size_t value_bytes) {
    std::string text("\x93NUMPY\x01\0", 8);
    text += static_cast<char>(header.size() & 0xff);
    text += static_cast<char>(header.size() >> 8);
    return text + header + std::string(value_bytes, '\0');
  }

  testing::TemporaryFolder folder_;
};

TEST_F(NpyError, NamesWhatIsWrongAndAllowed) {
  const auto descr = [](const std::string& word) {
    return file("{'descr': " + word + ", 'fortran_order': False, 'shape': (2,), }", 8);
  };
  const auto shape = [](const std::string& word, size_t bytes) {
    return file("{'descr': '<f4', 'fortran_order': False, 'shape': " + word + ", }", bytes);
  };
  const std::string good = shape("(2,)", 8);
  ASSERT_TRUE(status_of_file(good).is_ok());
  const std::pair<std::string, std::string> kCases[] = {
      {"", "ends within the header"},
      {"PK\x03\x04 some other file", "not a .npy file"},
      {good.substr(0, 9), "ends within the header"},
      {good.substr(0, 20), "ends within the header"},
      {good.substr(0, good.size() - 1), "7 bytes of values; allowed: 8"},
      {good + "x", "9 bytes of values; allowed: 8"},
      {std::string(good).replace(6, 1, "\x04"), "version 4.0"},
      {std::string(good).replace(6, 1, "\x02"), "ends within the header"},
      {std::string(good).replace(7, 1, "\x01"), "version 1.1"},
      {std::string(good).replace(8, 2, "\xff\xff"), "ends within the header"},
      {descr("'>f4'"), "element type '>f4'; allowed: <f2"},
      {descr("'<c8'"), "element type '<c8'"},
      {descr("'|u1'"), "element type '|u1'"},
      {descr("'<V2'"), "<u2 for the bits of bfloat16"},
      {descr("'|O'"), "element type '|O'"},
      {descr("[('a', '<f4')]"), "expected one element type in quotes"},
      {descr("'<f4"), "element type '<f4, '"},
      {shape("(2)", 8), "expected a tuple such as (3,)"},
      {shape("2", 8), "expected '('"},
      {shape("(2,", 8), "malformed header"},
      {shape("(-2,)", 8), "expected a dimension"},
      {shape("(2.0,)", 8), "malformed header"},
      {shape("(2 2)", 8), "malformed header"},
      {shape("(9223372036854775808,)", 8), "expected a dimension of up to 2^63-1"},
      {shape("(4294967296, 4294967296)", 8), "8 bytes of values; allowed: fewer than 2^63"},
      {shape("(2305843009213693953,)", 4), "4 bytes of values"},
      {shape("(0, 9223372036854775807)", 4), "4 bytes of values; allowed: 0"},
      {file("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", 8), "Fortran order; allowed: C order"},
      {file("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", 8), "expected False or True"},
      {file("{'descr': '<f4', 'shape': (2,), }", 8), "lacks a key"},
      {file("{'descr': '<f4', 'descr': '<f4', 'shape': (2,), }", 8), "repeated key 'descr'"},
      {file("{'descr': '<f4', 'color': 1}", 8), "unknown or repeated key 'color'"},
      {file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } more", 8), "nothing after '}'"},
      {file("", 8), "expected '{'"},
      {file(std::string(60000, '('), 8), "expected '{'"},
      {file(std::string("{'a\nb\0'", 7), 8), "malformed header"},
  };
  for (const auto& [content, part] : kCases) {
    const Status status = status_of_file(content);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << part;
    EXPECT_NE(status.message().find(part), std::string::npos) << part << ": " << status.message();
    EXPECT_NE(status.message().find("a.npy: "), std::string::npos) << status.message();
    EXPECT_LT(status.message().size(), 500u);
  }
}

TEST_F(NpyError, WhatCannotBeReadIsTheEnvironment) {
  EXPECT_EQ(read_npy(path()).status().code(), StatusCode::kEnvironment) << "missing";
  EXPECT_EQ(read_npy(folder_.path()).status().code(), StatusCode::kEnvironment) << "a folder";
  EXPECT_EQ(read_npy("/dev/zero").status().code(), StatusCode::kEnvironment) << "endless";
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(read_npy(path()).status().code(), StatusCode::kEnvironment) << "would wait for ever";
  EXPECT_NE(read_npy(path()).status().message().find("a.npy: cannot be read: not a file"), std::string::npos);
}

TEST_F(NpyError, DamagedFilesNeverCrash) {
  const std::string good = file("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1, 3), }", 48);
  ASSERT_TRUE(status_of_file(good).is_ok());
  std::mt19937 random(9);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string content = good;
    for (int edits = 1 + i % 3; edits > 0; --edits) content[random() % 70] = static_cast<char>(random());
    refused += !status_of_file(content).is_ok();
  }
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace gemmc
