#include "tests/conformance/families.h"

#include <set>

#include "core/problem.h"
#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "tests/conformance/settings.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {

std::vector<Family> families_for(DType dtype, const Target& target) {
  std::set<Family> families;
  for (const char* text : {"gemm f32 m=8 n=8 k=8", "gemm f32 m=8 n=8 k=8 tb"}) {
    Problem problem = value_or_throw(parse_problem(text));
    problem.dtype = dtype;
    const std::string& only = conformance_settings().family;
    for (const FamilyVerdict& verdict : judge_families(canonical(problem).problem, target)) {
      if (!verdict.refusal && (only.empty() || only == name(verdict.family))) families.insert(verdict.family);
    }
  }
  return {families.begin(), families.end()};
}

}  // namespace gemmc::testing
