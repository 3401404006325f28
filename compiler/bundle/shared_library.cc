#include "compiler/bundle/shared_library.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

extern char** environ;

namespace gemmc {
namespace {

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Runs `arguments` and waits. Its output and errors go to `log`. The exit status, or an environment error.
Expected<int> run(const std::vector<std::string>& arguments, std::FILE* log) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(log), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  // What a caller holds back is not the program's business: an interrupt ends it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return Status::environment(fmt::format("cannot run {}: {}", arguments[0], std::generic_category().message(error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return Status::environment(fmt::format("cannot wait for {}", arguments[0]));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::optional<fs::path> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    std::error_code error;
    const bool is_found = candidate.is_absolute() && fs::is_regular_file(candidate, error);
    if (is_found && access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.erase(0, colon + 1);
  }
  return std::nullopt;
}

Status link_shared_library(const fs::path& cc, const fs::path& archive, const std::string& soname,
                           const fs::path& output) {
  const std::vector<std::string> arguments = {cc.string(),
                                              "-shared",
                                              "-nostartfiles",
                                              "-s",
                                              "-o",
                                              output.string(),
                                              "-Wl,-soname," + soname,
                                              "-Wl,--build-id=none",
                                              "-Wl,-z,defs",
                                              "-Wl,-z,noexecstack",
                                              "-Wl,-z,relro,-z,now",
                                              "-Wl,--as-needed",
                                              "-Wl,--whole-archive",
                                              archive.string(),
                                              "-Wl,--no-whole-archive"};
  // Not beside the output, whose disk may be full, which the message would then not say.
  const File log(std::tmpfile());
  if (log == nullptr) {
    return Status::environment(fmt::format("cannot make a temporary file for the messages of {}: {}", cc.string(),
                                           std::generic_category().message(errno)));
  }
  const Expected<int> exit_status = run(arguments, log.get());
  if (!exit_status) return exit_status.status();
  if (*exit_status == 0) {
    std::error_code error;
    if (fs::is_regular_file(output, error)) return Status::ok();
    return Status::environment(fmt::format("{} ended well, but did not write {}", cc.string(), soname));
  }
  char line[4096] = "";
  std::rewind(log.get());
  if (std::fgets(line, sizeof line, log.get()) == nullptr) line[0] = '\0';
  const std::string_view first_line = std::string_view(line).substr(0, std::string_view(line).find('\n'));
  return Status::environment(fmt::format("{} could not link {}: exit status {}: {}", cc.string(), soname, *exit_status,
                                         first_line.empty() ? "no message" : first_line));
}

}  // namespace gemmc
