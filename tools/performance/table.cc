#include "tools/performance/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "tools/performance/figures.h"

namespace gemmc {
namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr size_t kWidth = 120;

std::string cut(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

// "12.3 ns", "4.56 us", "7.89 ms"
std::string print_time(double ns) {
  if (ns < 1e3) return fmt::format("{:.1f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns / 1e3);
  return fmt::format("{:.2f} ms", ns / 1e6);
}

// "104 bytes", "48 KiB", "4.0 MiB"
std::string print_bytes(double bytes) {
  constexpr double kKib = 1024, kMib = 1024 * kKib;
  if (bytes < 8 * kKib) return fmt::format("{:.0f} bytes", bytes);
  return bytes < kMib ? fmt::format("{:.0f} KiB", bytes / kKib) : fmt::format("{:.1f} MiB", bytes / kMib);
}

std::string print_percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Columns: name, time, GFLOP/s, its quartiles, share of the peak, share of the bandwidth, ratio.
constexpr char kLine[] = "  {:<50} {:>9} {:>8} {:>17} {:>7} {:>8} {:>10}\n";

void print_head(const BenchmarkRun& run, Out out) {
  fmt::format_to(out, "machine   {}; {}\n", run.machine.cpu, run.machine.caches);
  fmt::format_to(out, "gemmc     {}, kernels for {}\n", run.versions, run.target);
  for (const BenchmarkRun::PeerLine& peer : run.peers)
    fmt::format_to(out, "peer      {}\n", cut(fmt::format("{} {}", peer.name, peer.version), kWidth - 10));
  fmt::format_to(
      out, "rounds    {}; median and quartiles, warm, {}\n", run.race.rounds,
      run.race.clock == Clock::kCpu ? "one thread, CPU time" : "one thread if no line says more, wall clock");
}

void print_entrant(const BenchmarkRun& run, const Measurement& m, const Entrant& entrant, Out out) {
  const Spread ns = spread(entrant.ns);
  const std::optional<double> peak = run_peak(run, m.dtype);
  const Bandwidth* level = limiting_level(run, m);
  const Entrant* best = best_peer(m, entrant.has_packed_b);
  fmt::format_to(out, kLine, cut(entrant.name, 50), print_time(ns.median),
                 fmt::format("{:.1f}", gops(m.product, ns.median)),
                 fmt::format("({:.1f}-{:.1f})", gops(m.product, ns.upper_quartile), gops(m.product, ns.lower_quartile)),
                 peak ? print_percent(median_gops(m, entrant) / *peak) : "-",
                 level != nullptr ? print_percent(bandwidth_share(m, entrant, *level)) : "-",
                 best != nullptr ? fmt::format("{:.2f}", speed_ratio(entrant, *best).median) : "-");
}

void print_measurement(const BenchmarkRun& run, const Measurement& m, Out out) {
  const Bandwidth* level = limiting_level(run, m);
  const std::string limit = level == nullptr ? "" : ", limited by reading from " + level->level;
  const std::string category = m.category.empty() ? "" : fmt::format(" ({})", m.category);
  fmt::format_to(out, "\n{}\n",
                 cut(fmt::format("{} {}{}: {} of operands{}", short_name(m.dtype), m.product.to_string(), category,
                                 print_bytes(operand_bytes(m)), limit),
                     kWidth));
  fmt::format_to(out, kLine, "contender", "time", is_integer(m.dtype) ? "GOP/s" : "GFLOP/s", "quartiles", "of peak",
                 "of read", "/ best peer");
  std::map<std::string, std::vector<std::string>> left_out;  // reason -> names
  for (const Entrant& entrant : m.entrants) {
    if (entrant.ns.empty()) {
      left_out[entrant.left_out].push_back(entrant.name);
    } else {
      print_entrant(run, m, entrant, out);
    }
  }
  for (const auto& [reason, names] : left_out)
    fmt::format_to(out, "  {}\n", cut(fmt::format("left out: {}: {}", fmt::join(names, ", "), reason), kWidth - 2));
}

void print_summary_line(const std::string& title, const RatioSummary& summary, Out out) {
  if (summary.count == 0) return;
  fmt::format_to(out, "  {:<40} {:>8} {:>9.2f} {:>7.2f}  {}\n", title, summary.count, summary.geometric_mean,
                 summary.worst_ratio, cut(summary.worst->product.to_string(), 50));
}

void print_summary(const BenchmarkRun& run, DType dtype, Out out) {
  std::vector<const Measurement*> all;
  for (const Measurement& m : run.measurements)
    if (m.dtype == dtype) all.push_back(&m);
  const RatioSummary threads = summarise_threads(all);
  if (summarise(all, false).count + summarise(all, true).count + threads.count == 0) return;
  fmt::format_to(out, "\n{:<42} {:>8} {:>9} {:>7}\n", fmt::format("{}, gemmc / best peer", name(dtype)), "products",
                 "geo. mean", "worst");
  for (const GoalClass goal : kAllGoalClasses) {
    std::vector<const Measurement*> of_class;
    std::copy_if(all.begin(), all.end(), std::back_inserter(of_class),
                 [&](const Measurement* m) { return goal_class(run, *m) == goal; });
    print_summary_line(title(goal), summarise(of_class, false), out);
  }
  print_summary_line("all", summarise(all, false), out);
  print_summary_line("all, packed B against packed B", summarise(all, true), out);
  print_summary_line("in several threads / in one", threads, out);
}

}  // namespace

std::string print_peak_table(const std::vector<Peak>& peaks, const std::vector<Bandwidth>& bandwidths) {
  std::string text;
  const Out out(text);
  for (const Peak& peak : peaks)
    fmt::format_to(out, "{:8} {:9} {:2} lanes {:7.1f} GOP/s\n", name(peak.dtype), peak.extension, peak.lanes,
                   peak.gops);
  for (const Bandwidth& level : bandwidths)
    fmt::format_to(out, "read     {:9} {:7} KiB {:5.1f} GB/s\n", level.level, level.read_bytes / 1024,
                   level.gbytes_per_s);
  return text;
}

std::string print_table(const BenchmarkRun& run) {
  std::string text;
  const Out out(text);
  print_head(run, out);
  text += print_peak_table(run.peaks_before, run.bandwidths);
  for (const Measurement& m : run.measurements) print_measurement(run, m, out);
  for (const DType dtype : kAllDTypes) print_summary(run, dtype, out);
  return text;
}

}  // namespace gemmc
