#include "compiler/bundle/c_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace gemmc {
namespace {

constexpr size_t kLongestSymbol = 200;  // file names of "lib<name>.so" stay below the usual limit of 255 bytes

constexpr std::string_view kReserved[] = {
    // C99 and C++20
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return",
    "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using",
    "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
    // libc and the start of a program
    "abort", "calloc", "exit", "fma", "fmaf", "free", "linux", "main", "malloc", "memcpy", "memmove", "memset",
    "realloc", "unix"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_identifier_char(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

}  // namespace

std::string c_identifier(std::string_view text) {
  std::string identifier(text.substr(0, kLongestSymbol));
  for (char& c : identifier) {
    if (!is_identifier_char(c)) c = '_';
  }
  if (identifier.empty() || is_digit(identifier[0]) || identifier[0] == '_') identifier.insert(0, "n_");
  return identifier;
}

Status check_symbol(std::string_view symbol) {
  if (symbol.empty() || is_digit(symbol[0]) || !std::all_of(symbol.begin(), symbol.end(), is_identifier_char)) {
    return Status::invalid(
        fmt::format("name '{}' is not a C identifier (allowed: letters, digits and '_', no digit first)", symbol));
  }
  if (symbol.size() > kLongestSymbol) {
    return Status::invalid(fmt::format("name has {} characters (allowed: up to {})", symbol.size(), kLongestSymbol));
  }
  if (symbol[0] == '_') return Status::invalid(fmt::format("name '{}' starts with '_', which C reserves", symbol));
  if (symbol == "gemmc" || symbol.starts_with("gemmc_") || symbol.starts_with("GEMMC_")) {
    return Status::invalid(fmt::format("name '{}' is in gemmc's own name space (gemmc, gemmc_..., GEMMC_...)", symbol));
  }
  if (std::find(std::begin(kReserved), std::end(kReserved), symbol) != std::end(kReserved)) {
    return Status::invalid(fmt::format("name '{}' is a word of C, C++ or libc", symbol));
  }
  return Status::ok();
}

std::string comment_text(std::string_view text) {
  std::string comment;
  for (const char c : text) {
    const char printable = c >= ' ' && c <= '~' ? c : '?';
    const char last = comment.empty() ? ' ' : comment.back();
    const bool makes_mark =
        (last == '*' && printable == '/') || (last == '/' && printable == '*') || (last == '?' && printable == '?');
    if (makes_mark) comment += ' ';
    comment += printable;
  }
  return comment;
}

}  // namespace gemmc
