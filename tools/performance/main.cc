// gemmc_benchmark: measures the machine's peak, gemmc's kernels and the peers that are installed.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/session.h"
#include "compiler/compile.h"
#include "tools/performance/machine.h"
#include "tools/performance/measure.h"
#include "tools/performance/peak.h"
#include "tools/performance/report.h"

namespace {

struct Options {
  bool peak = false;
  bool json = false;
  bool quick = false;
  std::string suite;
  std::string output;
  std::string python_prefix = ".venv";
  std::string modules;
  std::string command = "gemmc_benchmark";
};

int fail(const gemmc::Status& status) {
  fmt::print(stderr, "gemmc_benchmark: error: {}\n", status.message());
  return status.code() == gemmc::StatusCode::kInvalidArgument ? 2 : 1;
}

int print_peaks(bool json) {
  const std::vector<gemmc::Peak> peaks = gemmc::measure_peaks();
  if (!json) {
    for (const gemmc::Peak& peak : peaks)
      fmt::print("{:8} {:9} {:2} lanes {:7.1f} GOP/s\n", name(peak.dtype), peak.extension, peak.lanes, peak.gops);
    return 0;
  }
  nlohmann::ordered_json document;
  document["cpu"] = gemmc::describe_machine().cpu;
  document["peaks"] = nlohmann::ordered_json::array();
  for (const gemmc::Peak& peak : peaks)
    document["peaks"].push_back(
        {{"dtype", name(peak.dtype)}, {"extension", peak.extension}, {"lanes", peak.lanes}, {"gops", peak.gops}});
  fmt::print("{}\n", document.dump(2));
  return 0;
}

// Small products only, so that it takes seconds.
void keep_quick(std::vector<gemmc::SuiteEntry>& suite) {
  constexpr double kMaxOperations = 2e7;
  std::erase_if(suite, [](const gemmc::SuiteEntry& entry) { return entry.product.operations() > kMaxOperations; });
}

int measure(const Options& options) {
  // Known before the minutes of measuring; appending nothing keeps an older report until there is a new one.
  if (!options.output.empty() && !std::ofstream(options.output, std::ios::app))
    return fail(gemmc::Status::environment(fmt::format("cannot write '{}'", options.output)));
  gemmc::Report report;
  report.command = options.command;
  report.machine = gemmc::describe_machine();
  report.date = gemmc::today();
  report.versions = fmt::format("{} ({})", GEMMC_VERSION, gemmc::compiler_identity());
  if (options.quick) report.race = {.rounds = 3, .sample_ns = 5e5};

  gemmc::Expected<std::vector<gemmc::SuiteEntry>> suite = gemmc::read_suite(options.suite);
  if (!suite) return fail(suite.status());
  if (options.quick) keep_quick(*suite);
  gemmc::Expected<gemmc::Target> target = gemmc::host_target();
  if (!target) return fail(target.status());
  report.target = target->to_string();
  gemmc::Session session(*target);
  const gemmc::PeerSearch peers = gemmc::find_peers(options.python_prefix, options.modules);
  for (const auto& peer : peers.found) {
    report.peer_names.push_back(peer->name());
    report.peer_versions.push_back(peer->version());
  }
  report.skipped_peers = peers.skipped;
  for (const std::string& skipped : peers.skipped) fmt::print(stderr, "gemmc_benchmark: skipped {}\n", skipped);

  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const gemmc::Progress progress = [&](const std::string& product) {
    if (is_terminal) fmt::print(stderr, "\r\033[K{}", product);
  };
  report.peaks_before = gemmc::measure_peaks();
  gemmc::Expected<std::vector<gemmc::Measurement>> results =
      gemmc::measure_suite(session, *suite, peers, report.race, progress);
  if (!results) return fail(results.status());
  report.suite = *std::move(results);
  if (!getenv("GEMMC_NO_TYPES")) {
    results = gemmc::measure_types(session, report.race, progress);
    if (!results) return fail(results.status());
    report.types = *std::move(results);
  }
  report.peaks_after = gemmc::measure_peaks();
  if (is_terminal) fmt::print(stderr, "\r\033[K");

  const std::string text = gemmc::print_markdown(report);
  if (options.output.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  std::ofstream file(options.output);
  file << text;
  file.close();
  if (!file) return fail(gemmc::Status::environment(fmt::format("cannot write '{}'", options.output)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Measures the machine's peak, gemmc's kernels and the peer libraries that are installed.");
  app.add_flag("--peak", options.peak, "print the peak of one core and stop");
  app.add_flag("--json", options.json, "with --peak: for machines")->needs("--peak");
  app.add_flag("--quick", options.quick, "small products, few rounds");
  app.add_option("--suite", options.suite, "file of shapes, `M N K transA transB` a line");
  app.add_option("--output", options.output, "write the report there instead of on stdout");
  app.add_option("--python-prefix", options.python_prefix, "virtual environment with the peers' wheels")
      ->capture_default_str();
  app.add_option("--modules", options.modules, "folder of the peers' wrapper modules");
  app.add_option("--command", options.command, "what the report says was typed")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : 2;
  }
  if (options.peak) return print_peaks(options.json);
  if (options.suite.empty()) return fail(gemmc::Status::invalid("--suite is missing: name the file of shapes"));
  return measure(options);
}
