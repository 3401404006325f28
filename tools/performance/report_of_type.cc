#include "tools/performance/report_of_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace gemmc {
namespace {

// The peer's times at a product, or null.
const Entrant* find_peer(const Measurement& m, const std::string& name) {
  for (const Entrant& entrant : m.entrants)
    if (entrant.role == Role::kPeer && entrant.name == name && !entrant.ns.empty()) return &entrant;
  return nullptr;
}

const Entrant& gemmc_of(const Measurement& m) { return *m.find(Role::kGemmc, false); }

// The peers that took any of the products, in the run's order.
std::vector<std::string> peer_names(const BenchmarkRun& run, const Measured& measured) {
  std::vector<std::string> names;
  for (const BenchmarkRun::PeerLine& peer : run.peers) {
    const bool takes_any = std::any_of(measured.begin(), measured.end(),
                                       [&](const Measurement* m) { return find_peer(*m, peer.name) != nullptr; });
    if (takes_any) names.push_back(peer.name);
  }
  return names;
}

void print_rule(int columns, ReportText out) {
  for (int i = 0; i < columns; ++i) fmt::format_to(out, "|---");
  fmt::format_to(out, "|\n");
}

// One row of the summary: geometric means over the measurements that `select` takes.
void print_summary_row(const BenchmarkRun& run, const Measured& measured, const std::vector<std::string>& peers,
                       const std::string& title, const std::function<bool(const Measurement&)>& select,
                       ReportText out) {
  std::vector<double> shares, best_ratios;
  std::vector<std::vector<double>> ratios(peers.size());
  int count = 0, ahead = 0;
  for (const Measurement* m : measured) {
    if (!select(*m)) continue;
    ++count;
    const Entrant& gemmc = gemmc_of(*m);
    if (const auto peak = run_peak(run, m->dtype)) shares.push_back(median_gops(*m, gemmc) / *peak);
    for (size_t i = 0; i < peers.size(); ++i)
      if (const Entrant* peer = find_peer(*m, peers[i])) ratios[i].push_back(speed_ratio(gemmc, *peer).median);
    if (const Entrant* best = best_peer(*m, false)) {
      best_ratios.push_back(speed_ratio(gemmc, *best).median);
      ahead += best_ratios.back() >= 1;
    }
  }
  if (count == 0) return;
  fmt::format_to(out, "| {} | {} | {} |", title.empty() ? "-" : title, count,
                 shares.empty() ? "-" : fmt::format("{:.0f} %", 100 * geometric_mean(shares)));
  for (const auto& ratio : ratios) {
    const std::string note = ratio.size() == static_cast<size_t>(count) ? "" : fmt::format(" of {}", ratio.size());
    fmt::format_to(out, " {} |", ratio.empty() ? "-" : fmt::format("{:.2f}{}", geometric_mean(ratio), note));
  }
  fmt::format_to(out, " {} | {} |\n", best_ratios.empty() ? "-" : fmt::format("{:.2f}", geometric_mean(best_ratios)),
                 ahead);
}

void print_summary(const BenchmarkRun& run, DType dtype, const Measured& measured, ReportText out) {
  const std::vector<std::string> peers = peer_names(run, measured);
  fmt::format_to(
      out,
      "\n## Summary: {}, sizes known when compiling\n\n"
      "Geometric means. A ratio above 1 means that gemmc is faster; `of n`: the peer takes only n of the products.\n"
      "The last two columns compare with the fastest peer of each product.\n\n| products | count | % of peak |",
      name(dtype));
  for (const std::string& peer : peers) fmt::format_to(out, " / {} |", peer);
  fmt::format_to(out, " / best peer | ahead of all in |\n");
  print_rule(static_cast<int>(peers.size()) + 5, out);
  std::vector<std::string> categories;
  for (const Measurement* m : measured)
    if (std::find(categories.begin(), categories.end(), m->category) == categories.end())
      categories.push_back(m->category);
  const auto print_row = [&](const std::string& title, const std::function<bool(const Measurement&)>& select) {
    print_summary_row(run, measured, peers, title, select, out);
  };
  for (const std::string& category : categories)
    print_row(category, [&](const Measurement& m) { return m.category == category; });
  print_row("64^3 and more, no side under 16", [](const Measurement& m) {
    return m.product.operations() >= 2.0 * 64 * 64 * 64 && std::min({m.product.m, m.product.n, m.product.k}) >= 16;
  });
  print_row("all", [](const Measurement&) { return true; });
}

void print_goal_row(const std::string& title, const RatioSummary& summary, ReportText out) {
  if (summary.count == 0) {
    fmt::format_to(out, "| {} | 0 | - | - | - |\n", title);
    return;
  }
  fmt::format_to(out, "| {} | {} | {:.2f} | {:.2f} | {} |\n", title, summary.count, summary.geometric_mean,
                 summary.worst_ratio, summary.worst->product.to_string());
}

void print_goals(const BenchmarkRun& run, DType dtype, const Measured& measured, ReportText out) {
  fmt::format_to(out,
                 "\n## {} by what limits the product\n\nTimes as fast as the best peer of each product.\n\n"
                 "| class | products | geometric mean | worst | of |\n",
                 name(dtype));
  print_rule(5, out);
  for (const GoalClass goal : kAllGoalClasses) {
    Measured of_class;
    std::copy_if(measured.begin(), measured.end(), std::back_inserter(of_class),
                 [&](const Measurement* m) { return goal_class(run, *m) == goal; });
    print_goal_row(title(goal), summarise(of_class, false), out);
  }
  print_goal_row("all", summarise(measured, false), out);
  if (const RatioSummary packed = summarise(measured, true); packed.count > 0)
    print_goal_row("all, packed B against packed B", packed, out);
}

void print_weak_points(DType dtype, const Measured& measured, ReportText out) {
  struct Behind {
    const Measurement* measurement;
    const Entrant* peer;
    Spread ratio;
  };
  std::vector<Behind> list;
  for (const Measurement* m : measured)
    if (const Entrant* best = best_peer(*m, false))
      if (const Spread ratio = speed_ratio(gemmc_of(*m), *best); ratio.median < 1) list.push_back({m, best, ratio});
  std::sort(list.begin(), list.end(),
            [](const Behind& left, const Behind& right) { return left.ratio.median < right.ratio.median; });
  fmt::format_to(out,
                 "\n## Where gemmc is behind: {}\n\n"
                 "{} of {} products, worst first.\n\n| M x N x K | ratio (quartiles) | GFLOP/s | best peer | its "
                 "GFLOP/s | gemmc's schedule |\n",
                 name(dtype), list.size(), measured.size());
  print_rule(6, out);
  for (const Behind& behind : list) {
    const Measurement& m = *behind.measurement;
    fmt::format_to(out, "| {} | {:.2f} ({:.2f}-{:.2f}) | {:.1f} | {} | {:.1f} | {} |\n", m.product.to_string(),
                   behind.ratio.median, behind.ratio.lower_quartile, behind.ratio.upper_quartile,
                   median_gops(m, gemmc_of(m)), behind.peer->name, median_gops(m, *behind.peer), gemmc_of(m).schedule);
  }
}

// "L3 92 %", or "-" where arithmetic limits.
std::string print_reading(const BenchmarkRun& run, const Measurement& m) {
  const Bandwidth* level = limiting_level(run, m);
  if (level == nullptr) return "-";
  return fmt::format("{} {:.0f} %", level->level, 100 * bandwidth_share(m, gemmc_of(m), *level));
}

void print_products(const BenchmarkRun& run, DType dtype, const Measured& measured, ReportText out) {
  const std::optional<double> peak = run_peak(run, dtype);
  const std::vector<std::string> peers = peer_names(run, measured);
  fmt::format_to(out,
                 "\n## All {} products, GFLOP/s\n\n`ta`, `tb`: the operand is stored transposed. \"Run-time\" "
                 "is one kernel for all sizes, of which the products only share\nthe storage order. \"Reading\" is the "
                 "share of the bandwidth of the level that holds the operands, where reading them\nis what limits.\n\n"
                 "| M x N x K | gemmc | % of peak | reading | run-time |",
                 name(dtype));
  for (const std::string& peer : peers) fmt::format_to(out, " {} |", peer);
  fmt::format_to(out, " / best peer |\n");
  print_rule(static_cast<int>(peers.size()) + 6, out);
  const auto print_optional = [](const Measurement& m, const Entrant* entrant) {
    return entrant == nullptr ? std::string("-") : fmt::format("{:.1f}", median_gops(m, *entrant));
  };
  for (const Measurement* m : measured) {
    const Entrant& gemmc = gemmc_of(*m);
    fmt::format_to(out, "| {} | {} | {} | {} | {} |", m->product.to_string(), print_gops(*m, gemmc),
                   print_share(median_gops(*m, gemmc), peak), print_reading(run, *m),
                   print_optional(*m, m->find(Role::kRuntime, false)));
    for (const std::string& peer : peers) fmt::format_to(out, " {} |", print_optional(*m, find_peer(*m, peer)));
    const Entrant* best = best_peer(*m, false);
    fmt::format_to(out, " {} |\n", best ? fmt::format("{:.2f}", speed_ratio(gemmc, *best).median) : std::string("-"));
  }
}

void print_packed(DType dtype, const Measured& measured, ReportText out) {
  if (std::none_of(measured.begin(), measured.end(),
                   [](const Measurement* m) { return m->find(Role::kGemmc, true) != nullptr; }))
    return;
  fmt::format_to(out,
                 "\n## {} with B packed beforehand, GFLOP/s\n\n"
                 "Packing is not in the times. \"Plain\" is gemmc without it.\n\n"
                 "| M x N x K | plain | packed | best packed peer | its GFLOP/s | / best packed peer | schedule |\n",
                 name(dtype));
  print_rule(7, out);
  for (const Measurement* m : measured) {
    const Entrant* packed = m->find(Role::kGemmc, true);
    if (packed == nullptr) continue;
    const Entrant* best = best_peer(*m, true);
    fmt::format_to(out, "| {} | {:.1f} | {} | {} | {} | {} | {} |\n", m->product.to_string(),
                   median_gops(*m, gemmc_of(*m)), print_gops(*m, *packed), best ? best->name : "-",
                   best ? fmt::format("{:.1f}", median_gops(*m, *best)) : "-",
                   best ? fmt::format("{:.2f}", speed_ratio(*packed, *best).median) : "-", packed->schedule);
  }
}

}  // namespace

std::string print_gops(const Measurement& measurement, const Entrant& entrant) {
  const Spread s = spread(entrant.ns);
  return fmt::format("{:.1f} ({:.1f}-{:.1f})", gops(measurement.product, s.median),
                     gops(measurement.product, s.upper_quartile), gops(measurement.product, s.lower_quartile));
}

std::string print_share(double gops, std::optional<double> peak) {
  return peak ? fmt::format("{:.0f} %", 100 * gops / *peak) : "-";
}

bool has_peers(const Measured& measured) {
  return std::any_of(measured.begin(), measured.end(),
                     [](const Measurement* m) { return best_peer(*m, false) != nullptr; });
}

void print_type_with_peers(const BenchmarkRun& run, DType dtype, const Measured& measured, ReportText out) {
  print_summary(run, dtype, measured, out);
  print_goals(run, dtype, measured, out);
  print_weak_points(dtype, measured, out);
  print_products(run, dtype, measured, out);
  print_packed(dtype, measured, out);
}

}  // namespace gemmc
