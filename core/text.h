// Text that users wrote, made safe to show, and numbers read from text exactly. Called by every reader of text and by
// Status, whose messages are one line whatever they quote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gemmc {

// The bytes of the first character of `text`, if it can stand in a line: valid UTF-8, no control character, no line or
// paragraph separator, no mark that turns the direction of what follows. Else 0.
size_t printable_length(std::string_view text);

// The text with everything that is not printable as \xNN, cut at about `limit` bytes with "..." at the end.
std::string one_line(std::string_view text, size_t limit);

// 'text' in quotes and on one line, for messages; long text is cut.
std::string in_quotes(std::string_view text);

// The text with every byte that is not printable, white space, '%' and the characters of `special` as %XX; and back.
// Decoding gives nothing where a '%' is not followed by two hexadecimal digits.
std::string percent_encoded(std::string_view text, std::string_view special);
std::optional<std::string> percent_decoded(std::string_view text);

// The whole text as a decimal integer: no sign but '-', no spaces. Nothing if it is not one, or not in range.
std::optional<int64_t> parse_int64(std::string_view text);

// The parts of the text between spaces and tabs; none is empty.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace gemmc
