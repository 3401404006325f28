// Any bytes as a problem string.
#include "core/problem_string.h"
#include "tests/fuzz/invariants.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gemmc;
  const Expected<Problem> problem = parse_problem(testing::as_text(data, size));
  if (problem) {
    testing::check_problem(*problem);
  } else {
    testing::check_refusal(problem.status());
  }
  return 0;
}
