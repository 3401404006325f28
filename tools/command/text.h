// Text for people and machines on the command's output streams.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gemmc {

using Json = nlohmann::ordered_json;

// `text`, however long, on one line: control characters, which names in models may hold, as \xNN.
std::string one_line(std::string_view text);

// "a, b, c": the first ten, and how many more; "none".
std::string names_text(const std::vector<std::string>& names);

// "1 node", "2 nodes"
std::string count_text(size_t count, std::string_view singular);

// On stdout as it is. main() asks at the end whether everything could be written.
void print_stdout(const std::string& text);
template <typename... Values>
void print_out(fmt::format_string<Values...> format, Values&&... values) {
  print_stdout(fmt::format(format, std::forward<Values>(values)...));
}

// One object, indented, on stdout. Bytes that are no UTF-8 are replaced.
void print_json(const Json& json);

// On stderr as it is. A stream that takes nothing is no error: there is nowhere left to tell it.
void print_stderr(const std::string& text);

// "gemmc: note: ..." on stderr.
void print_note(std::string_view text);

}  // namespace gemmc
