// Runs a program and takes what it prints. Nothing is inherited but the environment; standard input is empty.
#pragma once

#include <string>
#include <vector>

namespace gemmc::testing {

struct ProcessResult {
  int status = 0;  // the exit status, or 128 + the signal that ended it
  std::string out, err;
};

// `argv[0]` is looked up on PATH. Throws where it cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv);

// The same in a shell; `script` sees `arguments` as "$1", "$2", ... Stops at the first command that fails.
ProcessResult run_shell(const std::string& script, const std::vector<std::string>& arguments);

// The path of a program in this one's folder, as this one was started.
std::string program_beside(const std::string& name);

}  // namespace gemmc::testing
