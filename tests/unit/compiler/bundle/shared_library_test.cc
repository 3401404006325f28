#include "compiler/bundle/shared_library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace gemmc {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

// Sets PATH for one scope.
class PathIs {
 public:
  explicit PathIs(const std::string& path) : old_(std::getenv("PATH")) { setenv("PATH", path.c_str(), 1); }
  ~PathIs() { setenv("PATH", old_.c_str(), 1); }

 private:
  std::string old_;
};

void write_program(const fs::path& path, const std::string& script) {
  std::ofstream(path) << "#!/bin/sh\n" << script;
  fs::permissions(path, fs::perms::owner_all);
}

// Links libx.so with this program, in the program's folder.
Status link_with(const fs::path& cc) {
  const fs::path folder = cc.parent_path();
  return link_shared_library(cc, "x.a", "libx.so", folder / "libx.so");
}

TEST(FindProgram, TakesTheFirstExecutableFileOnPath) {
  const TemporaryFolder folder;
  for (const char* name : {"no_file", "directory", "data", "good"}) fs::create_directory(folder.path() / name);
  fs::create_directory(folder.path() / "directory" / "cc");
  std::ofstream(folder.path() / "data" / "cc") << "not executable";
  write_program(folder.path() / "good" / "cc", "exit 0\n");
  const std::string p = folder.path().string();
  const PathIs path(":relative::" + p + "/no_file:" + p + "/directory:" + p + "/data:" + p + "/good:/usr/bin");
  EXPECT_EQ(find_program("cc"), folder.path() / "good" / "cc");
  EXPECT_EQ(find_program("no_such_program"), std::nullopt);
}

TEST(FindProgram, FindsNothingOnAnEmptyPath) {
  const PathIs path("");
  EXPECT_EQ(find_program("cc"), std::nullopt);
}

TEST(LinkSharedLibrary, AFailureQuotesTheLinkersFirstLine) {
  const TemporaryFolder folder;
  const fs::path cc = folder.path() / "cc";
  write_program(cc, "echo first line; echo second >&2; exit 3\n");
  const Status status = link_with(cc);
  EXPECT_EQ(status.code(), StatusCode::kEnvironment);
  EXPECT_EQ(status.message(), cc.string() + " could not link libx.so: exit status 3: first line");
}

TEST(LinkSharedLibrary, TheMessageNeedsNoRoomBesideTheOutput) {
  const TemporaryFolder folder;
  const fs::path cc = folder.path() / "cc";
  write_program(cc, "echo no space left >&2; exit 1\n");
  const Status status = link_shared_library(cc, "x.a", "libx.so", folder.path() / "none" / "libx.so");
  EXPECT_EQ(status.message(), cc.string() + " could not link libx.so: exit status 1: no space left");
}

TEST(LinkSharedLibrary, ASilentFailureSaysSo) {
  const TemporaryFolder folder;
  const fs::path cc = folder.path() / "cc";
  write_program(cc, "exit 1\n");
  const Status status = link_with(cc);
  EXPECT_EQ(status.message(), cc.string() + " could not link libx.so: exit status 1: no message");
}

TEST(LinkSharedLibrary, ALinkerThatWritesNothingHasFailed) {
  const TemporaryFolder folder;
  const fs::path cc = folder.path() / "cc";
  write_program(cc, "exit 0\n");
  const Status status = link_with(cc);
  EXPECT_EQ(status.code(), StatusCode::kEnvironment);
  EXPECT_EQ(status.message(), cc.string() + " ended well, but did not write libx.so");
}

TEST(LinkSharedLibrary, APartialProgramIsAnEnvironmentError) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "cc") << "";
  const Status status = link_with(folder.path() / "cc");
  EXPECT_EQ(status.code(), StatusCode::kEnvironment);
  EXPECT_NE(status.message().find("cannot run " + (folder.path() / "cc").string()), std::string::npos);
}

}  // namespace
}  // namespace gemmc
