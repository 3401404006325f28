#include "core/key.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include "core/problem_string.h"

namespace gemmc {
namespace {

constexpr int kKeyFormat = 1;

void add_field(std::string& text, std::string_view name, std::string_view value) {
  text += fmt::format("{} {}:{}\n", name, value.size(), value);
}

}  // namespace

std::string key_text(const Problem& problem, const Target& target, const std::string& schedule,
                     const std::string& compiler_identity) {
  std::string text;
  add_field(text, "format", std::to_string(kKeyFormat));
  add_field(text, "problem", print_problem(problem));
  add_field(text, "target", target.to_string());
  add_field(text, "schedule", schedule);
  add_field(text, "compiler", compiler_identity);
  return text;
}

std::string key_digits(const std::string& text) {
  return fmt::format("{:016x}", static_cast<uint64_t>(XXH3_64bits(text.data(), text.size())));
}

std::string kernel_symbol(const std::string& text) { return "gemmc_" + key_digits(text); }

}  // namespace gemmc
