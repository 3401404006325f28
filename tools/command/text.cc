#include "tools/command/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "core/text.h"

namespace gemmc {

std::string one_line(std::string_view text) { return one_line(text, std::string_view::npos); }

std::string names_text(const std::vector<std::string>& names) {
  constexpr size_t kNamesShown = 10;
  if (names.empty()) return "none";
  const size_t shown = std::min(names.size(), kNamesShown);
  const std::string text = fmt::format("{}", fmt::join(names.data(), names.data() + shown, ", "));
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

std::string count_text(size_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

void print_json(const Json& json) { print_out("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace)); }

void print_stdout(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_stderr(const std::string& text) { std::fputs(text.c_str(), stderr); }

void print_note(std::string_view text) { print_stderr(fmt::format("gemmc: note: {}\n", one_line(text))); }

}  // namespace gemmc
