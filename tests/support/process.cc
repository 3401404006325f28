#include "tests/support/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "tests/support/temporary_folder.h"

extern char** environ;

namespace gemmc::testing {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// AddressSanitizer warns, whatever its options, of the stack that Halide makes for itself.
std::string without_sanitizer_warnings(std::string text) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr std::string_view kWarning = "WARNING: ASan doesn't fully support makecontext/swapcontext";
  for (size_t found; (found = text.find(kWarning)) != std::string::npos;) {
    const size_t before = text.rfind('\n', found);
    const size_t start = before == std::string::npos ? 0 : before + 1;
    text.erase(start, text.find('\n', found) + 1 - start);
  }
#endif
  return text;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv) {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "out", err = folder.path() / "err";
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t child = 0;
  const int error = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + argv[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw std::runtime_error("cannot wait for " + argv[0]);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out),
          without_sanitizer_warnings(read_file(err))};
}

ProcessResult run_shell(const std::string& script, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"sh", "-e", "-c", script, "sh"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_process(argv);
}

std::string program_beside(const std::string& name) {
  return (std::filesystem::path(program_invocation_name).parent_path() / name).string();
}

}  // namespace gemmc::testing
