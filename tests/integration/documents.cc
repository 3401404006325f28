#include "tests/integration/documents.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace gemmc::testing {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class DocumentRun {
 public:
  explicit DocumentRun(const Toolchain& toolchain) : toolchain_(toolchain) {
    std::string pattern = (fs::temp_directory_path() / "gemmc_document_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~DocumentRun() { fs::remove_all(folder_); }
  DocumentRun(const DocumentRun&) = delete;
  DocumentRun& operator=(const DocumentRun&) = delete;

  std::string run(const CodeBlock& block) {
    if (block.language == "c") return run_program(block);
    if (block.language == "sh") return run_commands(block);
    if (block.language == "output" && block.text != output_) {
      return fmt::format("shows\n{}but the code printed\n{}", block.text, output_);
    }
    return "";
  }

 private:
  std::string run_program(const CodeBlock& block) {
    static const std::regex kName(R"(^/\* ([A-Za-z0-9_]+\.[ch]) \*/\n[^]*)");
    std::smatch match;
    const bool is_file = std::regex_match(block.text, match, kName);
    const std::string name = is_file ? match[1].str() : fmt::format("line{}.c", block.line);
    std::ofstream(folder_ / name) << block.text;
    if (is_file) return "";
    const std::string sanitize = toolchain_.sanitizer.empty() ? "" : "-fsanitize=" + toolchain_.sanitizer;
    return shell(
        fmt::format("cc -std=c99 -Wall -Wextra -Werror {} -I'{}' {} -L'{}' -lgemmc -Wl,-rpath,'{}' -o program\n"
                    "./program\n",
                    sanitize, (toolchain_.source_dir / "include").string(), name, toolchain_.library_dir.string(),
                    toolchain_.library_dir.string()));
  }

  std::string run_commands(const CodeBlock& block) {
    std::istringstream lines(block.text);
    std::string commands, line;
    while (std::getline(lines, line)) {
      if (!line.starts_with("tools/")) {
        commands += line + "\n";
      } else if (const fs::path script = line.substr(0, line.find(' '));
                 access((toolchain_.source_dir / script).c_str(), X_OK) != 0) {
        return fmt::format("names {}, which cannot be run", script.string());
      }
    }
    return commands.empty() ? "" : shell(commands);
  }

  // Keeps what the commands print in output_.
  std::string shell(const std::string& commands) {
    std::ofstream(folder_ / "commands") << commands;
    const std::string line = fmt::format("cd '{}' && PATH='{}':\"$PATH\" sh -e commands >stdout 2>stderr",
                                         folder_.string(), toolchain_.command_dir.string());
    const int status = std::system(line.c_str());
    output_ = read_file(folder_ / "stdout");
    if (status == 0) return "";
    return fmt::format("failed with status {}:\n{}{}{}", WEXITSTATUS(status), commands, output_,
                       read_file(folder_ / "stderr"));
  }

  const Toolchain& toolchain_;
  fs::path folder_;
  std::string output_;
};

}  // namespace

std::vector<CodeBlock> code_blocks(std::string_view markdown) {
  constexpr std::string_view kFence = "```";
  std::vector<CodeBlock> blocks;
  std::istringstream lines{std::string(markdown)};
  std::string line;
  bool is_inside = false;
  for (size_t number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with(kFence)) {
      if (!is_inside) blocks.push_back({line.substr(kFence.size()), "", number + 1});
      is_inside = !is_inside;
    } else if (is_inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

std::string run_document(std::string_view markdown, const Toolchain& toolchain) {
  DocumentRun run(toolchain);
  for (const CodeBlock& block : code_blocks(markdown)) {
    const std::string fault = run.run(block);
    if (!fault.empty()) return fmt::format("line {}: the {} block {}", block.line, block.language, fault);
  }
  return "";
}

}  // namespace gemmc::testing
