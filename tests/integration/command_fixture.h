// What the tests of the gemmc command share: running it, and a folder of their own for the files that it reads and
// writes.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compiler/npy.h"
#include "tests/integration/tiny_model.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace gemmc::testing {

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline ProcessResult gemmc(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), GEMMC_COMMAND);
  return run_process(arguments);
}

// The status and the first line of stderr, "2: gemmc: error: ...".
inline std::string failure(const std::vector<std::string>& arguments) {
  const ProcessResult result = gemmc(arguments);
  EXPECT_EQ(result.out, "");
  return std::to_string(result.status) + ": " + result.err.substr(0, result.err.find('\n'));
}

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

  std::string array(const std::string& name, std::vector<int64_t> shape, std::vector<float> values) const {
    Tensor tensor{DType::kFloat32, std::move(shape), std::vector<uint8_t>(values.size() * sizeof(float))};
    if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    const Status status = write_npy(path(name), tensor);
    EXPECT_TRUE(status.is_ok()) << status.message();
    return path(name);
  }
  std::vector<float> values(const std::string& name, const std::vector<int64_t>& shape) const {
    const auto tensor = read_npy(path(name));
    if (!tensor) {
      ADD_FAILURE() << tensor.status().message();
      return {};
    }
    EXPECT_EQ(tensor->dtype, DType::kFloat32);
    EXPECT_EQ(tensor->shape, shape);
    std::vector<float> result(tensor->bytes.size() / sizeof(float));
    if (!result.empty()) std::memcpy(result.data(), tensor->bytes.data(), tensor->bytes.size());
    return result;
  }
  // x (batch, 4) -> fc1 with weights (4, 3) -> y; again -> z; and a product of integers that is refused.
  std::string model() const {
    TinyModel tiny;
    tiny.inputs = {{"x", 1, {"batch", 4}}, {"q", 3, {2, 2}}};
    tiny.weights = {{"w", {4, 3}}, {"w2", {4, 3}}};
    tiny.nodes = {{"MatMul", "fc1", {"x", "w"}, "y"},
                  {"MatMul", "fc2", {"x", "w2"}, "z"},
                  {"MatMulInteger", "quantized", {"q", "q"}, "i"},
                  {"Relu", "relu", {"y"}, "r"}};
    return write("tiny.onnx", encode(tiny));
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
