#include "tests/conformance/replay/recorder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "compiler/compile.h"
#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "schedules/heuristic_schedule.h"
#include "tests/conformance/replay/cpu_faults.h"
#include "tests/support/aot_library.h"
#include "tests/support/case_run.h"
#include "tests/support/process.h"
#include "tests/support/stack_promise.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {
Recorder::Recorder(const Target& target, std::optional<Family> only)
    : session_(target),
      host_session_(value_or_throw(host_target())),
      runs_here_(check_runs_here(target).is_ok()),
      only_(only) {
  recording_.level = target.level;
}

// What every kind of run has; its operands follow from run.seed where it is given none.
RecordedRun Recorder::new_run(const std::string& kind, const Problem& problem, const ArrayShapes& shapes,
                              const std::string& settings) const {
  RecordedRun run;
  run.kind = kind;
  run.problem = print_problem(problem);
  run.shapes = print_shapes(shapes);
  run.repeat = fmt::format("{}{} --target={}", program_beside("conformance_levels_test"), settings, recording_.level);
  return run;
}

void Recorder::add(const std::string& kind, const Problem& problem, const ArrayShapes& shapes, uint64_t seed,
                   const std::optional<Schedule>& schedule) {
  const Instance instance = make_instance(problem, shapes, seed);
  RecordedRun run = new_run(
      kind, problem, shapes,
      fmt::format(" --problem='{}' --shapes='{}' --seed={}", print_problem(problem), print_shapes(shapes), seed));
  run.seed = seed;
  add_families(std::move(run), instance, schedule);
}

void Recorder::add(const std::string& kind, const Case& test_case, const Problem& problem,
                   const std::optional<Schedule>& schedule) {
  RecordedRun run = new_run(kind, problem, shapes_of(test_case), " --case=" + test_case.id);
  run.given = operands_of(test_case);
  run.expect = test_case.expect;
  run.b_is_a = test_case.hints.b_is_a;
  run.offset_bytes = test_case.hints.misalign_bytes;
  add_families(std::move(run), instance_of(test_case, problem), schedule);
}

void Recorder::add(const std::string& kind, const Problem& problem, const ArrayShapes& shapes,
                   const GivenOperands& given, const CaseExpectation& expect) {
  RecordedRun run = new_run(kind, problem, shapes, "");
  run.given = given;
  run.expect = expect;
  Instance instance = make_instance(problem, shapes, given);
  instance.repeat = run.repeat;
  add_families(std::move(run), instance, std::nullopt);
}

void Recorder::add_families(RecordedRun run, const Instance& instance, const std::optional<Schedule>& schedule) {
  const Problem canonical_problem = canonical(instance.problem).problem;
  const Target& target = session_.target();
  if (!runs_here_) {
    const Expected<Session::Result> compiled = host_session_.kernel(instance.problem);
    // A promise that this machine cannot keep, such as order=k without FMA, is the oracle's to judge elsewhere.
    if (compiled) note_result(*compiled, run, instance);
    if (instance.problem.dtype != DType::kFloat16 && instance.problem.dtype != DType::kUInt64) run.right_values.clear();
  }
  bool is_accepted = false;
  for (const FamilyVerdict& verdict : judge_families(canonical_problem, target)) {
    if (verdict.refusal) continue;
    is_accepted = true;
    if (only_.value_or(verdict.family) != verdict.family) continue;
    if (schedule && schedule->family != verdict.family) continue;
    const Schedule chosen = schedule.value_or(heuristic_schedule(verdict.family, canonical_problem, target));
    run.schedule = print_schedule(chosen);
    if (schedule) run.repeat += fmt::format(" --schedule='{}'", run.schedule);
    const std::optional<Artifact> artifact = compile_and_run(run, instance, chosen);
    if (!artifact) continue;
    EXPECT_EQ(artifact->target, target);
    run.symbol = artifact->symbol;
    run.promised_stack = promised_stack(*artifact);
    run.has_misplaced_pextrw = has_misplaced_pextrw(artifact->object);
    artifacts_.emplace(artifact->symbol, *artifact);
    recording_.runs.push_back(run);
  }
  EXPECT_TRUE(is_accepted) << "no family takes " << run.problem;
}

std::optional<Artifact> Recorder::compile_and_run(RecordedRun& run, const Instance& instance,
                                                  const Schedule& schedule) {
  CompileOptions options;
  options.schedule = schedule;
  if (runs_here_) {
    const Expected<Session::Result> compiled = session_.kernel(instance.problem, options);
    if (compiled) {
      note_result(*compiled, run, instance);
      run.is_same_kernel = true;
      run.right_values.clear();
      return compiled->kernel->artifact();
    }
    ADD_FAILURE() << run.problem << ": " << compiled.status().message();
    return std::nullopt;
  }
  const Expected<KernelPlan> planned = plan(instance.problem, session_.target(), options);
  if (planned) {
    const auto known = artifacts_.find(planned->symbol);
    if (known != artifacts_.end()) return known->second;
    const Expected<Artifact> compiled = compile(*planned);
    if (compiled) return *compiled;
    ADD_FAILURE() << run.problem << ": " << compiled.status().message();
  } else {
    ADD_FAILURE() << run.problem << ": " << planned.status().message();
  }
  return std::nullopt;
}

void Recorder::note_result(const Session::Result& compiled, RecordedRun& run, const Instance& instance) {
  Placement placement;
  placement.b_is_a = run.b_is_a;
  placement.offset_bytes = run.offset_bytes;
  const RunResult result = kernel_run_.run(compiled.kernel->entries(), instance, placement, check_of(run));
  EXPECT_TRUE(result.is_right()) << run.problem << ", " << compiled.kernel->artifact().schedule
                                 << " on this machine: " << result.failure << "\nrepeat: " << instance.repeat;
  run.right_result = result_hash(instance.problem.dtype, result.y);
  run.right_values = result.y;
}

Recorder::Written Recorder::write(const std::filesystem::path& folder) const {
  std::vector<Artifact> artifacts;
  for (const auto& [symbol, artifact] : artifacts_) artifacts.push_back(artifact);
  const std::filesystem::path library = value_or_throw(build_aot_library(std::move(artifacts), folder));
  const std::filesystem::path path = folder / "runs.jsonl";
  std::ofstream file(path);
  file << print_recording(recording_);
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
  return {library, path};
}

}  // namespace gemmc::testing
