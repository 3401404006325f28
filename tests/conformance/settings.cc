#include "tests/conformance/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace gemmc::testing {
namespace {

uint64_t parse_number(const std::string& text) {
  size_t end = 0;
  const uint64_t number = std::stoull(text, &end);
  if (end != text.size() || text[0] == '-') throw std::invalid_argument(text);
  return number;
}

int parse_effort(const std::string& text) {
  constexpr uint64_t kMost = 1'000'000;
  const uint64_t effort = parse_number(text);
  if (effort == 0 || effort > kMost) throw std::out_of_range(text);
  return static_cast<int>(effort);
}

}  // namespace

ConformanceSettings& conformance_settings() {
  static ConformanceSettings settings;
  return settings;
}

std::optional<std::string> parse_settings(int& argc, char** argv) {
  ConformanceSettings& settings = conformance_settings();
  std::map<std::string, std::string*> texts = {{"--problem", &settings.problem}, {"--shapes", &settings.shapes},
                                               {"--case", &settings.test_case},  {"--family", &settings.family},
                                               {"--target", &settings.target},   {"--schedule", &settings.schedule}};
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    try {
      if (const auto text = texts.find(name); text != texts.end()) {
        *text->second = value;
      } else if (name == "--seed") {
        settings.seed = parse_number(value);
      } else if (name == "--effort") {
        settings.effort = parse_effort(value);
      } else if (name.rfind("--gtest", 0) == 0) {
        argv[kept++] = argv[i];
      } else {
        return fmt::format("unknown argument '{}'", argument);
      }
    } catch (const std::logic_error&) {
      return fmt::format("{} is '{}'; allowed: a positive number, for --effort up to 1000000", name, value);
    }
  }
  argc = kept;
  if (settings.problem.empty() != settings.shapes.empty()) return "--problem and --shapes go together";
  return std::nullopt;
}

std::vector<std::string> all_levels() { return {"x86-64-v2", "x86-64-v3", "x86-64-v4"}; }

Target target_of(const std::string& level) {
  Expected<Target> target = parse_target(level);
  if (!target) throw std::runtime_error(target.status().message());
  return *target;
}

std::string test_name(const std::string& level, std::string_view word) {
  std::string text = fmt::format("{}_{}", level, word);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string reason_to_skip(const std::string& level) {
  const std::string& only = conformance_settings().target;
  if (!only.empty() && only != level) return fmt::format("{}: --target={} was given", level, only);
  const Status status = check_runs_here(target_of(level));
  return status.is_ok() ? "" : status.message();
}

}  // namespace gemmc::testing
