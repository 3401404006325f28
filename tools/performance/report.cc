#include "tools/performance/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/performance/report_of_type.h"

namespace gemmc {
namespace {

void print_head(const BenchmarkRun& r, ReportText out) {
  fmt::format_to(out,
                 "# Benchmarks\n\nWritten by `{}` on {}; do not edit by hand.\n\n"
                 "| | |\n|---|---|\n"
                 "| processor | {}, {} cores usable, one used |\n| caches | {} |\n| system | {} |\n"
                 "| load | {:.1f} runnable threads on average in the minute before |\n"
                 "| gemmc | {}, kernels for {} |\n",
                 r.command, r.date, r.machine.cpu, r.machine.cores, r.machine.caches, r.machine.system, r.machine.load,
                 r.versions, r.target);
  for (const BenchmarkRun::PeerLine& peer : r.peers) fmt::format_to(out, "| {} | {} |\n", peer.name, peer.version);
  for (const std::string& skipped : r.skipped_peers) fmt::format_to(out, "| not measured | {} |\n", skipped);
  for (const std::string& left_out : r.left_out) fmt::format_to(out, "| left out | {} |\n", left_out);

  const bool has_threads = r.race.clock == Clock::kWall;
  fmt::format_to(
      out,
      "\n## How it was measured\n\n"
      "* Each result is compared with a plain computation of sampled elements first; a wrong one of gemmc's stops the\n"
      "  run, a wrong one of a peer's does not count.\n"
      "* {} Operands are warm, dense, row-major and aligned to 64 bytes; Y is overwritten.\n"
      "* Everyone computes the same product in turn, in one process: {} rounds (a third of them where a call takes "
      "more\n"
      "  than 50 ms), samples of {:.1f} ms or one call. Figures are medians of the rounds, with the quartiles in\n"
      "  parentheses; ratios are taken round by round.\n"
      "* {}\n"
      "* GFLOP/s (GOP/s for integers): 2 M N K operations. The peak is measured too, with multiply-adds on registers,\n"
      "  and so is how fast one core reads from each cache and from memory.\n"
      "* Peers get plain calls with a plain B, unless a table says otherwise.\n",
      has_threads ? "One thread, but for gemmc where a line says more." : "One thread.", r.race.rounds,
      r.race.sample_ns / 1e6,
      has_threads ? "Time is the wall clock's, which has to wait where others have the cores: mind the quartiles."
                  : "Time is the process's CPU time, which leaves out the time that others had the core. On a loaded "
                    "machine caches\n  and clock are still shared: mind the quartiles.");
}

void print_peaks(const BenchmarkRun& r, ReportText out) {
  fmt::format_to(out,
                 "\n## Peak of one core\n\n| type | instructions | lanes | GOP/s before | GOP/s after |\n"
                 "|---|---|---|---|---|\n");
  for (size_t i = 0; i < r.peaks_before.size() && i < r.peaks_after.size(); ++i) {
    const Peak& peak = r.peaks_before[i];
    fmt::format_to(out, "| {} | {} | {} | {:.1f} | {:.1f} |\n", name(peak.dtype), peak.extension, peak.lanes, peak.gops,
                   r.peaks_after[i].gops);
  }
  if (r.bandwidths.empty()) return;
  fmt::format_to(out, "\n| read from | size of what was read, KiB | GB/s |\n|---|---|---|\n");
  for (const Bandwidth& level : r.bandwidths)
    fmt::format_to(out, "| {} | {} | {:.1f} |\n", level.level, level.read_bytes / 1024, level.gbytes_per_s);
}

// Products for which compiling with the sizes known made the kernel slower than the one for all sizes, by more than the
// spread of the rounds: equal kernels differ by chance.
void print_poor_choices(const BenchmarkRun& r, ReportText out) {
  struct Poor {
    const Measurement* measurement;
    const Entrant *known, *runtime;
    Spread ratio;
  };
  std::vector<Poor> list;
  int compared = 0;
  for (const Measurement& m : r.measurements) {
    const Entrant *known = m.find(Role::kGemmc, false), *runtime = m.find(Role::kRuntime, false);
    if (known == nullptr || runtime == nullptr) continue;
    ++compared;
    if (const Spread ratio = speed_ratio(*known, *runtime); ratio.upper_quartile < 1)
      list.push_back({&m, known, runtime, ratio});
  }
  if (compared == 0) return;
  std::sort(list.begin(), list.end(),
            [](const Poor& left, const Poor& right) { return left.ratio.median < right.ratio.median; });
  fmt::format_to(
      out,
      "\n## Where knowing the sizes does not pay\n\nIn {} of {} products the kernel that was compiled for the "
      "sizes is slower than the one that takes all sizes,\nupper quartile of the rounds included.\n\n"
      "| type | M x N x K | ratio (quartiles) | GFLOP/s | with run-time sizes | schedule "
      "|\n|---|---|---|---|---|---|\n",
      list.size(), compared);
  for (const Poor& poor : list)
    fmt::format_to(out, "| {} | {} | {:.2f} ({:.2f}-{:.2f}) | {:.1f} | {:.1f} | {} |\n", name(poor.measurement->dtype),
                   poor.measurement->product.to_string(), poor.ratio.median, poor.ratio.lower_quartile,
                   poor.ratio.upper_quartile, median_gops(*poor.measurement, *poor.known),
                   median_gops(*poor.measurement, *poor.runtime), poor.known->schedule);
}

void print_types_without_peers(const BenchmarkRun& r, const std::vector<std::pair<DType, Measured>>& types,
                               ReportText out) {
  if (types.empty()) return;
  fmt::format_to(out,
                 "\n## Types without peers, GOP/s\n\n16-bit floats are summed in float32, so float32's peak is theirs, "
                 "but for bfloat16 where the CPU multiplies it.\n\n"
                 "| type | M x N x K | gemmc | % of peak | run-time | schedule |\n|---|---|---|---|---|---|\n");
  for (const auto& [dtype, measured] : types) {
    for (const Measurement* m : measured) {
      const Entrant& gemmc = *m->find(Role::kGemmc, false);
      const Entrant* runtime = m->find(Role::kRuntime, false);
      fmt::format_to(out, "| {} | {} | {} | {} | {} | {} |\n", name(dtype), m->product.to_string(),
                     print_gops(*m, gemmc), print_share(median_gops(*m, gemmc), run_peak(r, dtype)),
                     runtime != nullptr ? fmt::format("{:.1f}", median_gops(*m, *runtime)) : "-", gemmc.schedule);
    }
  }
}

// gemmc in several threads beside gemmc in one.
void print_threads(const BenchmarkRun& r, ReportText out) {
  std::string rows;
  for (const Measurement& m : r.measurements) {
    const Entrant* threads = m.find(Role::kThreads, false);
    if (threads == nullptr) continue;
    const Entrant& alone = *m.find(Role::kGemmc, false);
    const Spread ratio = speed_ratio(*threads, alone);
    fmt::format_to(ReportText(rows), "| {} | {} | {} | {} | {} | {:.2f} ({:.2f}-{:.2f}) |\n", name(m.dtype),
                   m.product.to_string(), threads->name, print_gops(m, *threads), print_gops(m, alone), ratio.median,
                   ratio.lower_quartile, ratio.upper_quartile);
  }
  if (rows.empty()) return;
  fmt::format_to(out,
                 "\n## Several threads, GFLOP/s\n\n| type | M x N x K | contender | with them | one thread | times as "
                 "fast (quartiles) |\n|---|---|---|---|---|---|\n{}",
                 rows);
}

// Schedules that the user gave, beside gemmc's choice.
void print_given_schedules(const BenchmarkRun& r, ReportText out) {
  std::string rows;
  for (const Measurement& m : r.measurements) {
    const Entrant& gemmc = *m.find(Role::kGemmc, false);
    for (const Entrant& entrant : m.entrants) {
      if (entrant.role != Role::kSchedule) continue;
      const bool is_timed = !entrant.ns.empty();
      fmt::format_to(ReportText(rows), "| {} | {} | {} | {} | {} | {} |\n", name(m.dtype), m.product.to_string(),
                     entrant.name, is_timed ? print_gops(m, entrant) : entrant.left_out, print_gops(m, gemmc),
                     is_timed ? fmt::format("{:.2f}", speed_ratio(entrant, gemmc).median) : "-");
    }
  }
  if (rows.empty()) return;
  fmt::format_to(out,
                 "\n## Given schedules, GFLOP/s\n\n| type | M x N x K | schedule | with it | chosen | / chosen |\n"
                 "|---|---|---|---|---|---|\n{}",
                 rows);
}

void print_compile_times(const BenchmarkRun& r, ReportText out) {
  std::map<std::string, std::vector<double>> by_family;
  for (const Measurement& m : r.measurements) {
    const Entrant& gemmc = *m.find(Role::kGemmc, false);
    by_family[gemmc.schedule.substr(0, gemmc.schedule.find(' '))].push_back(gemmc.compile_ns / 1e6);
  }
  fmt::format_to(
      out,
      "\n## The first request of a kernel, ms\n\nSchedule choice, Halide, LLVM and linking into the process; "
      "not part of any figure above. Kernels with sizes known.\n\n"
      "| schedule family | kernels | least | lower quartile | median | upper quartile | most |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const auto& [family, ms] : by_family) {
    const Spread s = spread(ms);
    fmt::format_to(out, "| {} | {} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} |\n", family, ms.size(),
                   *std::min_element(ms.begin(), ms.end()), s.lower_quartile, s.median, s.upper_quartile,
                   *std::max_element(ms.begin(), ms.end()));
  }
}

}  // namespace

std::string print_markdown(const BenchmarkRun& run) {
  std::map<DType, Measured> by_type;
  for (const Measurement& m : run.measurements) by_type[m.dtype].push_back(&m);
  std::string text;
  const ReportText out(text);
  print_head(run, out);
  print_peaks(run, out);
  std::vector<std::pair<DType, Measured>> without_peers;
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt32,
                            DType::kInt64, DType::kUInt32, DType::kUInt64}) {
    if (!by_type.contains(dtype)) continue;
    if (has_peers(by_type[dtype])) {
      print_type_with_peers(run, dtype, by_type[dtype], out);
    } else {
      without_peers.emplace_back(dtype, by_type[dtype]);
    }
  }
  print_types_without_peers(run, without_peers, out);
  print_threads(run, out);
  print_given_schedules(run, out);
  print_poor_choices(run, out);
  print_compile_times(run, out);
  return text;
}

}  // namespace gemmc
