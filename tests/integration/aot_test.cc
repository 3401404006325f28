// What `gemmc build` writes, used as its users do: by a C compiler that knows nothing of gemmc.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>

#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace gemmc::testing {
namespace {

namespace fs = std::filesystem;

const std::vector<std::pair<std::string, std::string>> kKernels = {
    {"layer", "gemm f32 m=23 n=37 k=19 tb c=n alpha=2"},
    {"batched", "matmul i32 a=?batchx?rowsx6 b=?batchx6x4"},
    {"free_form", "gemm f64 m=?rows n=?columns k=?depth c=*"},
    {"strided", "gemm f32 m=3 n=5 k=4 sy=?x1"},
};

ProcessResult build(const std::string& source, const std::string& name, const fs::path& folder) {
  return run_process({GEMMC_COMMAND, "build", source, "--name", name, "-o", folder.string()});
}

class AotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, problem] : kKernels) {
      const ProcessResult result = build(problem, name, out());
      ASSERT_EQ(result.status, 0) << result.err;
    }
  }
  fs::path out() const { return folder_.path() / "out"; }

  // Compiles the program, runs it, and says what it printed.
  std::string program(std::vector<std::string> compiler, const std::vector<std::string>& libraries) {
    const std::string binary = (folder_.path() / "program").string();
    for (const char* option : {"-Wall", "-Wextra", "-Werror", "-pedantic"}) compiler.push_back(option);
    compiler.insert(compiler.end(), {"-I" + out().string(), GEMMC_USER_PROGRAM, "-o", binary, "-x", "none"});
    compiler.insert(compiler.end(), libraries.begin(), libraries.end());
    const ProcessResult compiled = run_process(compiler);
    if (compiled.status != 0) return compiled.err;
    const ProcessResult result = run_process({binary});
    return result.status == 0 ? result.out : "failed: " + result.out + result.err;
  }

  // The libraries that the dynamic linker has to find, from `readelf -d`.
  std::vector<std::string> needed(const fs::path& file) {
    const ProcessResult result =
        run_shell("readelf -d \"$1\" | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p'", {file.string()});
    EXPECT_EQ(result.status, 0) << result.err;
    std::vector<std::string> names;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) names.push_back(line);
    return names;
  }

  TemporaryFolder folder_;
};

const std::vector<std::string> kC99 = {"cc", "-std=c99", "-x", "c"};
const std::vector<std::string> kCxx = {"c++", "-std=c++17", "-x", "c++"};

TEST_F(AotTest, AProgramLinksTheStaticLibraries) {
  std::vector<std::string> libraries;
  for (const auto& [name, problem] : kKernels) libraries.push_back((out() / ("lib" + name + ".a")).string());
  EXPECT_EQ(program(kC99, libraries), "all right\n");
  EXPECT_EQ(needed(folder_.path() / "program"), std::vector<std::string>{"libc.so.6"});
  EXPECT_EQ(program(kCxx, libraries), "all right\n");
}

TEST_F(AotTest, AProgramLinksTheObjects) {
  std::vector<std::string> objects;
  for (const auto& [name, problem] : kKernels) objects.push_back((out() / (name + ".o")).string());
  EXPECT_EQ(program(kC99, objects), "all right\n");
}

TEST_F(AotTest, AProgramLinksTheSharedLibraries) {
  std::vector<std::string> libraries = {"-L" + out().string(), "-Wl,-rpath," + out().string()};
  for (const auto& [name, problem] : kKernels) libraries.push_back("-l" + name);
  EXPECT_EQ(program(kC99, libraries), "all right\n");
  for (const auto& [name, problem] : kKernels) {
    const std::vector<std::string> of_kernel = needed(out() / ("lib" + name + ".so"));
    EXPECT_TRUE(of_kernel.empty() || of_kernel == std::vector<std::string>{"libc.so.6"})
        << name << ": " << of_kernel[0];
  }
  const std::vector<std::string> of_program = needed(folder_.path() / "program");
  EXPECT_EQ(of_program.size(), kKernels.size() + 1) << "the sonames and libc";
}

// File name -> bytes.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return files;
}

TEST(AotReproducibility, EqualBuildsGiveEqualBytesWhereverTheyAre) {
  const TemporaryFolder first, second;
  const std::string problem = "gemm f32 m=?m n=12 k=9 c=n";
  ASSERT_EQ(run_process({GEMMC_COMMAND, "build", problem, "-o", first.path().string()}).status, 0);
  const ProcessResult elsewhere =
      run_shell("cd \"$1\" && \"$2\" build \"$3\" -o deep/er", {second.path().string(), GEMMC_COMMAND, problem});
  ASSERT_EQ(elsewhere.status, 0) << elsewhere.err;
  const auto one = contents(first.path()), other = contents(second.path() / "deep" / "er");
  ASSERT_EQ(one.size(), 5u);
  ASSERT_EQ(other.size(), 5u);
  for (const auto& [name, bytes] : one) {
    EXPECT_TRUE(other.contains(name)) << name;
    EXPECT_TRUE(other.at(name) == bytes) << name << " differs";
    EXPECT_EQ(bytes.find(first.path().string()), std::string::npos) << name << " holds a path";
  }
}

TEST(AotReproducibility, TheNameAndTargetAreTheUsers) {
  const TemporaryFolder folder;
  const ProcessResult result = run_process({GEMMC_COMMAND, "build", "matmul f32 a=4x4 b=4x4", "--name", "my_kernel",
                                            "--target", "x86-64-v2", "-o", folder.path().string()});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto files = contents(folder.path());
  for (const char* name : {"my_kernel.o", "libmy_kernel.a", "libmy_kernel.so", "my_kernel.h", "manifest.json"}) {
    EXPECT_TRUE(files.contains(name)) << name;
  }
  EXPECT_EQ(files.size(), 5u);
  EXPECT_NE(files.at("my_kernel.h").find("int32_t my_kernel(const float* a"), std::string::npos);
  EXPECT_NE(files.at("manifest.json").find("x86-64-v2"), std::string::npos);
}

}  // namespace
}  // namespace gemmc::testing
