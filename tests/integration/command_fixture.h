// What the tests of the gemmc command share: a folder of their own for the files that it reads and writes.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temporary_folder.h"

namespace gemmc::testing {

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class CommandFixture : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  TemporaryFolder folder_;
};

}  // namespace gemmc::testing
