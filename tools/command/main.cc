// The gemmc command: parses the command line, runs one verb, turns its Status into a line and an exit status.
// Contract: docs/command-line.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iterator>
#include <new>
#include <string_view>

#include "core/text.h"
#include "tools/command/text.h"
#include "tools/command/verbs.h"

namespace gemmc {
namespace {

enum ExitStatus { kDone = 0, kFailed = 1, kWrongUse = 2 };

constexpr std::string_view kUnbuiltVerbs[] = {"cache", "db", "tune", "worker"};
constexpr char kVerbs[] = "list, build, run, bench, explain, version";

constexpr char kDescription[] =
    R"(gemmc compiles matrix products: ONNX Gemm and MatMul nodes to machine code.

Examples:
  gemmc list model.onnx
  gemmc build model.onnx -o out
  gemmc build model.onnx -o out --dim batch=1 --dim seq=128 --target x86-64-v4
  gemmc build 'gemm f32 m=64 n=64 k=64 tb c=n' -o out --name layer
  gemmc run fc1.json --input A=a.npy --input B=b.npy --input C=c.npy --output Y=y.npy
  gemmc run model.onnx --node fc1 --input A=a.npy --output Y=y.npy
  gemmc bench 'gemm f32 m=64 n=768 k=768' --packed
  gemmc explain 'matmul f32 a=256x256 b=256x256' --all
)";

void print_error(std::string_view message) { print_stderr(fmt::format("gemmc: error: {}\n", one_line(message))); }

int report(const Status& status) {
  print_error(status.message());
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kUnsupported:
      return kWrongUse;
    default:
      return kFailed;
  }
}

// What the shell or another parent may have left behind.
void prepare_process() {
  // A file that grows beyond its limit is an error of that write, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // A reader that has gone is a failure to write: one line and status 1.
  std::signal(SIGPIPE, SIG_IGN);
  // A closed standard stream would become the next file that is opened, and what is printed would land in that file.
  // Opened for reading only, it stays closed for everything that is printed.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) open("/dev/null", O_RDONLY);  // takes the lowest free number, which is this one
  }
}

// CLI11 asks for what is missing before it tells what is unknown, and lists unknown words backwards.
Status parse_failure(const CLI::ParseError& error, const CLI::App& app, const CLI::App* verb) {
  const std::string help = "(gemmc --help shows examples, gemmc VERB --help the options)";
  for (const CLI::Option* option : verb == nullptr ? std::vector<const CLI::Option*>() : verb->get_options()) {
    for (const std::string& value : option->results()) {
      if (!value.starts_with("-") || verb->get_option_no_throw(value) == nullptr) continue;
      return Status::invalid(fmt::format("{} needs a value; found the option {} {}", option->get_name(), value, help));
    }
  }
  const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  const bool may_hide_unknown = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                                dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (unknown.empty() || !may_hide_unknown) return Status::invalid(fmt::format("{} {}", error.what(), help));
  const auto option = std::find_if(unknown.begin(), unknown.end(),
                                   [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  if (option == unknown.end())
    return Status::invalid(
        fmt::format("unexpected word {}; a problem string is one word, in quotes {}", in_quotes(unknown[0]), help));
  std::vector<std::string> allowed;
  for (const CLI::Option* known : (verb != nullptr ? *verb : app).get_options()) {
    if (known->nonpositional()) allowed.push_back(known->get_name());
  }
  return Status::invalid(
      fmt::format("unknown option {}; allowed: {} {}", in_quotes(*option), fmt::join(allowed, ", "), help));
}

Status run_verb(int argc, char** argv) {
  CLI::App app(kDescription, "gemmc");
  app.require_subcommand(1);
  app.set_version_flag("--version", "gemmc " GEMMC_VERSION);
  const Verb verbs[] = {add_list(app),  add_build(app),   add_run(app),
                        add_bench(app), add_explain(app), add_version(app)};
  const std::string first = argc > 1 ? argv[1] : "";
  const bool is_verb =
      std::any_of(std::begin(verbs), std::end(verbs), [&](const Verb& verb) { return verb.app->get_name() == first; });
  if (argc > 1 && !is_verb && !first.starts_with("-")) {
    return Status::invalid(fmt::format("verb '{}'; allowed: {} (gemmc --help shows examples)", first, kVerbs));
  }
  const auto asked = [&] {
    return std::find_if(std::begin(verbs), std::end(verbs), [](const Verb& verb) { return verb.app->parsed(); });
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return Status::ok();
  } catch (const CLI::ParseError& error) {
    return parse_failure(error, app, asked() == std::end(verbs) ? nullptr : asked()->app);
  }
  return asked()->run();
}

int run(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (std::find(std::begin(kUnbuiltVerbs), std::end(kUnbuiltVerbs), first) != std::end(kUnbuiltVerbs)) {
    return report(Status::unsupported(fmt::format("verb '{}' is not built yet; allowed: {}", first, kVerbs)));
  }
  const Status status = run_verb(argc, argv);
  if (!status.is_ok()) return report(status);
  // A full disk behind a redirection shows only when the buffer is written.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return report(Status::environment("cannot write to standard output"));
  return kDone;
}

}  // namespace
}  // namespace gemmc

int main(int argc, char** argv) {
  gemmc::prepare_process();
  try {
    return gemmc::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("gemmc: error: out of memory\n", stderr);  // needs none
  } catch (const std::exception& error) {
    gemmc::print_error(error.what());
  } catch (...) {
    gemmc::print_error("an unknown exception");
  }
  return gemmc::kFailed;
}
