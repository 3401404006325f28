#include "tools/command/bench_json.h"

#include "tools/performance/figures.h"

namespace gemmc {
namespace {

Json entrant_json(const BenchmarkRun& run, const Measurement& m, const Entrant& entrant) {
  Json json = {{"name", entrant.name},
               {"is_peer", entrant.role == Role::kPeer},
               {"has_packed_b", entrant.has_packed_b},
               {"schedule", entrant.schedule.empty() ? Json() : Json(entrant.schedule)},
               {"left_out", entrant.left_out.empty() ? Json() : Json(entrant.left_out)}};
  if (entrant.ns.empty()) return json;
  const Spread ns = spread(entrant.ns);
  const std::optional<double> peak = run_peak(run, m.dtype);
  const Bandwidth* level = limiting_level(run, m);
  const Entrant* best = best_peer(m, entrant.has_packed_b);
  json["rounds"] = entrant.ns.size();
  json["ns"] = {{"lower_quartile", ns.lower_quartile}, {"median", ns.median}, {"upper_quartile", ns.upper_quartile}};
  json["gops"] = median_gops(m, entrant);
  json["peak_share"] = peak ? Json(median_gops(m, entrant) / *peak) : Json();
  json["read_share"] = level != nullptr ? Json(bandwidth_share(m, entrant, *level)) : Json();
  json["best_peer_ratio"] = best != nullptr ? Json(speed_ratio(entrant, *best).median) : Json();
  return json;
}

Json measurement_json(const BenchmarkRun& run, const Measurement& m) {
  const Product& p = m.product;
  const Bandwidth* level = limiting_level(run, m);
  Json json = {{"class", m.category},
               {"problem", m.problem},
               {"dtype", name(m.dtype)},
               {"batch", p.batch},
               {"m", p.m},
               {"n", p.n},
               {"k", p.k},
               {"trans_a", p.trans_a},
               {"trans_b", p.trans_b},
               {"operand_bytes", operand_bytes(m)},
               {"read_level", level != nullptr ? Json(level->level) : Json()}};
  json["contenders"] = Json::array();
  for (const Entrant& entrant : m.entrants) json["contenders"].push_back(entrant_json(run, m, entrant));
  return json;
}

}  // namespace

Json peaks_json(const Machine& machine, const std::vector<Peak>& peaks, const std::vector<Bandwidth>& bandwidths) {
  Json json = {{"cpu", machine.cpu}};
  json["peaks"] = Json::array();
  for (const Peak& peak : peaks)
    json["peaks"].push_back(
        {{"dtype", name(peak.dtype)}, {"extension", peak.extension}, {"lanes", peak.lanes}, {"gops", peak.gops}});
  json["bandwidths"] = Json::array();
  for (const Bandwidth& level : bandwidths)
    json["bandwidths"].push_back(
        {{"level", level.level}, {"read_bytes", level.read_bytes}, {"gbytes_per_s", level.gbytes_per_s}});
  return json;
}

Json run_json(const BenchmarkRun& run) {
  Json json = peaks_json(run.machine, run.peaks_before, run.bandwidths);
  json["caches"] = run.machine.caches;
  json["system"] = run.machine.system;
  json["gemmc"] = run.versions;
  json["target"] = run.target;
  json["peers"] = Json::array();
  for (const BenchmarkRun::PeerLine& peer : run.peers)
    json["peers"].push_back({{"name", peer.name}, {"version", peer.version}});
  json["skipped_peers"] = run.skipped_peers;
  json["left_out"] = run.left_out;
  json["products"] = Json::array();
  for (const Measurement& m : run.measurements) json["products"].push_back(measurement_json(run, m));
  return json;
}

}  // namespace gemmc
