// The gemmc command where something around it fails: the linker, an interrupt, a limit, closed streams.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/npy.h"
#include "tests/integration/command_fixture.h"
#include "tests/support/process.h"

namespace gemmc::testing {
namespace {

namespace fs = std::filesystem;

class CommandEnvironmentTest : public CommandFixture {
 protected:
  std::string zeros(const std::string& name, std::vector<int64_t> shape, size_t count) const {
    const Tensor tensor{DType::kFloat32, std::move(shape), std::vector<uint8_t>(count * sizeof(float))};
    const Status status = write_npy(path(name), tensor);
    EXPECT_TRUE(status.is_ok()) << status.message();
    return path(name);
  }
};

TEST_F(CommandEnvironmentTest, AnInterruptedBuildLeavesNothing) {
  // The signal comes while the linker runs, and again and again: the command ends by it once the files are gone.
  for (const auto& [signal, number] : {std::pair{"INT", 2}, std::pair{"TERM", 15}, std::pair{"HUP", 1}}) {
    const ProcessResult result = build_with_cc("kill -$SIGNAL $PPID\nexit 1\n", signal);
    EXPECT_EQ(result.status, 128 + number) << result.err;
    EXPECT_FALSE(fs::exists(path("out"))) << signal;
  }
}

TEST_F(CommandEnvironmentTest, ALinkerThatHoldsNothingBackIsEndedByAnInterrupt) {
  const ProcessResult result = build_with_cc("kill -TERM $$\nexit 0\n");
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(has(result.err, "could not link libsmall.so: exit status 143")) << result.err;
}

TEST_F(CommandEnvironmentTest, ALinkerThatWritesNothingLeavesNothing) {
  const ProcessResult result = build_with_cc("exit 0\n");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err, "gemmc: error: " + path("bin/cc") + " ended well, but did not write libsmall.so\n");
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(CommandEnvironmentTest, AFileSizeLimitIsAnErrorLikeAnother) {
  // In units of 512 bytes. The compiler's bitcode, which is a file in memory, counts too.
  for (const char* verb : {"build 'gemm f32 m=2 n=3 k=4' -o \"$2\"", "explain 'gemm f32 m=2 n=3 k=4'"}) {
    const ProcessResult result =
        run_shell(std::string("ulimit -f 1; exec \"$1\" ") + verb, {GEMMC_COMMAND, path("out")});
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_TRUE(result.err.starts_with("gemmc: error: files may have 512 bytes (ulimit -f); allowed: 1048576 and more"))
        << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_FALSE(fs::exists(path("out")));
  }
  // 2 MiB: enough for the compiler, not for the 4 MiB of Y.
  const std::string a = zeros("a.npy", {1024, 1}, 1024);
  const std::string b = zeros("b.npy", {1, 1024}, 1024);
  const ProcessResult result = run_shell(
      "ulimit -f 4096; exec \"$1\" run 'gemm f32 m=1024 n=1024 k=1' --input A=\"$2\" --input B=\"$3\" --output "
      "Y=\"$4\"",
      {GEMMC_COMMAND, a, b, path("y.npy")});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_EQ(result.err, "gemmc: error: " + path("y.npy") + ": cannot be written: File too large\n");
  EXPECT_FALSE(fs::exists(path("y.npy")));
}

TEST_F(CommandEnvironmentTest, ASmallStackIsEnough) {
  // In KiB: too small for the compilers, which bring their own. Sanitizers make every frame larger.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const std::string limit = "ulimit -s 1024; ";
#else
  const std::string limit = "ulimit -s 64; ";
#endif
  for (const char* verb : {"build 'matmul f64 a=?bx?mx?k b=?bx?kx?n' -o \"$2\"", "explain 'gemm f32 m=2 n=3 k=4'"}) {
    const ProcessResult result = run_shell(limit + "exec \"$1\" " + verb, {GEMMC_COMMAND, path("out")});
    EXPECT_EQ(result.status, 0) << verb << ": " << result.err;
  }
}

TEST_F(CommandEnvironmentTest, ClosedStreamsChangeNoStatusAndNoFile) {
  const auto status = [&](const std::string& words) {
    return run_shell("exec \"$1\" " + words, {GEMMC_COMMAND, path("file"), path("out")}).status;
  };
  write("file", "");
  const std::string p = "'gemm f32 m=2 n=3 k=4' --name small";
  for (const char* closed : {" 2>&-", " <&- 2>&-", " 2>/dev/full"}) {
    EXPECT_EQ(status(std::string("list nonsense") + closed), 2) << closed;
    EXPECT_EQ(status("build " + p + " -o \"$2\"" + closed), 1) << closed;
    EXPECT_EQ(status("build " + p + " -o \"$3\"" + closed), 0) << closed;
  }
  const std::string header = read("out/small.h");
  // A reader that has gone is like a closed stream.
  const ProcessResult piped = run_shell("{ \"$1\" build " + p + " -o \"$3\" || echo $? > \"$2\"; } | true",
                                        {GEMMC_COMMAND, path("file"), path("out")});
  EXPECT_EQ(read("file"), "1\n") << piped.err;
  EXPECT_EQ(read("out/small.h"), header);
  // With every stream closed the files come first; that nobody can be told of them is the error.
  fs::remove_all(path("out"));
  EXPECT_EQ(status("build " + p + " -o \"$3\" <&- >&- 2>&-"), 1);
  EXPECT_EQ(read("out/small.h"), header);
}

}  // namespace
}  // namespace gemmc::testing
