#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "tests/unit/repository/hygiene_rules.h"

namespace gemmc::testing {
namespace {

namespace fs = std::filesystem;

const SourceTree& repository() {
  static const SourceTree tree = read_source_tree(GEMMC_SOURCE_DIR);
  return tree;
}

TEST(HygieneTest, TreeWasRead) {
  EXPECT_GT(repository().size(), 100u);
  EXPECT_TRUE(repository().contains("CMakeLists.txt"));
  EXPECT_TRUE(repository().contains("tests/data/workloads/models.json"));
}

TEST(HygieneTest, SourcesAreShort) { EXPECT_EQ(to_text(oversized_sources(repository())), ""); }
TEST(HygieneTest, NothingIsPrivateToAMachine) { EXPECT_EQ(to_text(private_words(repository())), ""); }
TEST(HygieneTest, WhiteSpaceIsClean) { EXPECT_EQ(to_text(whitespace_faults(repository())), ""); }
TEST(HygieneTest, EverySourceIsBuiltAndEveryHeaderUsed) { EXPECT_EQ(to_text(unlisted_sources(repository())), ""); }
TEST(HygieneTest, LinksLeadSomewhere) { EXPECT_EQ(to_text(broken_links(repository())), ""); }

std::string lines(size_t count) { return std::string(count, '\n'); }

TEST(HygieneTest, FindsLongSources) {
  EXPECT_EQ(to_text(oversized_sources({{"core/a.h", lines(200)}, {"core/a.cc", lines(500)}})), "");
  EXPECT_EQ(to_text(oversized_sources({{"core/a.h", lines(201)}})), "core/a.h:201: 201 lines, at most 200");
  EXPECT_EQ(to_text(oversized_sources({{"core/a.cc", lines(501)}})), "core/a.cc:501: 501 lines, at most 500");
  EXPECT_NE(to_text(oversized_sources({{"tools/a.py", lines(501)}})), "");
  EXPECT_EQ(to_text(oversized_sources({{"core/a.cc", "// A table.\n// Long because it is one.\n" + lines(600)}})), "");
  EXPECT_NE(to_text(oversized_sources({{"core/a.cc", lines(600) + "// Long because it is one.\n"}})), "");
}

TEST(HygieneTest, FindsPrivateWords) {
  const std::string slash = "/";
  for (const std::string& text :
       {"see " + slash + "work/main", slash + "root", "'" + slash + "home/someone'", "python3 " + slash + "root/x.py",
        std::string("--index") + "-url x", std::string("..") + slash + "shared/x", "https:" + slash + "/py" + "pi.org",
        std::string("https://mirror/sim") + "ple/six"}) {
    EXPECT_NE(to_text(private_words({{"docs/a.md", "\n" + text + "\n"}})), "") << text;
  }
  for (const std::string& text : {"a" + slash + "work/b", std::string("network/rooted"), std::string("the work/life"),
                                  "${DIR}" + slash + "root", std::string("simple"), slash + "workloads"}) {
    EXPECT_EQ(to_text(private_words({{"docs/a.md", text}})), "") << text;
  }
  EXPECT_EQ(to_text(private_words({{"a.md", "\n" + slash + "root\n"}})),
            "a.md:2: private path or registry host \"" + slash + "root\"");
}

TEST(HygieneTest, FindsWhiteSpaceFaults) {
  EXPECT_EQ(to_text(whitespace_faults({{"a.md", "a\n\nb\n"}, {"empty", ""}})), "");
  EXPECT_EQ(to_text(whitespace_faults({{"a.md", "a\n\tb\n"}})), "a.md:2: tab");
  EXPECT_EQ(to_text(whitespace_faults({{"a.md", "a \n"}})), "a.md:1: white space at the end");
  EXPECT_EQ(to_text(whitespace_faults({{"a.md", "a\r\n"}})), "a.md:1: carriage return");
  EXPECT_EQ(to_text(whitespace_faults({{"a.md", "a\nb"}})), "a.md:2: no newline at the end");
  EXPECT_EQ(to_text(whitespace_faults({{"tests/fuzz/corpus/npy/a", "a\t\r\n "}, {"tests/data/a", "\t"}})), "");
}

TEST(HygieneTest, FindsUnlistedSourcesAndUnusedHeaders) {
  const SourceTree good = {{"core/CMakeLists.txt", "add_library(core a.cc\n  part/b.cc)"},
                           {"CMakeLists.txt", "add_executable(x ${PROJECT_SOURCE_DIR}/tests/c.c)"},
                           {"core/a.cc", "#include \"core/a.h\"\n#include \"gemmc/d.h\"\n"},
                           {"core/a.h", ""},
                           {"include/gemmc/d.h", ""},
                           {"core/part/b.cc", ""},
                           {"tests/c.c", ""}};
  EXPECT_EQ(to_text(unlisted_sources(good)), "");
  SourceTree bad = good;
  bad["core/e.cc"] = "";
  bad["core/part/a.cc"] = "";  // listed by this name, but in another folder
  bad["core/f.h"] = "";
  EXPECT_EQ(to_text(unlisted_sources(bad)),
            "core/e.cc:1: no CMakeLists.txt lists this source\n"
            "core/f.h:1: nothing includes this header\n"
            "core/part/a.cc:1: no CMakeLists.txt lists this source");
}

TEST(HygieneTest, FindsBrokenLinks) {
  SourceTree tree = {
      {"README.md", "[a](docs/a.md) and [b](docs/a.md#part)\n[docs](docs) [web](https://example.org/x)\n"},
      {"docs/a.md", "[up](../README.md) [here](#part)\n"}};
  EXPECT_EQ(to_text(broken_links(tree)), "");
  tree["docs/b.md"] = "\n[a](a.md) [gone](docs/a.md)\n";
  EXPECT_EQ(to_text(broken_links(tree)), "docs/b.md:2: no file \"docs/a.md\"");
}

// A folder that is gone at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "gemmc_hygiene_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(HygieneTest, ReadsATreeWithoutGit) {
  const TemporaryFolder folder;
  for (const char* path : {"core/a.cc", "build/release/b.cc", ".venv/c.py", "core/build/d.cc", "tools/__pycache__/e"}) {
    fs::create_directories((folder.path() / path).parent_path());
    std::ofstream(folder.path() / path) << "text of " << path;
  }
  const SourceTree tree = read_source_tree(folder.path());
  EXPECT_EQ(tree, (SourceTree{{"core/a.cc", "text of core/a.cc"}, {"core/build/d.cc", "text of core/build/d.cc"}}));
}

}  // namespace
}  // namespace gemmc::testing
