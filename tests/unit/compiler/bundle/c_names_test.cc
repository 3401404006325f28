#include "compiler/bundle/c_names.h"

#include <gtest/gtest.h>

namespace gemmc {
namespace {

TEST(CIdentifier, ReplacesWhatCDoesNotAllow) {
  EXPECT_EQ(c_identifier("fc1"), "fc1");
  EXPECT_EQ(c_identifier("/encoder/layer.0/MatMul"), "n__encoder_layer_0_MatMul");
  EXPECT_EQ(c_identifier("3d-model"), "n_3d_model");
  EXPECT_EQ(c_identifier("_x"), "n__x");
  EXPECT_EQ(c_identifier(""), "n_");
  EXPECT_EQ(c_identifier("\xc3\xa4"), "n___");
  EXPECT_LT(c_identifier(std::string(10000, 'a')).size(), 240u);
}

TEST(CIdentifier, IsAlwaysACIdentifierByItsOwnRule) {
  for (const char* text : {"fc1", "/a/b", "3", "_", "", "a b", "x.y"}) {
    const std::string once = c_identifier(text);
    EXPECT_EQ(c_identifier(once), once);
  }
}

TEST(BundleName, IsNoHeaderOrLibraryOfTheSystem) {
  EXPECT_EQ(bundle_name("/a.b"), "n__a_b");
  EXPECT_EQ(bundle_name("fc1"), "fc1");
  for (const char* system : {"c", "m", "math", "stdint", "string"}) {
    EXPECT_EQ(c_identifier(system), system);
    EXPECT_EQ(bundle_name(system), "n_" + std::string(system));
    EXPECT_EQ(bundle_name(bundle_name(system)), bundle_name(system));
  }
}

TEST(CheckSymbol, TakesNamesAndRefusesWhatWouldNotCompileOrLink) {
  for (const char* good : {"fc1", "layer_0", "X", "memcpy2", "a", "y", "t", "INT", "xmath", "x_call", "end"})
    EXPECT_TRUE(check_symbol(good).is_ok()) << good;
  for (const char* bad : {"", "1st", "a b", "a-b", "_x", "int", "template", "main", "memcpy", "linux", "gemmc",
                          // the header's own types and limits, macros, the C library, the system's files
                          "int32_t", "size_t", "my_t", "INT32_MAX", "SIZE_MAX", "INT64_C", "NULL", "EOF", "errno",
                          "assert", "printf", "sin", "write", "read", "environ", "stdin", "select", "fmaf", "malloc",
                          "c", "m", "math", "string", "gemmc_call", "gemmc_x", "GEMMC_OK", "\xc3\xa4"}) {
    const Status status = check_symbol(bad);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << bad;
    EXPECT_NE(status.message().find("name '" + std::string(bad) + "'"), std::string::npos) << status.message();
  }
  EXPECT_FALSE(check_symbol(std::string(1000, 'a')).is_ok());
}

TEST(CommentText, CannotEndOrNestAComment) {
  EXPECT_EQ(comment_text("a*/b"), "a* /b");
  EXPECT_EQ(comment_text("a/*b"), "a/ *b");
  EXPECT_EQ(comment_text("*/*/"), "* / * /");
  EXPECT_EQ(comment_text("?"
                         "?/"),
            "? ?/");
  EXPECT_EQ(comment_text("a\nb\tc\xc3\xa4"), "a?b?c? ?");
}

}  // namespace
}  // namespace gemmc
