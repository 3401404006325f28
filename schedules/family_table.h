// The ordered table of kernel families: best first, the general kernel last. The first that takes a problem and expects
// to be fast at it is chosen.
//
// Flow: Problem + Target -> **family, Schedule** -> Halide pipelines. Called by compiler/compile.cc, which lets a
// caller force a family that demurs but none that refuses, and by `gemmc explain`. Pure functions of their arguments.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/problem.h"
#include "core/status.h"
#include "core/target.h"
#include "schedules/schedule.h"

namespace gemmc {

struct FamilyVerdict {
  Family family;
  bool sums_by_k;                       // claims order=k
  std::optional<std::string> refusal;   // why it cannot take the problem; absent: it can, also where it is forced
  std::optional<std::string> demurral;  // why a later family is likely faster; absent: none is, or it refuses
};

// Why a family that sums by k, or does not, cannot keep the problem's order of sums; absent: it can. Comes before the
// family's own refusals.
std::optional<std::string> refuse_order(bool sums_by_k, const Problem& problem, const Target& target);

// Every family's verdict, in the table's order. `problem` is canonical. `most_rows`: M is at most this, where it is
// known only at the call; absent: nothing is known of it.
std::vector<FamilyVerdict> judge_families(const Problem& problem, const Target& target,
                                          std::optional<int64_t> most_rows = std::nullopt);

// Why a family cannot compute the problem in the way of this schedule, which is valid; absent: it can.
std::optional<std::string> refuse_schedule(const Schedule& schedule, const Problem& problem, const Target& target);

// The first family that neither refuses nor demurs, with its heuristic_schedule(). The general family takes every valid
// problem of this version, except order=k on targets without FMA.
Expected<Schedule> choose_schedule(const Problem& problem, const Target& target,
                                   std::optional<int64_t> most_rows = std::nullopt);

// The values of most_rows, ascending, up to which a family takes a problem that it leaves to others with more rows.
std::vector<int64_t> row_limits(const Problem& problem, const Target& target);

}  // namespace gemmc
