// An Artifact: one compiled kernel as an object file with what is needed to call it. The only currency between the
// compiler, caches, the loader and ahead-of-time output: they all hold the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/body_condition.h"
#include "core/problem.h"
#include "core/target.h"

namespace gemmc {

// A body beside the general one.
struct ArtifactVariant {
  BodyCondition when;  // names as in the canonical problem
  std::string schedule;
};

struct Artifact {
  std::string symbol;  // the typed entry; the uniform one is `symbol` + "_call"
  Problem problem;     // canonical
  Target target;
  std::string schedule;         // one line of text, see schedules/schedule.h; of the general body
  std::string key_text;         // what the name was hashed from, see core/key.h
  std::vector<uint8_t> object;  // ELF relocatable
  std::vector<ArtifactVariant> variants = {};
  int64_t scratch_bytes = 0;  // of gemmc_call, that the kernel makes use of where it has so many
};

}  // namespace gemmc
