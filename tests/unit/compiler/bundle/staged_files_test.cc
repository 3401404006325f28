#include "compiler/bundle/staged_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.h"

namespace gemmc {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

size_t entries(const fs::path& path) { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }

TEST(StagedFiles, AppearTogetherAtCommit) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "new" / "deep";
  auto files = StagedFiles::create(target);
  ASSERT_TRUE(files) << files.status().message();
  ASSERT_TRUE(files->write("one", "1").is_ok());
  ASSERT_TRUE(files->write("two", std::string("\0binary", 7)).is_ok());
  EXPECT_FALSE(fs::exists(target / "one"));
  const auto written = files->commit();
  ASSERT_TRUE(written) << written.status().message();
  EXPECT_EQ(*written, (std::vector<fs::path>{target / "one", target / "two"}));
  EXPECT_EQ(read(target / "one"), "1");
  EXPECT_EQ(read(target / "two"), std::string("\0binary", 7));
  EXPECT_EQ(entries(target), 2u) << "something else was left behind";
}

TEST(StagedFiles, WithoutCommitNothingIsLeft) {
  const TemporaryFolder folder;
  {
    auto files = StagedFiles::create(folder.path() / "new" / "deep");
    ASSERT_TRUE(files);
    ASSERT_TRUE(files->write("one", "1").is_ok());
  }
  EXPECT_EQ(entries(folder.path()), 0u);
}

TEST(StagedFiles, ReplacesOldFilesAndKeepsOthers) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "one") << "old";
  std::ofstream(folder.path() / "other") << "kept";
  auto files = StagedFiles::create(folder.path());
  ASSERT_TRUE(files);
  ASSERT_TRUE(files->write("one", "new").is_ok());
  EXPECT_EQ(read(folder.path() / "one"), "old");
  ASSERT_TRUE(files->commit());
  EXPECT_EQ(read(folder.path() / "one"), "new");
  EXPECT_EQ(read(folder.path() / "other"), "kept");
}

TEST(StagedFiles, FailuresNameThePath) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  const auto under_a_file = StagedFiles::create(folder.path() / "file" / "sub");
  ASSERT_FALSE(under_a_file);
  EXPECT_EQ(under_a_file.status().code(), StatusCode::kEnvironment);
  EXPECT_NE(under_a_file.status().message().find((folder.path() / "file" / "sub").string()), std::string::npos);

  fs::create_directory(folder.path() / "taken");
  auto files = StagedFiles::create(folder.path());
  ASSERT_TRUE(files);
  ASSERT_TRUE(files->write("first", "1").is_ok());
  ASSERT_TRUE(files->write("taken", "2").is_ok());
  const auto written = files->commit();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.status().code(), StatusCode::kEnvironment);
  EXPECT_NE(written.status().message().find((folder.path() / "taken").string()), std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path() / "first")) << "a part of the files was put in place";
}

// In a process of its own, which may write no file longer than 1000 bytes: what a full disk looks like.
[[noreturn]] void write_to_a_full_disk(const fs::path& folder) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {1000, 1000};
  setrlimit(RLIMIT_FSIZE, &limit);
  Status status;
  {
    auto files = StagedFiles::create(folder / "new");
    status = files->write("small", "1");
    if (status.is_ok()) status = files->write("large", std::string(2000, 'x'));
  }
  fputs(status.message().c_str(), stderr);
  std::_Exit(status.code() == StatusCode::kEnvironment && entries(folder) == 0 ? 0 : 1);
}

TEST(StagedFiles, AFullDiskLeavesNothing) {
  const TemporaryFolder folder;
  EXPECT_EXIT(write_to_a_full_disk(folder.path()), ::testing::ExitedWithCode(0),
              "cannot write .*/new/large: File too large");
}

}  // namespace
}  // namespace gemmc
