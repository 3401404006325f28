#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/integration/documents.h"

namespace gemmc::testing {
namespace {

const Toolchain kToolchain = {GEMMC_SOURCE_DIR, GEMMC_COMMAND_DIR, GEMMC_LIBRARY_DIR, GEMMC_SANITIZER};

std::string read_document(const std::string& name) {
  std::ifstream file(kToolchain.source_dir / name);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

size_t count(const std::string& markdown, const std::string& language) {
  const std::vector<CodeBlock> blocks = code_blocks(markdown);
  return std::count_if(blocks.begin(), blocks.end(), [&](const CodeBlock& b) { return b.language == language; });
}

TEST(ReadmeTest, CodeInReadmeRuns) {
  const std::string readme = read_document("README.md");
  EXPECT_EQ(count(readme, "c"), 2u);
  EXPECT_EQ(count(readme, "sh"), 3u);
  EXPECT_EQ(count(readme, "output"), 2u);
  EXPECT_EQ(run_document(readme, kToolchain), "");
}

TEST(ReadmeTest, CodeInKernelAbiRuns) {
  const std::string page = read_document("docs/kernel-abi.md");
  EXPECT_EQ(count(page, "c"), 1u);
  EXPECT_EQ(count(page, "sh"), 2u);
  EXPECT_EQ(count(page, "output"), 1u);
  EXPECT_EQ(run_document(page, kToolchain), "");
}

// Nothing but `faulty` is wrong in the document.
std::string run_with(const std::string& faulty) {
  return run_document("# Title\n\n```sh\ntrue\n```\n\n" + faulty + "\n", kToolchain);
}

TEST(ReadmeTest, FindsCodeThatDoesNotRun) {
  EXPECT_EQ(run_with("```text\nanything\n```"), "");
  EXPECT_EQ(run_with("```sh\necho a\n```\n```output\na\n```"), "");
  EXPECT_EQ(run_with("```sh\necho a\n```\n```output\nb\n```"),
            "line 11: the output block shows\nb\nbut the code printed\na\n");
  EXPECT_EQ(run_with("```sh\nfalse\ntrue\n```").substr(0, 46), "line 8: the sh block failed with status 1:\nfal");
  EXPECT_EQ(run_with("```sh\ntools/no_such_script\n```"),
            "line 8: the sh block names tools/no_such_script, which cannot be run");
  EXPECT_NE(run_with("```c\nint main(void) { return undeclared; }\n```"), "");
  EXPECT_NE(run_with("```c\nint main(void) { return 3; }\n```"), "");
  EXPECT_EQ(run_with("```c\nint main(void) { return 0; }\n```"), "");
  EXPECT_EQ(run_with("```c\n/* one.c */\nint main(void) { return 0; }\n```\n```sh\ncc one.c && ./a.out\n```"), "");
  EXPECT_NE(run_with("```sh\ncc one.c\n```"), "") << "blocks of one document were visible in the next";
}

}  // namespace
}  // namespace gemmc::testing
