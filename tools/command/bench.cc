// gemmc bench: times products beside every peer library that is found, in one process.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "core/text.h"
#include "tools/command/bench_json.h"
#include "tools/command/bench_sources.h"
#include "tools/command/text.h"
#include "tools/command/verbs.h"
#include "tools/performance/csv.h"
#include "tools/performance/measure.h"
#include "tools/performance/report.h"
#include "tools/performance/table.h"

namespace gemmc {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  KernelOptions kernel;
  std::vector<std::string> dtypes;
  std::vector<std::string> schedules;
  std::vector<std::string> peers = {"all"};
  std::optional<std::string> rounds;
  std::string python_prefix = ".venv";
  std::optional<std::string> modules;
  std::optional<std::string> csv, report;
  bool runtime = false, packed = false, quick = false, peak = false, as_json = false;
};

Expected<std::vector<DType>> parse_dtypes(const std::vector<std::string>& words) {
  std::vector<DType> dtypes;
  for (const std::string& word : words) {
    const std::optional<DType> dtype = parse_dtype(word);
    if (!dtype) {
      std::vector<std::string> allowed;
      for (const DType known : kAllDTypes) allowed.emplace_back(short_name(known));
      return Status::invalid(fmt::format("--dtype {}; allowed: {}", in_quotes(word), names_text(allowed)));
    }
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

Expected<MeasureOptions> measure_options(const BenchOptions& options) {
  MeasureOptions result;
  if (options.quick) result.race = {.rounds = 3, .sample_ns = 5e5};
  if (options.rounds) {
    constexpr int64_t kMostRounds = 1000;
    const std::optional<int64_t> rounds = parse_int64(*options.rounds);
    if (!rounds || *rounds < 1 || *rounds > kMostRounds)
      return Status::invalid(fmt::format("--rounds {}; allowed: 1 to {}", in_quotes(*options.rounds), kMostRounds));
    result.race.rounds = static_cast<int>(*rounds);
  }
  for (const std::string& line : options.schedules) {
    Expected<Schedule> schedule = parse_schedule(line);
    if (!schedule) return schedule.status();
    result.schedules.push_back(*schedule);
  }
  result.with_runtime_sizes = options.runtime;
  result.with_packed_b = options.packed;
  return result;
}

// Known before the minutes of measuring.
Status check_writable(const std::optional<std::string>& file) {
  if (!file) return Status::ok();
  const fs::path path(*file), folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  const bool is_writable = fs::exists(path, error) ? !fs::is_directory(path, error) && access(path.c_str(), W_OK) == 0
                                                   : access(folder.c_str(), W_OK) == 0;
  return is_writable && path.has_filename() ? Status::ok()
                                            : Status::environment(fmt::format("cannot write {}", in_quotes(*file)));
}

Status write_text(const std::optional<std::string>& path, const std::string& text) {
  if (!path) return Status::ok();
  std::ofstream file(*path, std::ios::binary);
  file << text;
  file.close();
  return file ? Status::ok() : Status::environment(fmt::format("cannot write {}", in_quotes(*path)));
}

// The build puts the wrapper modules beside the command: bin/gemmc, lib/gemmc_peer_*.so.
fs::path default_modules() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "lib";
}

// What was typed, to be typed again: words that a shell would change in quotes.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text = "gemmc", word;
  std::getline(file, word, '\0');  // the program's own path
  while (std::getline(file, word, '\0')) {
    const bool is_plain = word.find_first_of(" \t\n\"'\\$&|;<>()*?[]#~`{}!") == std::string::npos && !word.empty();
    text += is_plain ? " " + word : " '" + word + "'";
  }
  return text;
}

// A line that is overwritten, on a terminal only.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total), is_shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (is_shown_) print_stderr("\r\033[K");
  }
  void show(size_t done, const SuiteEntry& entry) const {
    if (is_shown_)
      print_stderr(fmt::format("\r\033[Kmeasures {}/{}: {} {}", done + 1, total_, short_name(entry.dtype),
                               entry.product.to_string()));
  }

 private:
  size_t total_;
  bool is_shown_;
};

// Who was left out at a product for a reason of its own: a wrong result, a schedule that does not suit.
void note_left_out(const Measurement& measured, const std::string& product, std::vector<std::string>& left_out) {
  for (const Entrant& entrant : measured.entrants) {
    if (!entrant.left_out.empty() && entrant.left_out != kNotTaken)
      left_out.push_back(fmt::format("{}, {}: {}", product, entrant.name, entrant.left_out));
  }
}

// Fills in the measurements. A product that gemmc has no kernel for is left out by name.
Status measure_all(const Target& target, const std::vector<SuiteEntry>& entries, const PeerSearch& peers,
                   const MeasureOptions& options, BenchmarkRun& run) {
  Session session(target);
  const Progress progress(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    progress.show(i, entries[i]);
    const std::string name = fmt::format("{} {}", short_name(entries[i].dtype), entries[i].product.to_string());
    Expected<Measurement> measured = measure(session, entries[i], peers, options);
    if (measured) {
      note_left_out(*measured, name, run.left_out);
      run.measurements.push_back(*std::move(measured));
    } else if (measured.status().code() == StatusCode::kUnsupported) {
      run.left_out.push_back(fmt::format("{}: {}", name, measured.status().message()));
    } else {
      return Status(measured.status().code(), fmt::format("{}: {}", name, measured.status().message()));
    }
  }
  if (run.measurements.empty()) return Status::unsupported(fmt::format("nothing was timed: {}", run.left_out[0]));
  return Status::ok();
}

Status print_peaks(const Target& target, bool as_json) {
  const std::vector<Peak> peaks = measure_peaks(target.features);
  const Expected<std::vector<Bandwidth>> bandwidths = measure_bandwidths();
  if (!bandwidths) return bandwidths.status();
  if (as_json) {
    print_json(peaks_json(describe_machine(), peaks, *bandwidths));
  } else {
    print_stdout(print_peak_table(peaks, *bandwidths));
  }
  return Status::ok();
}

Status bench(const BenchOptions& options) {
  const Expected<Target> target = options.kernel.target();
  if (!target) return target.status();
  GEMMC_RETURN_IF_ERROR(check_runs_here(*target));
  if (options.peak) return print_peaks(*target, options.as_json);
  if (options.kernel.sources().empty())
    return Status::invalid(
        "SOURCE is required: a problem string, NODE.json, MODEL.onnx, SUITE.txt or SHAPES.csv (or --peak alone)");
  const Expected<std::vector<DType>> dtypes = parse_dtypes(options.dtypes);
  if (!dtypes) return dtypes.status();
  Expected<MeasureOptions> measuring = measure_options(options);
  if (!measuring) return measuring.status();
  const Expected<std::unique_ptr<TbbParallel>> threads = options.kernel.threads();
  if (!threads) return threads.status();
  if (*threads != nullptr) {
    measuring->parallel = &(*threads)->hook();
    measuring->race.clock = Clock::kWall;
  }
  for (const auto& file : {options.csv, options.report}) GEMMC_RETURN_IF_ERROR(check_writable(file));
  constexpr double kMostQuickOperations = 2e7;
  Expected<BenchSources> sources = read_bench_sources(
      options.kernel, {*dtypes, options.quick ? std::optional<double>(kMostQuickOperations) : std::nullopt});
  if (!sources) return sources.status();
  const Expected<PeerSearch> peers = find_peers(
      options.peers, {options.python_prefix, options.modules ? fs::path(*options.modules) : default_modules()});
  if (!peers) return peers.status();

  BenchmarkRun run;
  run.command = command_line();
  run.machine = describe_machine();
  run.date = today();
  run.versions = fmt::format("{} ({})", GEMMC_VERSION, compiler_identity());
  run.target = target->to_string();
  run.race = measuring->race;
  for (const auto& peer : peers->found) run.peers.push_back({peer->name(), peer->version()});
  run.skipped_peers = peers->skipped;
  run.left_out = std::move(sources->left_out);
  run.peaks_before = measure_peaks(target->features);
  Expected<std::vector<Bandwidth>> bandwidths = measure_bandwidths();
  if (!bandwidths) return bandwidths.status();
  run.bandwidths = *std::move(bandwidths);
  GEMMC_RETURN_IF_ERROR(measure_all(*target, sources->entries, *peers, *measuring, run));
  run.peaks_after = measure_peaks(target->features);

  GEMMC_RETURN_IF_ERROR(write_text(options.csv, print_csv(run)));
  GEMMC_RETURN_IF_ERROR(write_text(options.report, print_markdown(run)));
  for (const std::string& skipped : run.skipped_peers) print_note("skipped " + skipped);
  for (const std::string& left_out : run.left_out) print_note("left out: " + left_out);
  options.as_json ? print_json(run_json(run)) : print_stdout(print_table(run));
  return Status::ok();
}

}  // namespace

Verb add_bench(CLI::App& app) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* verb = app.add_subcommand("bench", "Time products beside every peer library that is installed");
  options->kernel.add_sources(*verb, "Problem strings, NODE.json, MODEL.onnx, SUITE.txt, SHAPES.csv");
  options->kernel.add_node(*verb);
  options->kernel.add_target(*verb, "host");
  options->kernel.add_threads(*verb);
  verb->add_option("--dtype", options->dtypes, "Element types for the shapes of suites and tables, e.g. f32,f64")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_repeated(*verb, "--schedule", options->schedules, "Time this schedule line too; may be repeated");
  verb->add_flag("--runtime", options->runtime, "Also the kernel with run-time sizes");
  verb->add_flag("--packed", options->packed, "Also with B packed beforehand, beside peers that can do that");
  verb->add_option("--peers", options->peers, "all, none, or some by name: " + names_text(peer_words()))
      ->delimiter(',')
      ->allow_extra_args(false);
  add_given(*verb, "--rounds", options->rounds, "Rounds of measuring; default 15");
  verb->add_flag("--quick", options->quick, "3 short rounds, and of files only small products");
  add_given(*verb, "--csv", options->csv, "Write the figures there, a line for each contender and product");
  add_given(*verb, "--report", options->report, "Write a report in Markdown there");
  verb->add_flag("--peak", options->peak, "Only the machine's peaks and bandwidths");
  verb->add_option("--python-prefix", options->python_prefix, "Virtual environment with the peers' wheels")
      ->capture_default_str();
  add_given(*verb, "--peer-modules", options->modules, "Folder of the build's gemmc_peer_*.so; default: beside gemmc");
  verb->add_flag("--json", options->as_json, "For machines");
  return {verb, [=] { return bench(*options); }};
}

}  // namespace gemmc
