#include "tests/conformance/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <vector>

#include "schedules/schedule.h"
#include "tests/conformance/levels.h"

namespace gemmc::testing {
namespace {

using Refusal = std::optional<std::string>;

Refusal refuse(const std::string& name, const std::string& value, const std::string& allowed) {
  return fmt::format("{} is '{}'; allowed: {}", name, value, allowed);
}

// Of `lowest` or more, up to `highest`.
template <typename T>
Refusal read_number(const std::string& name, const std::string& value, T lowest, T highest, T& result) {
  T number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < lowest || number > highest) {
    return refuse(name, value, fmt::format("a number from {} to {}", lowest, highest));
  }
  result = number;
  return std::nullopt;
}

Refusal read_word(const std::string& name, const std::string& value, const std::vector<std::string>& allowed,
                  std::string& result) {
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    return refuse(name, value, fmt::format("{}", fmt::join(allowed, ", ")));
  }
  result = value;
  return std::nullopt;
}

Refusal read_argument(const std::string& name, const std::string& value, ConformanceSettings& settings) {
  constexpr int kMostEffort = 1'000'000;
  if (name == "--seed")
    return read_number<uint64_t>(name, value, 0, std::numeric_limits<uint64_t>::max(), settings.seed);
  if (name == "--effort") return read_number(name, value, 1, kMostEffort, settings.effort);
  if (name == "--target") return read_word(name, value, all_levels(), settings.target);
  if (name == "--family") {
    std::vector<std::string> families;
    for (Family family : kAllFamilies) families.emplace_back(gemmc::name(family));
    return read_word(name, value, families, settings.family);
  }
  const std::map<std::string, std::string*> texts = {{"--problem", &settings.problem},
                                                     {"--shapes", &settings.shapes},
                                                     {"--case", &settings.test_case},
                                                     {"--schedule", &settings.schedule}};
  const auto text = texts.find(name);
  if (text == texts.end()) return fmt::format("unknown argument '{}'", name);
  if (value.empty()) return refuse(name, value, "a text");
  *text->second = value;
  return std::nullopt;
}

}  // namespace

ConformanceSettings& conformance_settings() {
  static ConformanceSettings settings;
  return settings;
}

std::optional<std::string> parse_settings(int& argc, char** argv) {
  ConformanceSettings& settings = conformance_settings();
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--gtest")) {
      argv[kept++] = argv[i];
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (Refusal refusal = read_argument(argument.substr(0, equals), value, settings)) return refusal;
  }
  argc = kept;
  if (settings.problem.empty() != settings.shapes.empty()) return "--problem and --shapes go together";
  if (!settings.problem.empty() && !settings.test_case.empty()) return "--problem and --case exclude each other";
  if (!settings.schedule.empty() && !settings.asks_for_one()) return "--schedule needs --problem or --case";
  return std::nullopt;
}

}  // namespace gemmc::testing
