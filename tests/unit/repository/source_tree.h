// The repository's own files as values, so that rules about them are functions that tests can try on made-up trees.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gemmc::testing {

// Path from the root, with '/', -> text.
using SourceTree = std::map<std::string, std::string>;

// The files that git tracks; where `root` is no git checkout, every file below it but what builds leave there.
SourceTree read_source_tree(const std::filesystem::path& root);

std::vector<std::string_view> split_lines(std::string_view text);

// What a rule found: "core/x.h:3: what is wrong", one per fault.
using Findings = std::vector<std::string>;
std::string to_text(const Findings& findings);

// "path:line: message", lines counted from 1.
std::string finding(std::string_view path, size_t line, std::string_view message);

// Whether the path is one of C or C++ code.
bool is_code(std::string_view path);
bool is_header(std::string_view path);

// The names in the file's #include directives, without quotes or brackets, and the line of each.
struct Include {
  std::string name;
  bool is_quoted;
  size_t line;
};
std::vector<Include> includes(std::string_view text);

}  // namespace gemmc::testing
