#include "tools/performance/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "core/text.h"
#include "tools/performance/figures.h"

namespace gemmc {
namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr char kColumns[] =
    "class,problem,dtype,batch,m,n,k,trans_a,trans_b,contender,role,packed_b,schedule,compile_ms,rounds,"
    "lower_quartile_ns,median_ns,upper_quartile_ns,gops,peak_share,operand_bytes,read_level,read_share,"
    "best_peer_ratio,left_out";

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

const char* role_name(Role role) {
  switch (role) {
    case Role::kGemmc:
      return "gemmc";
    case Role::kThreads:
      return "threads";
    case Role::kRuntime:
      return "runtime";
    case Role::kSchedule:
      return "schedule";
    case Role::kPeer:
      return "peer";
  }
  return "";
}

void print_comment(Out out, const std::string& key, const std::string& value) {
  fmt::format_to(out, "# {}: {}\n", key, one_line(value, std::string::npos));
}

void print_comments(const BenchmarkRun& run, Out out) {
  print_comment(out, "format", "gemmc bench 1");
  print_comment(out, "command", run.command);
  print_comment(out, "date", run.date);
  print_comment(out, "cpu", run.machine.cpu);
  print_comment(out, "cores", fmt::format("{} usable, one used", run.machine.cores));
  print_comment(out, "caches", run.machine.caches);
  print_comment(out, "system", run.machine.system);
  print_comment(out, "load", fmt::format("{:.1f}", run.machine.load));
  print_comment(out, "gemmc", run.versions);
  print_comment(out, "target", run.target);
  for (const BenchmarkRun::PeerLine& peer : run.peers) print_comment(out, "peer " + peer.name, peer.version);
  for (const std::string& skipped : run.skipped_peers) print_comment(out, "skipped", skipped);
  for (const std::string& left_out : run.left_out) print_comment(out, "left out", left_out);
  for (size_t i = 0; i < run.peaks_before.size(); ++i) {
    const Peak& peak = run.peaks_before[i];
    const double after = i < run.peaks_after.size() ? run.peaks_after[i].gops : peak.gops;
    print_comment(out, fmt::format("peak {} {}", name(peak.dtype), peak.extension),
                  fmt::format("{:.2f} GOP/s before, {:.2f} after", peak.gops, after));
  }
  for (const Bandwidth& level : run.bandwidths)
    print_comment(out, "read " + level.level,
                  fmt::format("{:.2f} GB/s of {} bytes", level.gbytes_per_s, level.read_bytes));
}

std::vector<std::string> time_fields(const BenchmarkRun& run, const Measurement& m, const Entrant& entrant) {
  std::vector<std::string> fields(10);
  const Bandwidth* level = limiting_level(run, m);
  fields[5] = fmt::format("{:.0f}", operand_bytes(m));
  if (level != nullptr) fields[6] = level->level;
  fields[9] = quoted(entrant.left_out);
  if (entrant.ns.empty()) return fields;
  const Spread ns = spread(entrant.ns);
  fields[0] = fmt::format("{:.3f}", ns.lower_quartile);
  fields[1] = fmt::format("{:.3f}", ns.median);
  fields[2] = fmt::format("{:.3f}", ns.upper_quartile);
  fields[3] = fmt::format("{:.3f}", median_gops(m, entrant));
  if (const auto peak = run_peak(run, m.dtype)) fields[4] = fmt::format("{:.4f}", median_gops(m, entrant) / *peak);
  if (level != nullptr) fields[7] = fmt::format("{:.4f}", bandwidth_share(m, entrant, *level));
  if (const Entrant* best = best_peer(m, entrant.has_packed_b))
    fields[8] = fmt::format("{:.4f}", speed_ratio(entrant, *best).median);
  return fields;
}

void print_row(const BenchmarkRun& run, const Measurement& m, const Entrant& entrant, Out out) {
  const Product& p = m.product;
  fmt::format_to(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", quoted(m.category), quoted(m.problem),
                 short_name(m.dtype), p.batch, p.m, p.n, p.k, p.trans_a ? 1 : 0, p.trans_b ? 1 : 0,
                 quoted(entrant.name), role_name(entrant.role), entrant.has_packed_b ? 1 : 0, quoted(entrant.schedule),
                 entrant.compile_ns > 0 ? fmt::format("{:.1f}", entrant.compile_ns / 1e6) : "", entrant.ns.size(),
                 fmt::join(time_fields(run, m, entrant), ","));
}

}  // namespace

std::string print_csv(const BenchmarkRun& run) {
  std::string text;
  const Out out(text);
  print_comments(run, out);
  fmt::format_to(out, "{}\n", kColumns);
  for (const Measurement& m : run.measurements)
    for (const Entrant& entrant : m.entrants) print_row(run, m, entrant, out);
  return text;
}

}  // namespace gemmc
