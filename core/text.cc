#include "core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gemmc {
namespace {

constexpr size_t kQuotedLimit = 80;

struct Utf8Char {
  size_t length = 0;  // 0: not valid
  uint32_t code = 0;
};

Utf8Char first_char(std::string_view text) {
  constexpr struct {
    uint8_t mask, lead;
    uint32_t smallest;  // shorter forms of a character are not valid
  } kForms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  for (size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    const auto& form = kForms[length - 1];
    if ((byte(0) & form.mask) != form.lead) continue;
    uint32_t code = byte(0) & static_cast<uint8_t>(~form.mask);
    for (size_t i = 1; i < length; ++i) {
      if ((byte(i) & 0xc0) != 0x80) return {};
      code = code << 6 | (byte(i) & 0x3f);
    }
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < form.smallest || code > 0x10ffff || is_surrogate) return {};
    return {length, code};
  }
  return {};
}

}  // namespace

size_t printable_length(std::string_view text) {
  const auto [length, code] = first_char(text);
  const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool is_separator = code == 0x2028 || code == 0x2029;
  // Unicode's Bidi_Control characters: they change the order in which a terminal shows what follows.
  const bool is_direction = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                            (code >= 0x2066 && code <= 0x2069);
  return is_control || is_separator || is_direction ? 0 : length;
}

std::string one_line(std::string_view text, size_t limit) {
  std::string line;
  while (!text.empty()) {
    if (line.size() >= limit) return line + "...";
    if (const size_t length = printable_length(text)) {
      line += text.substr(0, length);
      text.remove_prefix(length);
    } else {
      line += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
      text.remove_prefix(1);
    }
  }
  return line;
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", one_line(text, kQuotedLimit)); }

std::string percent_encoded(std::string_view text, std::string_view special) {
  std::string encoded;
  while (!text.empty()) {
    const bool is_plain = text[0] != '%' && text[0] != ' ' && special.find(text[0]) == std::string_view::npos;
    const size_t length = is_plain ? printable_length(text) : 0;
    if (length > 0) {
      encoded += text.substr(0, length);
    } else {
      encoded += fmt::format("%{:02X}", static_cast<uint8_t>(text[0]));
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return encoded;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    if (text[0] != '%') {
      decoded += text[0];
      text.remove_prefix(1);
      continue;
    }
    uint8_t byte = 0;
    const char* end = text.data() + std::min<size_t>(text.size(), 3);
    const auto [stop, error] = std::from_chars(text.data() + 1, end, byte, 16);
    if (error != std::errc() || stop != text.data() + 3) return std::nullopt;
    decoded += static_cast<char>(byte);
    text.remove_prefix(3);
  }
  return decoded;
}

std::optional<int64_t> parse_int64(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::vector<std::string_view> split_words(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> words;
  size_t start = text.find_first_not_of(kBlanks);
  while (start != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(kBlanks, start), text.size());
    words.push_back(text.substr(start, end - start));
    start = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

}  // namespace gemmc
