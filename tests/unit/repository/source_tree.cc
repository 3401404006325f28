#include "tests/unit/repository/source_tree.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>

namespace gemmc::testing {
namespace {

namespace fs = std::filesystem;

// The paths that git lists, or nothing where git has no list for this folder.
std::vector<std::string> git_paths(const fs::path& root) {
  const std::string command = fmt::format("git -C '{}' ls-files -z 2>/dev/null", root.string());
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::vector<std::string> paths;
  std::string path;
  for (int c = pipe ? fgetc(pipe.get()) : EOF; c != EOF; c = fgetc(pipe.get())) {
    if (c != '\0') {
      path += static_cast<char>(c);
    } else {
      paths.push_back(std::move(path));
      path.clear();
    }
  }
  return paths;
}

std::vector<std::string> walked_paths(const fs::path& root) {
  static const std::set<std::string> kLeftByBuilds = {".git", ".venv", "build", "__pycache__"};
  std::vector<std::string> paths;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator(); ++it) {
    const bool is_at_root = it.depth() == 0;
    const std::string name = it->path().filename().string();
    if (it->is_directory() && kLeftByBuilds.contains(name) && (is_at_root || name == "__pycache__")) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file()) {
      paths.push_back(fs::relative(it->path(), root).generic_string());
    }
  }
  return paths;
}

bool has_suffix(std::string_view path, std::initializer_list<std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view suffix) { return path.ends_with(suffix); });
}

}  // namespace

SourceTree read_source_tree(const fs::path& root) {
  std::vector<std::string> paths = fs::exists(root / ".git") ? git_paths(root) : std::vector<std::string>();
  if (paths.empty()) paths = walked_paths(root);
  SourceTree tree;
  for (const std::string& path : paths) {
    std::ifstream file(root / path, std::ios::binary);
    if (!file || fs::is_directory(root / path)) continue;  // tracked, but deleted in this checkout
    tree[path] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return tree;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string to_text(const Findings& findings) { return fmt::format("{}", fmt::join(findings, "\n")); }

std::string finding(std::string_view path, size_t line, std::string_view message) {
  return fmt::format("{}:{}: {}", path, line, message);
}

bool is_header(std::string_view path) { return has_suffix(path, {".h", ".hpp", ".inc"}); }

bool is_code(std::string_view path) { return is_header(path) || has_suffix(path, {".c", ".cc", ".cpp"}); }

std::vector<Include> includes(std::string_view text) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<Include> result;
  size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    std::cmatch match;
    if (std::regex_match(line.begin(), line.end(), match, kInclude)) {
      result.push_back({match[2], match[1] == "\"", number});
    }
  }
  return result;
}

}  // namespace gemmc::testing
