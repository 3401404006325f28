// The gemmc command used wrongly: every refusal is one line that names what is wrong and what is allowed, with exit
// status 2, or 1 where a file or the system is at fault.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/integration/command_fixture.h"
#include "tests/support/process.h"

namespace gemmc::testing {
namespace {

namespace fs = std::filesystem;

class CommandUsageTest : public CommandFixture {};

TEST_F(CommandUsageTest, HelpShowsExamplesFirst) {
  const ProcessResult help = gemmc({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_TRUE(has(help.out, "Examples:"));
  EXPECT_LT(help.out.find("Examples:"), help.out.find("Usage:")) << help.out;
  EXPECT_EQ(gemmc({"build", "--help"}).status, 0);
}

TEST_F(CommandUsageTest, WrongUseExitsWithTwo) {
  const std::string p = "gemm f32 m=2 n=3 k=4";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"frobnicate"},
                                             {"list"},
                                             {"list", p, "--frobnicate"},
                                             {"list", p, p},
                                             {"build", p},
                                             {"build", p, "-o", path("out"), "--threads", "4"},
                                             {"run", p}}) {
    const ProcessResult result = gemmc(arguments);
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_TRUE(result.err.starts_with("gemmc: error: ")) << result.err;
  }
}

// What is unknown is told before what is missing, and each word as it was written.
TEST_F(CommandUsageTest, UnknownOptionsAreNamed) {
  const std::string p = "gemm f32 m=2 n=3 k=4";
  EXPECT_EQ(
      failure({"run", p, "-i", "A=a.npy", "-o", "Y=y.npy"}).find("2: gemmc: error: unknown option '-i'; allowed: "),
      0u);
  EXPECT_TRUE(has(failure({"run", p, "-i", "A=a.npy"}), "--input, --output"));
  EXPECT_EQ(failure({"build", p, "-O", "out"}).find("2: gemmc: error: unknown option '-O'; allowed: "), 0u);
  EXPECT_EQ(failure({"list", p, "--nod", "fc1"}).find("2: gemmc: error: unknown option '--nod'; allowed: "), 0u);
  EXPECT_EQ(failure({"list", p, "second", "third"})
                .find("2: gemmc: error: unexpected word 'second'; a problem string is one word, in quotes ("),
            0u);
  EXPECT_EQ(failure({"build", p, "--weights", "-o", "out"})
                .find("2: gemmc: error: --weights needs a value; found the option -o ("),
            0u);
  EXPECT_EQ(failure({"--frob"}).find("2: gemmc: error: unknown option '--frob'; allowed: --help, --version "), 0u);
  EXPECT_EQ(failure({"build", p}).find("2: gemmc: error: --output is required"), 0u);
}

TEST_F(CommandUsageTest, WhatIsNotBuiltYetIsRefusedByName) {
  for (const char* verb : {"tune", "cache", "db", "worker"}) {
    EXPECT_EQ(failure({verb, "anything"}),
              std::string("2: gemmc: error: verb '") + verb +
                  "' is not built yet; allowed: list, build, run, bench, explain, version");
  }
  const std::string p = "gemm f32 m=2 n=3 k=4", out = path("out");
  const char* several =
      "2: gemmc: error: --target x86-64-v3,x86-64-v4: several CPUs in one build are not built yet; allowed: one target";
  EXPECT_EQ(failure({"build", p, "-o", out, "--target", "x86-64-v3,x86-64-v4"}), several);
  EXPECT_EQ(failure({"build", p, "-o", out, "--target", "x86-64-v3", "--target", "x86-64-v4"}), several);
  EXPECT_TRUE(has(failure({"build", p, "-o", out, "--target", "aarch64"}), "not built yet"));
  EXPECT_TRUE(has(failure({"build", p + " storage=a:bf16", "-o", out}), "not built yet"));
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(CommandUsageTest, WhatOnlyModelsHaveIsRefusedElsewhere) {
  const std::string json = R"({"op_type": "MatMul", "inputs": [{"dtype": "float32", "shape": [2, 3]},
                                                               {"dtype": "float32", "shape": [3, 4]}]})";
  for (const std::string& source : {std::string("gemm f32 m=2 n=3 k=4"), json}) {
    for (const char* option : {"--fuse", "--narrow"}) {
      EXPECT_EQ(failure({"explain", source, option}).find(std::string("2: gemmc: error: ") + option + " is for models"),
                0u)
          << failure({"explain", source, option});
    }
  }
}

TEST_F(CommandUsageTest, WrongValuesAreNamedWithWhatIsAllowed) {
  const std::string p = "gemm f32 m=?rows n=3 k=4", out = path("out");
  EXPECT_EQ(failure({"list", "nonsense"}).substr(0, 45), "2: gemmc: error: 'nonsense' is not a source; ");
  EXPECT_TRUE(has(failure({"list", "gemm f32 m=2 n=3 k=4 frob=1"}), "frob"));
  EXPECT_EQ(failure({"list", p, "--dim", "seq=3"}),
            "2: gemmc: error: --dim seq: no run-time dimension has this name; allowed: rows");
  EXPECT_EQ(
      failure({"list", p, "--dim", "rows=-3"}),
      "2: gemmc: error: --dim rows=-3; allowed: one NAME=SIZE, the size an integer from 0 to 2^63-1; repeat --dim "
      "for more names");
  for (const char* wrong : {"rows=1e9", "rows=9223372036854775808"}) {
    EXPECT_EQ(failure({"list", p, "--dim", wrong}).find(std::string("2: gemmc: error: --dim ") + wrong + "; allowed: "),
              0u);
  }
  EXPECT_EQ(failure({"list", p, "--dim", "rows=2,seq=8"}),
            "2: gemmc: error: --dim rows=2,seq: no run-time dimension has this name; allowed: rows");
  for (const char* wrong : {"many", "0", "-1", "", "4097", "99999999999999999999"}) {
    EXPECT_EQ(failure({"run", p, "--output", "Y=" + path("y.npy"), "--threads", wrong}),
              std::string("2: gemmc: error: --threads '") + wrong + "'; allowed: 1 to 4096");
  }
  EXPECT_EQ(failure({"list", p, "--dim", "rows"}), "2: gemmc: error: --dim rows; allowed: --dim NAME=VALUE");
  EXPECT_TRUE(has(failure({"list", model(), "--dim", "nothing=3"}), "nothing"));
  EXPECT_EQ(failure({"list", model(), "--node", "fc9"}),
            "2: gemmc: error: no node 'fc9' in " + path("tiny.onnx") + "; allowed: fc1, fc2, quantized");
  EXPECT_TRUE(has(failure({"build", p, "-o", out, "--target", "pentium"}), "pentium"));
  EXPECT_EQ(
      failure({"build", p, "-o", out, "--name", "a b"}),
      "2: gemmc: error: --name: name 'a b' is not a C identifier; allowed: letters, digits and '_', no digit first");
  EXPECT_TRUE(has(failure({"list", write("bad.onnx", "no model")}), path("bad.onnx")));
  EXPECT_TRUE(failure({"list", write("bad.json", "{\"op_type\": ")})
                  .starts_with("2: gemmc: error: " + path("bad.json") + ": not valid JSON"));
  EXPECT_EQ(failure({"list", write("field.json", R"({"name": "fc1", "transB": 1})")})
                .find("2: gemmc: error: " + path("field.json") + ": unknown field 'transB'; allowed: name, "),
            0u);
}

TEST_F(CommandUsageTest, FilesThatCannotBeUsedExitWithOneAndAreNamed) {
  for (const char* name : {"missing.onnx", "missing.json"}) {
    const std::string error = failure({"list", path(name)});
    EXPECT_TRUE(error.starts_with("1: gemmc: error: ") && has(error, path(name))) << error;
  }
  fs::create_directory(path("folder.json"));
  EXPECT_EQ(failure({"list", path("folder.json")}),
            "1: gemmc: error: cannot read " + path("folder.json") + ": not a regular file");
  const std::string in_a_file = write("file", "x") + "/out";
  const std::string error = failure({"build", "gemm f32 m=2 n=3 k=4", "-o", in_a_file});
  EXPECT_TRUE(error.starts_with("1: gemmc: error: cannot create directory ") && has(error, in_a_file)) << error;
  const ProcessResult full = run_shell("exec \"$1\" version > /dev/full", {GEMMC_COMMAND});
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(full.err, "gemmc: error: cannot write to standard output\n");
  // Longer than the stream's buffer, so that writing fails before the end.
  const ProcessResult piped = run_shell("\"$1\" explain 'gemm f32 m=64 n=64 k=64' --all > /dev/full", {GEMMC_COMMAND});
  EXPECT_EQ(piped.status, 1);
  EXPECT_EQ(piped.err, "gemmc: error: cannot write to standard output\n");
  const std::string m = array("m.npy", {1, 1}, {1});
  const ProcessResult pipe =
      run_shell("\"$1\" run 'matmul f32 a=1x1 b=1x1' --input A=\"$2\" --input B=\"$2\" --output Y=/dev/stdout | cat",
                {GEMMC_COMMAND, m});
  EXPECT_EQ(pipe.err, "gemmc: error: /dev/stdout: cannot be written: not a file\n");
}

TEST_F(CommandUsageTest, AnEmptyWordIsNotAMissingOption) {
  const std::string p = "gemm f32 m=2 n=3 k=4";
  EXPECT_TRUE(failure({"build", p, "-o", path("out"), "--name", ""}).starts_with("2: gemmc: error: --name: name ''"));
  EXPECT_TRUE(failure({"explain", p, "--schedule", ""}).starts_with("2: gemmc: error: schedule is empty"));
  EXPECT_TRUE(failure({"list", model(), "--node", ""}).starts_with("2: gemmc: error: no node '' in "));
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(CommandUsageTest, AnUnknownVerbIsNamed) {
  EXPECT_EQ(failure({"frob"}),
            "2: gemmc: error: verb 'frob'; allowed: list, build, run, bench, explain, version (gemmc "
            "--help shows examples)");
  EXPECT_TRUE(failure({""}).starts_with("2: gemmc: error: verb ''; allowed: list, "));
}

TEST_F(CommandUsageTest, NamesFromModelsCannotAddLines) {
  const std::string json = R"({"name": "a\nb\u001b[31m", "op_type": "MatMul", "inputs": [
    {"name": "A", "dtype": "float32", "shape": [3, 4]}, {"name": "B", "dtype": "float32", "shape": [5, 2]}]})";
  const ProcessResult result = gemmc({"build", json, "-o", path("out")});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_FALSE(has(result.err, "\x1b"));
}

}  // namespace
}  // namespace gemmc::testing
