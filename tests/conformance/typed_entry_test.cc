// A kernel's two entries are one kernel: the typed function, as a C program declares it, gives the uniform entry's
// bytes. Static problems of every type and family, from a library built ahead of time. Run-time arguments: see
// tests/abi.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <tuple>

#include "core/problem_string.h"
#include "tests/conformance/counts.h"
#include "tests/conformance/drawn_problem.h"
#include "tests/conformance/families.h"
#include "tests/conformance/levels.h"
#include "tests/conformance/settings.h"
#include "tests/support/aot_library.h"
#include "tests/support/compiled.h"
#include "tests/support/flush_promise.h"
#include "tests/support/kernel_library.h"
#include "tests/support/kernel_run.h"
#include "tests/support/random_problem.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {
namespace {

constexpr int kProblemsOfEachFamily = 5;

// KernelRun calls uniform entries: these hand their call on to a typed one, whose pointers are all of one kind to the
// machine.
void* typed = nullptr;

bool typed_has_c = false;
size_t typed_epilogue = 0;

int32_t call_typed(const gemmc_call* call) {
  // More pointers than the function takes do no harm: they stay in their registers.
  std::array<const void*, 8> pointers = {call->a, call->packed[1] != nullptr ? call->packed[1] : call->b};
  size_t count = 2;
  if (typed_has_c) pointers[count++] = call->c;
  for (size_t i = 0; i < typed_epilogue; ++i) pointers.at(count++) = call->epilogue[i];
  pointers.at(count) = call->y;
  using P = const void*;
  return std::apply(reinterpret_cast<int32_t (*)(P, P, P, P, P, P, P, P)>(typed), pointers);
}

struct Drawn {
  DrawnProblem problem;
  Family family;
  Artifact artifact;
};

Drawn draw(DType dtype, Family family, const Target& target, Random& random) {
  Drawn drawn{draw_static(dtype, target, family, random), family, {}};
  CompileOptions options;
  options.schedule = random_schedule(drawn.problem.problem, target, random, family);
  drawn.artifact = value_or_throw(compile_problem(drawn.problem.problem, target, options));
  return drawn;
}

class TypedEntryTest : public ::testing::TestWithParam<DType> {};

TEST_P(TypedEntryTest, GivesTheUniformEntrysBytes) {
  const DType dtype = GetParam();
  const ConformanceSettings& settings = conformance_settings();
  const Target target = settings.target.empty() ? value_or_throw(host_target()) : target_of(settings.target);
  if (const Status status = check_runs_here(target); !status.is_ok()) GTEST_SKIP() << status.message();
  Random random(settings.seed * 1000 + 900 + static_cast<uint64_t>(dtype));
  std::vector<Drawn> all;
  std::map<std::string, Artifact> artifacts;
  for (const Family family : families_for(dtype, target)) {
    for (int i = 0; i < kProblemsOfEachFamily * settings.effort; ++i) {
      all.push_back(draw(dtype, family, target, random));
      artifacts.emplace(all.back().artifact.symbol, all.back().artifact);
    }
  }
  if (all.empty()) GTEST_SKIP() << "no kernel: --family was given";
  std::vector<Artifact> list;
  for (const auto& [symbol, artifact] : artifacts) list.push_back(artifact);
  const TemporaryFolder folder;
  const auto library =
      value_or_throw(KernelLibrary::open(value_or_throw(build_aot_library(std::move(list), folder.path()))));

  KernelRun run;
  for (const Drawn& drawn : all) {
    const Instance instance = drawn.problem.make()();
    SCOPED_TRACE(instance.repeat + " --schedule='" + drawn.artifact.schedule + "'");
    const KernelEntries uniform = library->entries(drawn.artifact.symbol);
    typed = library->address(drawn.artifact.symbol);
    typed_has_c = drawn.artifact.problem.c.has_value();
    typed_epilogue = instance.epilogue.size();
    ASSERT_TRUE(uniform.call != nullptr && typed != nullptr) << drawn.artifact.symbol;
    for (const Placement& placement : placements(instance, false, 0)) {
      const Check check = check_for(drawn.artifact, within_bounds);
      const RunResult expected = run.run(uniform, instance, placement, check);
      const RunResult found = run.run({call_typed, uniform.pack_b}, instance, placement, check);
      EXPECT_EQ(expected.failure, "") << placement.text();
      EXPECT_EQ(found.failure, "") << placement.text();
      EXPECT_EQ(found.y, expected.y) << placement.text();
      count_run({"typed", dtype, drawn.family, target.level, ConformanceRoute::kAheadOfTime},
                expected.is_right() && found.is_right() && found.y == expected.y);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, TypedEntryTest, ::testing::ValuesIn(kAllDTypes),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace gemmc::testing
