// What the tests of the gemmc command share: a folder of their own for the files that it reads and writes.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/process.h"
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

  // `gemmc build` into the folder "out", with this script as the only `cc`, which finds `signal` in $SIGNAL.
  ProcessResult build_with_cc(const std::string& script, const std::string& signal = "") const {
    std::filesystem::create_directory(path("bin"));
    std::filesystem::permissions(write("bin/cc", "#!/bin/sh\n" + script), std::filesystem::perms::owner_all);
    return run_shell("SIGNAL=$4 PATH=\"$3\" exec \"$1\" build 'gemm f32 m=2 n=3 k=4' --name small -o \"$2\"",
                     {GEMMC_COMMAND, path("out"), path("bin"), signal});
  }

  TemporaryFolder folder_;
};

}  // namespace gemmc::testing
