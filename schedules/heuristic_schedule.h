// How large a kernel's register tile and blocks are where nobody says: from registers, vector width and caches.
//
// Flow: Problem + Target + Family -> **Schedule**. Called by schedules/family_table, which decides on the family. Pure
// functions.
#pragma once

#include "core/dtype.h"
#include "core/problem.h"
#include "core/target.h"
#include "schedules/schedule.h"

namespace gemmc {

struct RegisterTile {
  int mr;       // rows
  int vectors;  // of a row
};
// Accumulators, one broadcast of A and the vectors of a row of B must fit the registers; a product that is not fused
// needs one more, and a 64-bit integer product without AVX-512's vpmullq several.
RegisterTile register_tile(DType dtype, const Target& target);
// Of one vector.
int accumulator_lanes(DType dtype, const Target& target);

// The default schedule of a family that does not refuse the problem, which is canonical.
Schedule heuristic_schedule(Family family, const Problem& problem, const Target& target);

}  // namespace gemmc
