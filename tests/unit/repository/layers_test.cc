#include <gtest/gtest.h>

#include "tests/unit/repository/layer_rules.h"

namespace gemmc::testing {
namespace {

TEST(LayersTest, NoIncludeGoesAgainstTheArrows) {
  const SourceTree tree = read_source_tree(GEMMC_SOURCE_DIR);
  // The tree was really read: these files are the ones the rules exist for.
  for (const char* path : {"core/problem.h", "schedules/schedule.h", "compiler/compile.h", "runtime/kernel.h",
                           "api/session.h", "include/gemmc/gemmc.h"}) {
    ASSERT_TRUE(tree.contains(path)) << path;
    ASSERT_FALSE(includes(tree.at(path)).empty()) << path;
  }
  EXPECT_EQ(to_text(layer_violations(tree)), "");
}

// A tree of one file whose second line is the include.
std::string violations(const std::string& path, const std::string& include) {
  return to_text(layer_violations({{path, "// Comment.\n#include " + include + "\n"}}));
}

TEST(LayersTest, AcceptsWhatTheArrowsAllow) {
  EXPECT_EQ(violations("core/a.cc", "\"core/problem.h\""), "");
  EXPECT_EQ(violations("core/a.cc", "<vector>"), "");
  EXPECT_EQ(violations("schedules/a.cc", "\"core/problem.h\""), "");
  EXPECT_EQ(violations("compiler/a.cc", "\"schedules/schedule.h\""), "");
  EXPECT_EQ(violations("compiler/a.cc", "\"gemmc/gemmc.h\""), "");
  EXPECT_EQ(violations("compiler/a.cc", "<Halide.h>"), "");
  EXPECT_EQ(violations("compiler/a.cc", "<llvm/IR/Module.h>"), "");
  EXPECT_EQ(violations("compiler/a.cc", "\"onnx.pb.h\""), "");
  EXPECT_EQ(violations("runtime/a.cc", "<llvm/ExecutionEngine/Orc/LLJIT.h>"), "");
  EXPECT_EQ(violations("runtime/a.h", "\"gemmc/gemmc.h\""), "");
  EXPECT_EQ(violations("api/a.cc", "\"compiler/compile.h\""), "");
  EXPECT_EQ(violations("tools/a.cc", "\"compiler/onnx_model.h\""), "");
  EXPECT_EQ(violations("tools/a.cc", "<CLI/CLI.hpp>"), "");
  EXPECT_EQ(violations("core/a.cc", "<xxhash.h>"), "");
  EXPECT_EQ(violations("compiler/a.cc", "<nlohmann/json.hpp>"), "");
  EXPECT_EQ(violations("tools/a.cc", "<nlohmann/json.hpp>"), "");
  EXPECT_EQ(violations("tests/support/a.cc", "<nlohmann/json.hpp>"), "");
  EXPECT_EQ(violations("tests/unit/core/a_test.cc", "<gtest/gtest.h>"), "");
  EXPECT_EQ(violations("tests/unit/core/a_test.cc", "<xxhash.h>"), "");
  for (const char* layer : {"core", "schedules", "compiler", "runtime", "api", "tools", "tests"}) {
    EXPECT_EQ(violations(std::string(layer) + "/a.cc", "<fmt/format.h>"), "");
  }
  EXPECT_EQ(violations("tests/support/half_floats.cc", "\"tests/support/half_floats.h\""), "");
  EXPECT_EQ(violations("tests/unit/compiler/a_test.cc", "<Halide.h>"), "");
  EXPECT_EQ(violations("tests/fuzz/compiler/a_fuzz.cc", "\"onnx.pb.h\""), "");
  EXPECT_EQ(violations("tests/integration/a.c", "\"generated.h\""), "");
  EXPECT_EQ(violations("tests/support/oracle_a.cc", "\"tests/support/oracle.h\""), "");
  EXPECT_EQ(violations("tests/support/oracle_a.cc", "\"tests/support/half_floats.h\""), "");
  EXPECT_EQ(violations("docs/a.md", "\"compiler/compile.h\""), "");
}

TEST(LayersTest, FindsEachKindOfViolation) {
  EXPECT_EQ(violations("core/a.h", "\"schedules/schedule.h\""),
            "core/a.h:2: core may include only core, found \"schedules/schedule.h\"");
  EXPECT_EQ(violations("core/a.h", "<compiler/node.h>"),
            "core/a.h:2: core may include only core, found \"compiler/node.h\"");
  EXPECT_EQ(violations("schedules/a.cc", "\"compiler/compile.h\""),
            "schedules/a.cc:2: schedules may include only core, schedules, found \"compiler/compile.h\"");
  EXPECT_NE(violations("compiler/a.cc", "\"runtime/kernel.h\""), "");
  EXPECT_NE(violations("compiler/a.cc", "\"api/session.h\""), "");
  EXPECT_NE(violations("runtime/a.cc", "\"compiler/compile.h\""), "");
  EXPECT_NE(violations("runtime/a.cc", "\"schedules/schedule.h\""), "");
  EXPECT_NE(violations("api/a.cc", "\"tools/main.h\""), "");
  EXPECT_NE(violations("include/gemmc/a.h", "\"core/status.h\""), "");
  EXPECT_NE(violations("core/a.cc", "\"gemmc/gemmc.h\""), "");
  EXPECT_NE(violations("schedules/a.cc", "\"gemmc/gemmc.h\""), "");
  EXPECT_NE(violations("core/a.cc", "\"tests/support/cases.h\""), "");
  EXPECT_EQ(violations("runtime/a.cc", "<HalideRuntime.h>"),
            "runtime/a.cc:2: only compiler may include Halide, found \"HalideRuntime.h\"");
  EXPECT_EQ(violations("api/a.cc", "<llvm/IR/Module.h>"),
            "api/a.cc:2: only compiler and runtime may include LLVM, found \"llvm/IR/Module.h\"");
  EXPECT_NE(violations("tools/a.cc", "<Halide.h>"), "");
  EXPECT_NE(violations("tests/unit/core/a_test.cc", "<llvm/IR/Module.h>"), "");
  EXPECT_NE(violations("core/a.cc", "<google/protobuf/message.h>"), "");
  EXPECT_NE(violations("tests/fuzz/a_fuzz.cc", "\"onnx.pb.h\""), "");
  EXPECT_NE(violations("compiler/a.cc", "<CLI/CLI.hpp>"), "");
  EXPECT_EQ(violations("runtime/a.cc", "<nlohmann/json.hpp>"),
            "runtime/a.cc:2: only compiler and tests and tools may include nlohmann-json, "
            "found \"nlohmann/json.hpp\"");
  EXPECT_NE(violations("core/a.cc", "<nlohmann/json.hpp>"), "");
  EXPECT_NE(violations("compiler/a.cc", "<xxhash.h>"), "");
  EXPECT_NE(violations("tests/support/a.cc", "<xxhash.h>"), "");
  EXPECT_NE(violations("tools/a.cc", "<gtest/gtest.h>"), "");
  EXPECT_NE(violations("core/a.h", "<gmock/gmock.h>"), "");
  EXPECT_NE(violations("include/gemmc/a.h", "<fmt/format.h>"), "");
  EXPECT_NE(violations("tests/support/half_floats.cc", "\"core/dtype.h\""), "");
  EXPECT_NE(violations("tests/support/half_floats.h", "\"tests/support/random.h\""), "");
  EXPECT_EQ(violations("tests/support/oracle.cc", "\"core/dtype.h\""),
            "tests/support/oracle.cc:2: the oracle shares no code with the library, found \"core/dtype.h\"");
  EXPECT_EQ(violations("stray.cc", "<vector>"), "stray.cc:1: code outside the layers' folders");
  EXPECT_EQ(to_text(layer_violations({{"compiler/a.cc", "#include <Halide.h>\n#include <llvm/IR/Module.h>\n"}})),
            "compiler/a.cc:1: Halide and LLVM may not meet in one source");
}

TEST(LayersTest, FindsShortenedNames) {
  const auto found = [](const std::string& include) {
    return to_text(
        layer_violations({{"core/a.cc", "#include \"" + include + "\"\n"}, {"core/b.h", ""}, {"api/c.h", ""}}));
  };
  EXPECT_EQ(found("core/b.h"), "");
  EXPECT_EQ(found("generated.h"), "");
  EXPECT_EQ(found("b.h"), "core/a.cc:1: includes are written from the repository's root, found \"b.h\"");
  EXPECT_NE(found("../api/c.h"), "");
}

TEST(LayersTest, ReadsDirectivesInEverySpelling) {
  const std::vector<Include> found = includes("#include <a>\n  #  include \"b/c.h\"  // why\n// #include <d>\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_FALSE(found[0].is_quoted);
  EXPECT_EQ(found[1].name, "b/c.h");
  EXPECT_TRUE(found[1].is_quoted);
  EXPECT_EQ(found[1].line, 2u);
}

}  // namespace
}  // namespace gemmc::testing
