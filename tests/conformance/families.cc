#include "tests/conformance/families.h"

#include "core/problem.h"
#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "tests/conformance/settings.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {

std::optional<Family> parse_family(std::string_view text) {
  for (const Family family : kAllFamilies) {
    if (text == name(family)) return family;
  }
  return std::nullopt;
}

std::vector<Family> families_for(DType dtype, const Target& target) {
  Problem problem = value_or_throw(parse_problem("gemm f32 m=8 n=8 k=8"));
  problem.dtype = dtype;
  const std::string& only = conformance_settings().family;
  std::vector<Family> families;
  for (const FamilyVerdict& verdict : judge_families(canonical(problem).problem, target)) {
    if (verdict.refusal || (!only.empty() && only != name(verdict.family))) continue;
    families.push_back(verdict.family);
  }
  return families;
}

}  // namespace gemmc::testing
