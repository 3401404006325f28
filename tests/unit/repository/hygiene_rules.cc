#include "tests/unit/repository/hygiene_rules.h"

#include <fmt/format.h>

#include <regex>
#include <set>

namespace gemmc::testing {
namespace {

constexpr size_t kHeaderLines = 200;
constexpr size_t kSourceLines = 500;

bool is_source(std::string_view path) { return (is_code(path) && !is_header(path)) || path.ends_with(".py"); }

// The comment lines that the file begins with.
std::string first_comment(std::string_view text) {
  std::string comment;
  for (const std::string_view line : split_lines(text)) {
    if (!line.starts_with("//") && !line.starts_with("#") && !line.starts_with("/*") && !line.starts_with(" *")) break;
    comment += line;
    comment += '\n';
  }
  return comment;
}

// Spelled in two halves, so that this file does not break its own rule.
const std::regex kPrivate(
    "(^|[^A-Za-z0-9_.$}])/(wo"
    "rk|ro"
    "ot)(?![A-Za-z0-9_])"
    "|/ho"
    "me/[A-Za-z0-9_<]"
    "|\\.\\./sha"
    "red"
    "|index"
    "-url"
    "|py"
    "pi\\.(org|python)|python"
    "hosted\\.org|deb\\.deb"
    "ian\\.org|snapshot\\.deb"
    "ian|npm"
    "js\\.(org|com)"
    "|://[^ ]*/sim"
    "ple\\b");

// Every path and file name that the CMakeLists.txt files mention, as seen from the root.
std::set<std::string> listed_paths(const SourceTree& tree) {
  static const std::regex kWord(R"([A-Za-z0-9_./-]+\.(c|cc|cpp)\b)");
  constexpr std::string_view kName = "CMakeLists.txt";
  std::set<std::string> listed;
  for (const auto& [path, text] : tree) {
    if (!path.ends_with(kName)) continue;
    const std::string folder = path.substr(0, path.size() - kName.size());
    for (auto it = std::sregex_iterator(text.begin(), text.end(), kWord); it != std::sregex_iterator(); ++it) {
      // "${CMAKE_CURRENT_SOURCE_DIR}/a.c" leaves "/a.c".
      const std::string word = it->str();
      listed.insert(folder + (word.starts_with('/') ? word.substr(1) : word));
    }
  }
  return listed;
}

std::set<std::string> included_names(const SourceTree& tree) {
  std::set<std::string> names;
  for (const auto& [path, text] : tree) {
    if (!is_code(path)) continue;
    for (const Include& include : includes(text)) names.insert(include.name);
  }
  return names;
}

}  // namespace

Findings oversized_sources(const SourceTree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree) {
    if (!is_source(path) && !is_header(path)) continue;
    const size_t limit = is_header(path) ? kHeaderLines : kSourceLines;
    const size_t count = split_lines(text).size();
    if (count <= limit || first_comment(text).find("Long because") != std::string::npos) continue;
    findings.push_back(finding(path, count, fmt::format("{} lines, at most {}", count, limit)));
  }
  return findings;
}

Findings private_words(const SourceTree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree) {
    size_t number = 0;
    for (const std::string_view line : split_lines(text)) {
      ++number;
      std::cmatch match;
      if (std::regex_search(line.begin(), line.end(), match, kPrivate)) {
        findings.push_back(finding(path, number, fmt::format("private path or registry host \"{}\"", match.str())));
      }
    }
  }
  return findings;
}

Findings whitespace_faults(const SourceTree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree) {
    if (path.starts_with("tests/data/") || path.starts_with("tests/fuzz/corpus/")) continue;
    size_t number = 0;
    for (const std::string_view line : split_lines(text)) {
      ++number;
      if (line.find('\t') != std::string_view::npos) findings.push_back(finding(path, number, "tab"));
      if (line.ends_with(' ')) findings.push_back(finding(path, number, "white space at the end"));
      if (line.ends_with('\r')) findings.push_back(finding(path, number, "carriage return"));
    }
    if (!text.empty() && text.back() != '\n') findings.push_back(finding(path, number, "no newline at the end"));
  }
  return findings;
}

Findings unlisted_sources(const SourceTree& tree) {
  const std::set<std::string> listed = listed_paths(tree);
  const std::set<std::string> included = included_names(tree);
  constexpr std::string_view kPublic = "include/";
  Findings findings;
  for (const auto& [path, text] : tree) {
    if (is_header(path)) {
      const std::string name = path.starts_with(kPublic) ? path.substr(kPublic.size()) : path;
      if (!included.contains(name)) findings.push_back(finding(path, 1, "nothing includes this header"));
    } else if (is_code(path) && !listed.contains(path)) {
      findings.push_back(finding(path, 1, "no CMakeLists.txt lists this source"));
    }
  }
  return findings;
}

Findings broken_links(const SourceTree& tree) {
  static const std::regex kLink(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  Findings findings;
  for (const auto& [path, text] : tree) {
    if (!path.ends_with(".md")) continue;
    size_t number = 0;
    for (const std::string_view line : split_lines(text)) {
      ++number;
      for (auto it = std::cregex_iterator(line.begin(), line.end(), kLink); it != std::cregex_iterator(); ++it) {
        const std::string link = (*it)[1];
        if (link.find("://") != std::string::npos) continue;
        const std::string target =
            (std::filesystem::path(path).parent_path() / link).lexically_normal().generic_string();
        const auto inside = tree.lower_bound(target + "/");
        const bool is_folder = inside != tree.end() && inside->first.starts_with(target + "/");
        if (!tree.contains(target) && !is_folder)
          findings.push_back(finding(path, number, fmt::format("no file \"{}\"", link)));
      }
    }
  }
  return findings;
}

}  // namespace gemmc::testing
