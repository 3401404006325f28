#include "tests/unit/repository/layer_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gemmc::testing {
namespace {

using Names = std::set<std::string, std::less<>>;

// Layer -> the layers it may include, itself among them. "include" is the public headers, written "gemmc/...".
const std::map<std::string, Names, std::less<>> kArrows = {
    {"include", {"include"}},
    {"core", {"core"}},
    {"schedules", {"schedules", "core"}},
    {"compiler", {"compiler", "schedules", "core", "include"}},
    {"runtime", {"runtime", "core", "include"}},
    {"api", {"api", "runtime", "compiler", "schedules", "core", "include"}},
    {"tools", {"tools", "api", "runtime", "compiler", "schedules", "core", "include"}},
    {"tests", {"tests", "tools", "api", "runtime", "compiler", "schedules", "core", "include"}},
};

// A foreign library, how its headers' names begin, and the layers that may include them, as in ARCHITECTURE.md's
// table. A layer's tests in tests/unit, tests/error and tests/fuzz may too. Where "tests" is a layer, every test may.
struct ForeignLibrary {
  std::string_view name;
  std::vector<std::string_view> prefixes;
  Names layers;
};
const std::vector<ForeignLibrary> kForeignLibraries = {
    {"Halide", {"Halide"}, {"compiler"}},
    {"LLVM", {"llvm/", "llvm-c/"}, {"compiler", "runtime"}},
    {"protobuf", {"google/protobuf/", "onnx.pb.h"}, {"compiler"}},
    {"nlohmann-json", {"nlohmann/"}, {"compiler", "tools", "tests"}},
    {"xxHash", {"xxhash.h", "xxh3.h"}, {"core"}},
    {"oneTBB", {"tbb/", "oneapi/tbb"}, {"runtime"}},
    {"CLI11", {"CLI/"}, {"tools"}},
    {"Google Benchmark", {"benchmark/"}, {"tools"}},
    {"GoogleTest", {"gtest/", "gmock/"}, {"tests"}},
    {"fmt", {"fmt/"}, {"core", "schedules", "compiler", "runtime", "api", "tools", "tests"}},  // not the public headers
};

// The tests' reference results come from code that shares nothing with the library.
constexpr std::string_view kOracle = "tests/support/oracle";
constexpr std::string_view kOracleConversions = "tests/support/half_floats.";  // includes nothing of gemmc either

std::string_view first_folder(std::string_view path) { return path.substr(0, path.find('/')); }

// The layer whose foreign libraries a file may include.
std::string_view home_layer(std::string_view path) {
  for (const std::string_view folder : {"tests/unit/", "tests/error/", "tests/fuzz/"}) {
    if (path.starts_with(folder)) return first_folder(path.substr(folder.size()));
  }
  return first_folder(path);
}

const ForeignLibrary* foreign_library(std::string_view include) {
  for (const ForeignLibrary& library : kForeignLibraries) {
    if (std::any_of(library.prefixes.begin(), library.prefixes.end(),
                    [&](std::string_view prefix) { return include.starts_with(prefix); })) {
      return &library;
    }
  }
  return nullptr;
}

// Why a file of this path in the tree may not have this include; empty if it may.
std::string refusal(const SourceTree& tree, std::string_view path, const Include& include) {
  if (const ForeignLibrary* library = foreign_library(include.name)) {
    if (library->layers.contains(home_layer(path)) || library->layers.contains(first_folder(path))) return "";
    return fmt::format("only {} may include {}, found \"{}\"", fmt::join(library->layers, " and "), library->name,
                       include.name);
  }
  const bool is_public = include.name.starts_with("gemmc/");
  const std::string_view target = is_public ? "include" : first_folder(include.name);
  if (target == include.name || !kArrows.contains(target)) {
    // Another package's header, a generated one, or a neighbour in short.
    const std::string neighbour =
        (std::filesystem::path(path).parent_path() / include.name).lexically_normal().string();
    if (!tree.contains(neighbour)) return "";
    return fmt::format("includes are written from the repository's root, found \"{}\"", include.name);
  }
  const std::string_view layer = first_folder(path);
  const Names& allowed = kArrows.find(layer)->second;
  if (!allowed.contains(target)) {
    return fmt::format("{} may include only {}, found \"{}\"", layer, fmt::join(allowed, ", "), include.name);
  }
  const std::string_view name = include.name;
  const bool is_oracle = path.starts_with(kOracle), is_conversions = path.starts_with(kOracleConversions);
  const bool is_own = (is_oracle && name.starts_with(kOracle)) || name.starts_with(kOracleConversions);
  if ((is_oracle || is_conversions) && !is_own) {
    return fmt::format("the oracle shares no code with the library, found \"{}\"", name);
  }
  return "";
}

}  // namespace

Findings layer_violations(const SourceTree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree) {
    if (!is_code(path)) continue;
    if (!kArrows.contains(first_folder(path))) {
      findings.push_back(finding(path, 1, "code outside the layers' folders"));
      continue;
    }
    std::set<std::string_view> libraries;
    for (const Include& include : includes(text)) {
      if (const ForeignLibrary* library = foreign_library(include.name)) libraries.insert(library->name);
      const std::string reason = refusal(tree, path, include);
      if (!reason.empty()) findings.push_back(finding(path, include.line, reason));
    }
    if (libraries.contains("Halide") && libraries.contains("LLVM")) {
      findings.push_back(finding(path, 1, "Halide and LLVM may not meet in one source"));
    }
  }
  return findings;
}

}  // namespace gemmc::testing
