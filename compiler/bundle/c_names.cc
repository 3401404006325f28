#include "compiler/bundle/c_names.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

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
    // macros of C's headers and of compilers, and the start of a program
    "EOF", "I", "NULL", "assert", "complex", "errno", "linux", "main", "offsetof", "setjmp", "unix"};

// Headers that <NAME.h> would no longer find, or libraries that -lNAME would no longer find, in programs that look for
// them where the bundle is.
constexpr std::string_view kSystemFiles[] = {
    "assert", "c",         "complex",  "ctype",  "dl",     "errno",  "fcntl",  "fenv",   "float",
    "gcc",    "gemmc",     "inttypes", "iso646", "limits", "locale", "m",      "malloc", "math",
    "memory", "poll",      "pthread",  "rt",     "sched",  "setjmp", "signal", "spawn",  "stdalign",
    "stdarg", "stdatomic", "stdbool",  "stddef", "stdint", "stdio",  "stdlib", "string", "strings",
    "tgmath", "threads",   "time",     "uchar",  "unistd", "util",   "values", "wchar",  "wctype"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A program's own symbol takes the place of the C library's, for the library's callers too.
bool is_in_c_library(const std::string& symbol) {
  for (const char* library : {"libc.so.6", "libm.so.6"}) {
    void* handle = dlopen(library, RTLD_LAZY);
    if (handle == nullptr) continue;
    const bool is_found = dlsym(handle, symbol.c_str()) != nullptr;
    dlclose(handle);
    if (is_found) return true;
  }
  return false;
}

// The types and limits of <stdint.h>, which the emitted header includes; C and POSIX reserve these endings.
bool is_type_or_limit(std::string_view symbol) {
  return symbol.ends_with("_t") || symbol.ends_with("_MAX") || symbol.ends_with("_MIN") || symbol.ends_with("_C");
}

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

std::string bundle_name(std::string_view text) {
  const std::string identifier = c_identifier(text);
  return is_one_of(kSystemFiles, identifier) ? "n_" + identifier : identifier;
}

Status check_symbol(std::string_view symbol) {
  if (symbol.empty() || is_digit(symbol[0]) || !std::all_of(symbol.begin(), symbol.end(), is_identifier_char)) {
    return Status::invalid(
        fmt::format("name '{}' is not a C identifier; allowed: letters, digits and '_', no digit first", symbol));
  }
  if (symbol.size() > kLongestSymbol) {
    return Status::invalid(fmt::format("name has {} characters; allowed: up to {}", symbol.size(), kLongestSymbol));
  }
  if (symbol[0] == '_') return Status::invalid(fmt::format("name '{}' starts with '_', which C reserves", symbol));
  if (symbol == "gemmc" || symbol.starts_with("gemmc_") || symbol.starts_with("GEMMC_")) {
    return Status::invalid(fmt::format("name '{}' is in gemmc's own name space (gemmc, gemmc_..., GEMMC_...)", symbol));
  }
  if (is_one_of(kReserved, symbol)) return Status::invalid(fmt::format("name '{}' is a word of C or C++", symbol));
  if (is_type_or_limit(symbol)) {
    return Status::invalid(fmt::format("name '{}' ends in _t, _MAX, _MIN or _C, which C reserves", symbol));
  }
  if (is_in_c_library(std::string(symbol))) {
    return Status::invalid(fmt::format("name '{}' is a function or variable of the C library", symbol));
  }
  if (is_one_of(kSystemFiles, symbol)) {
    return Status::invalid(fmt::format("name '{0}' is a file of the system: {0}.h or lib{0}", symbol));
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
