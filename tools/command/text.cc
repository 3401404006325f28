#include "tools/command/text.h"

#include <fmt/format.h>

#include <cstdio>

#include "core/text.h"

namespace gemmc {

std::string one_line(std::string_view text) { return one_line(text, std::string_view::npos); }

std::string count_text(size_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

void print_json(const Json& json) { print_out("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace)); }

void print_stdout(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_stderr(const std::string& text) { std::fputs(text.c_str(), stderr); }

void print_note(std::string_view text) { print_stderr(fmt::format("gemmc: note: {}\n", one_line(text))); }

}  // namespace gemmc
