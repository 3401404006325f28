#include "core/text.h"

#include <gtest/gtest.h>

#include "core/status.h"

namespace gemmc {
namespace {

TEST(Text, PrintableIsValidUtf8WithoutControls) {
  const std::pair<std::string, size_t> kCases[] = {
      {"a", 1},
      {" ", 1},
      {"~", 1},
      {"é", 2},
      {"€", 3},
      {"😀", 4},
      {"", 0},
      {"\n", 0},
      {"\x7f", 0},
      {"\u202e", 0},  // turns the direction of what follows
      {"\u2066", 0},
      {"\u061c", 0},
      {"\u2010", 3},
      {std::string(1, '\0'), 0},
      {"\xc2\x80", 0},
      {"\xc2\xa0", 2},
      {"\xe2\x80\xa8", 0},
      {"\xe2\x80\xa9", 0},
      {"\x80", 0},
      {"\xc3", 0},
      {"\xc3(", 0},
      {"\xc0\x80", 0},
      {"\xc1\xbf", 0},
      {"\xe0\x80\xaf", 0},
      {"\xed\xa0\x80", 0},
      {"\xf4\x90\x80\x80", 0},
      {"\xf8\x88\x80\x80\x80", 0},
      {"\xff", 0},
  };
  for (const auto& [text, length] : kCases) EXPECT_EQ(printable_length(text), length) << one_line(text, 80);
}

TEST(Text, OneLineEscapesAndCuts) {
  EXPECT_EQ(one_line("größe\n\t\xff", 80), "größe\\x0a\\x09\\xff");
  EXPECT_EQ(one_line("abcdef", 6), "abcdef");
  EXPECT_EQ(one_line("abcdef", 3), "abc...");
  EXPECT_EQ(one_line("ab€cd", 3), "ab€...") << "characters stay whole";
  EXPECT_EQ(in_quotes("a\nb"), "'a\\x0ab'");
  EXPECT_LT(in_quotes(std::string(100000, 'a')).size(), 100u);
}

TEST(Text, PercentCodingIsReversible) {
  std::string every_byte;
  for (int c = 0; c < 256; ++c) every_byte += static_cast<char>(c);
  for (const std::string& text : {every_byte, std::string("größe (100%)"), std::string()}) {
    const std::string encoded = percent_encoded(text, "()");
    EXPECT_EQ(encoded.find_first_of(" ()\n\t"), std::string::npos) << encoded;
    EXPECT_EQ(percent_decoded(encoded), text);
  }
  EXPECT_EQ(percent_encoded("a b%(c,é", "("), "a%20b%25%28c,é");
  EXPECT_EQ(percent_decoded("%2f%2F"), "//");
  for (const char* bad : {"%", "%2", "%2g", "%g2", "% 2", "%-2", "a%"})
    EXPECT_EQ(percent_decoded(bad), std::nullopt) << bad;
}

TEST(Text, IntegersAreExactOrNothing) {
  EXPECT_EQ(parse_int64("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parse_int64("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(parse_int64("007"), 7);
  for (const char* bad : {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "9223372036854775808", "1e3"}) {
    EXPECT_EQ(parse_int64(bad), std::nullopt) << bad;
  }
}

TEST(Text, WordsStandBetweenSpacesAndTabs) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(split_words("a bc"), (Words{"a", "bc"}));
  EXPECT_EQ(split_words(" \ta \t b\t"), (Words{"a", "b"}));
  EXPECT_EQ(split_words("a\nb"), (Words{"a\nb"})) << "a line break is part of a word";
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(split_words(" \t "), Words{});
}

TEST(Status, MessageIsOneLineAndNamesTheNodeOnce) {
  const Status status = Status::invalid("bad\nname").with_node("fc\n1").with_node("fc\n1");
  EXPECT_EQ(status.message(), "bad\\x0aname (node 'fc\\x0a1')");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Status::invalid("bad").with_node("").message(), "bad");
  EXPECT_TRUE(Status::ok().with_node("fc1").is_ok());
  EXPECT_LT(Status::invalid(std::string(1 << 20, 'a')).with_node(std::string(1 << 20, 'b')).message().size(), 5000u);
}

}  // namespace
}  // namespace gemmc
