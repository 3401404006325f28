#include "tools/performance/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>

#include "tools/performance/timing.h"

namespace gemmc {
namespace {

using Out = std::back_insert_iterator<std::string>;

double gops(const Product& product, double ns) { return product.operations() / ns; }

double median_gops(const Product& product, const std::vector<double>& ns) { return gops(product, spread(ns).median); }

// "107.2 (105.1-108.0)": median and quartiles.
std::string print_gops(const Product& product, const std::vector<double>& ns) {
  const Spread s = spread(ns);
  return fmt::format("{:.1f} ({:.1f}-{:.1f})", gops(product, s.median), gops(product, s.upper_quartile),
                     gops(product, s.lower_quartile));
}

std::string print_share(double value, std::optional<double> peak) {
  return peak ? fmt::format("{:.0f} %", 100 * value / *peak) : "-";
}

// How many times as fast as `peer_ns` gemmc was: round by round, since both were measured in each.
Spread speed_ratio(const Measurement& m, const std::vector<double>& peer_ns) {
  std::vector<double> ratios;
  for (size_t round = 0; round < m.static_ns.size(); ++round) ratios.push_back(peer_ns[round] / m.static_ns[round]);
  return spread(std::move(ratios));
}

// The peer with the shortest median; nothing where no peer took the product.
std::optional<size_t> best_peer(const Measurement& m) {
  std::optional<size_t> best;
  for (size_t i = 0; i < m.peers_ns.size(); ++i) {
    if (m.peers_ns[i].empty()) continue;
    if (!best || spread(m.peers_ns[i]).median < spread(m.peers_ns[*best]).median) best = i;
  }
  return best;
}

// Which peak counts: the higher of the figures before and after.
std::optional<double> report_peak(const Report& report, DType dtype) {
  const std::optional<double> before = peak_gops(report.peaks_before, dtype);
  const std::optional<double> after = peak_gops(report.peaks_after, dtype);
  return before && after ? std::max(before, after) : before ? before : after;
}

void print_head(const Report& r, Out out) {
  fmt::format_to(out,
                 "# Benchmarks\n\nWritten by `{}` on {}; do not edit by hand.\n\n"
                 "| | |\n|---|---|\n"
                 "| processor | {}, {} cores usable, one used |\n| caches | {} |\n| system | {} |\n"
                 "| load | {:.1f} runnable threads on average in the minute before |\n"
                 "| gemmc | {}, kernels for {} |\n",
                 r.command, r.date, r.machine.cpu, r.machine.cores, r.machine.caches, r.machine.system, r.machine.load,
                 r.versions, r.target);
  for (size_t i = 0; i < r.peer_names.size(); ++i)
    fmt::format_to(out, "| {} | {} |\n", r.peer_names[i], r.peer_versions[i]);
  for (const std::string& skipped : r.skipped_peers) fmt::format_to(out, "| not measured | {} |\n", skipped);

  fmt::format_to(
      out,
      "\n## How it was measured\n\n"
      "* Each result is compared with a plain computation of sampled elements first; a wrong one stops the run.\n"
      "* One thread. Operands are warm, dense, row-major and aligned to 64 bytes; Y is overwritten.\n"
      "* Everyone computes the same product in turn, in one process: {} rounds (a third of them where a call takes "
      "more\n"
      "  than 50 ms), samples of {:.1f} ms or one call. Figures are medians of the rounds, with the quartiles in\n"
      "  parentheses; ratios are taken round by round.\n"
      "* Time is the process's CPU time, which leaves out the time that others had the core. On a loaded machine "
      "caches\n"
      "  and clock are still shared: mind the quartiles.\n"
      "* GFLOP/s (GOP/s for integers): 2 M N K operations. The peak is measured too, with multiply-adds on registers.\n"
      "* Peers get plain calls. What the best of them can do with B packed beforehand is not measured, nor are MKL, "
      "ONNX\n"
      "  Runtime and PyTorch.\n",
      r.race.rounds, r.race.sample_ns / 1e6);
}

void print_peaks(const Report& r, Out out) {
  fmt::format_to(out,
                 "\n## Peak of one core\n\n| type | instructions | lanes | GOP/s before | GOP/s after |\n"
                 "|---|---|---|---|---|\n");
  for (size_t i = 0; i < r.peaks_before.size() && i < r.peaks_after.size(); ++i) {
    const Peak& peak = r.peaks_before[i];
    fmt::format_to(out, "| {} | {} | {} | {:.1f} | {:.1f} |\n", name(peak.dtype), peak.extension, peak.lanes, peak.gops,
                   r.peaks_after[i].gops);
  }
}

// One row of the summary: geometric means over the measurements that `select` takes.
void print_summary_row(const Report& r, Out out, const std::string& title,
                       const std::function<bool(const Measurement&)>& select) {
  std::vector<double> shares, best_ratios;
  std::vector<std::vector<double>> ratios(r.peer_names.size());
  int count = 0, ahead = 0;
  const std::optional<double> peak = report_peak(r, DType::kFloat32);
  for (const Measurement& m : r.suite) {
    if (!select(m)) continue;
    ++count;
    if (peak) shares.push_back(median_gops(m.product, m.static_ns) / *peak);
    for (size_t i = 0; i < m.peers_ns.size(); ++i)
      if (!m.peers_ns[i].empty()) ratios[i].push_back(speed_ratio(m, m.peers_ns[i]).median);
    if (const auto best = best_peer(m)) {
      best_ratios.push_back(speed_ratio(m, m.peers_ns[*best]).median);
      ahead += best_ratios.back() >= 1;
    }
  }
  if (count == 0) return;
  fmt::format_to(out, "| {} | {} | {:.0f} % |", title, count, 100 * geometric_mean(shares));
  for (const auto& ratio : ratios) {
    const std::string note = ratio.size() == static_cast<size_t>(count) ? "" : fmt::format(" of {}", ratio.size());
    fmt::format_to(out, " {} |", ratio.empty() ? "-" : fmt::format("{:.2f}{}", geometric_mean(ratio), note));
  }
  fmt::format_to(out, " {} | {} |\n", best_ratios.empty() ? "-" : fmt::format("{:.2f}", geometric_mean(best_ratios)),
                 ahead);
}

void print_summary(const Report& r, Out out) {
  fmt::format_to(
      out,
      "\n## Summary: float32, sizes known when compiling\n\n"
      "Geometric means. A ratio above 1 means that gemmc is faster; `of n`: the peer takes only n of the products.\n"
      "The last two columns compare with the fastest peer of each product.\n\n| products | count | % of peak |");
  for (const std::string& peer : r.peer_names) fmt::format_to(out, " / {} |", peer);
  fmt::format_to(out, " / best peer | ahead of all in |\n|---|---|---|");
  for (size_t i = 0; i < r.peer_names.size(); ++i) fmt::format_to(out, "---|");
  fmt::format_to(out, "---|---|\n");
  std::vector<std::string> categories;
  for (const Measurement& m : r.suite)
    if (std::find(categories.begin(), categories.end(), m.category) == categories.end())
      categories.push_back(m.category);
  for (const std::string& category : categories)
    print_summary_row(r, out, category, [&](const Measurement& m) { return m.category == category; });
  print_summary_row(r, out, "64^3 and more, no side under 16", [](const Measurement& m) {
    return m.product.operations() >= 2.0 * 64 * 64 * 64 && std::min({m.product.m, m.product.n, m.product.k}) >= 16;
  });
  print_summary_row(r, out, "all", [](const Measurement&) { return true; });
}

void print_weak_points(const Report& r, Out out) {
  struct Behind {
    const Measurement* measurement;
    size_t peer;
    Spread ratio;
  };
  std::vector<Behind> list;
  for (const Measurement& m : r.suite)
    if (const auto best = best_peer(m))
      if (const Spread ratio = speed_ratio(m, m.peers_ns[*best]); ratio.median < 1) list.push_back({&m, *best, ratio});
  std::sort(list.begin(), list.end(),
            [](const Behind& left, const Behind& right) { return left.ratio.median < right.ratio.median; });
  fmt::format_to(out, "\n## Where gemmc is behind\n\n");
  if (r.peer_names.empty()) {
    fmt::format_to(out, "No peer was found, so this run cannot tell.\n");
    return;
  }
  fmt::format_to(out,
                 "{} of {} products, worst first.\n\n| M x N x K | ratio (quartiles) | GFLOP/s | best peer | its "
                 "GFLOP/s | gemmc's schedule |\n|---|---|---|---|---|---|\n",
                 list.size(), r.suite.size());
  for (const Behind& behind : list) {
    const Measurement& m = *behind.measurement;
    fmt::format_to(out, "| {} | {:.2f} ({:.2f}-{:.2f}) | {:.1f} | {} | {:.1f} | {} |\n", m.product.to_string(),
                   behind.ratio.median, behind.ratio.lower_quartile, behind.ratio.upper_quartile,
                   median_gops(m.product, m.static_ns), r.peer_names[behind.peer],
                   median_gops(m.product, m.peers_ns[behind.peer]), m.schedule);
  }
}

// Products for which compiling with the sizes known made the kernel slower than the one for all sizes, by more than the
// spread of the rounds: equal kernels differ by chance.
void print_poor_choices(const Report& r, Out out) {
  const auto ratio = [](const Measurement& m) { return speed_ratio(m, m.runtime_ns); };
  std::vector<const Measurement*> list;
  for (const Measurement& m : r.suite)
    if (ratio(m).upper_quartile < 1) list.push_back(&m);
  std::sort(list.begin(), list.end(), [&](const Measurement* left, const Measurement* right) {
    return ratio(*left).median < ratio(*right).median;
  });
  fmt::format_to(
      out,
      "\n## Where knowing the sizes does not pay\n\nIn {} of {} products the kernel that was compiled for the "
      "sizes is slower than the one that takes all sizes,\nupper quartile of the rounds included.\n\n"
      "| M x N x K | ratio (quartiles) | GFLOP/s | with run-time sizes | schedule |\n|---|---|---|---|---|\n",
      list.size(), r.suite.size());
  for (const Measurement* m : list)
    fmt::format_to(out, "| {} | {:.2f} ({:.2f}-{:.2f}) | {:.1f} | {:.1f} | {} |\n", m->product.to_string(),
                   ratio(*m).median, ratio(*m).lower_quartile, ratio(*m).upper_quartile,
                   median_gops(m->product, m->static_ns), median_gops(m->product, m->runtime_ns), m->schedule);
}

void print_suite(const Report& r, Out out) {
  const std::optional<double> peak = report_peak(r, DType::kFloat32);
  fmt::format_to(out,
                 "\n## All float32 products, GFLOP/s\n\n`ta`, `tb`: the operand is stored transposed. \"Run-time\" "
                 "is one kernel for all sizes, of which the products only share\nthe storage order.\n\n"
                 "| M x N x K | gemmc | % of peak | run-time |");
  for (const std::string& peer : r.peer_names) fmt::format_to(out, " {} |", peer);
  fmt::format_to(out, " / best peer |\n|---|---|---|---|");
  for (size_t i = 0; i < r.peer_names.size(); ++i) fmt::format_to(out, "---|");
  fmt::format_to(out, "---|\n");
  for (const Measurement& m : r.suite) {
    fmt::format_to(out, "| {} | {} | {} | {:.1f} |", m.product.to_string(), print_gops(m.product, m.static_ns),
                   print_share(median_gops(m.product, m.static_ns), peak), median_gops(m.product, m.runtime_ns));
    for (const auto& ns : m.peers_ns)
      fmt::format_to(out, " {} |", ns.empty() ? "-" : fmt::format("{:.1f}", median_gops(m.product, ns)));
    const auto best = best_peer(m);
    fmt::format_to(out, " {} |\n",
                   best ? fmt::format("{:.2f}", speed_ratio(m, m.peers_ns[*best]).median) : std::string("-"));
  }
}

void print_types(const Report& r, Out out) {
  fmt::format_to(
      out,
      "\n## The other types, GOP/s\n\nNo peers. 16-bit floats are summed in float32, so float32's peak is theirs; "
      "64-bit integers have no measured peak.\n\n"
      "| type | M x N x K | gemmc | % of peak | run-time | schedule |\n|---|---|---|---|---|---|\n");
  for (const Measurement& m : r.types)
    fmt::format_to(out, "| {} | {} | {} | {} | {:.1f} | {} |\n", name(m.dtype), m.product.to_string(),
                   print_gops(m.product, m.static_ns),
                   print_share(median_gops(m.product, m.static_ns), report_peak(r, m.dtype)),
                   median_gops(m.product, m.runtime_ns), m.schedule);
}

void print_compile_times(const Report& r, Out out) {
  std::map<std::string, std::vector<double>> by_family;
  for (const auto* list : {&r.suite, &r.types})
    for (const Measurement& m : *list)
      by_family[m.schedule.substr(0, m.schedule.find(' '))].push_back(m.compile_ns / 1e6);
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

std::string print_markdown(const Report& report) {
  std::string text;
  const Out out(text);
  print_head(report, out);
  print_peaks(report, out);
  print_summary(report, out);
  print_weak_points(report, out);
  print_poor_choices(report, out);
  print_suite(report, out);
  print_types(report, out);
  print_compile_times(report, out);
  return text;
}

}  // namespace gemmc
