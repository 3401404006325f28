#include "tests/conformance/campaign.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "schedules/heuristic_schedule.h"
#include "tests/conformance/counts.h"
#include "tests/conformance/settings.h"
#include "tests/support/aot_library.h"
#include "tests/support/code_level.h"
#include "tests/support/flush_promise.h"
#include "tests/support/kernel_library.h"
#include "tests/support/stack_promise.h"
#include "tests/support/temporary_folder.h"

namespace gemmc::testing {

Campaign::Campaign(std::string kind, Target target) : kind_(std::move(kind)), session_(std::move(target)) {}

void Campaign::fail(const Instance& instance, const std::string& how, const std::string& what,
                    const std::string& schedule) {
  ++failures_;
  ADD_FAILURE() << kind_ << ": " << print_problem(instance.problem) << "\n"
                << how << "\n"
                << what << "\n"
                << fmt::format("repeat: {} --target={}", instance.repeat, session_.target().level_word())
                << (schedule.empty() ? "" : fmt::format(" --schedule='{}'", schedule));
}

bool Campaign::run(const MakeInstance& make, const CampaignOptions& options) {
  const int failures_before = failures_;
  const Instance instance = make();
  const Problem canonical_problem = canonical(instance.problem).problem;
  const std::string& only = conformance_settings().family;
  std::set<uint64_t> right_results;
  std::string refusals;
  bool is_accepted = false;
  for (const FamilyVerdict& verdict : judge_families(canonical_problem, session_.target())) {
    if (verdict.refusal) {
      refusals += fmt::format("{}: {}; ", name(verdict.family), *verdict.refusal);
      continue;
    }
    is_accepted = true;
    if (!only.empty() && only != name(verdict.family)) continue;
    if (options.schedule && options.schedule->family != verdict.family) continue;
    run_family(instance, make, options,
               options.schedule.value_or(heuristic_schedule(verdict.family, canonical_problem, session_.target())),
               right_results);
  }
  if (!is_accepted) fail(instance, "no family takes it", refusals, "");
  return failures_ == failures_before;
}

void Campaign::run_family(const Instance& instance, const MakeInstance& make, const CampaignOptions& options,
                          const Schedule& schedule, std::set<uint64_t>& right_results) {
  if (has_failed_enough()) return;
  CompileOptions compile_options;
  compile_options.schedule = schedule;
  const Expected<Session::Result> compiled = session_.kernel(instance.problem, compile_options);
  const CountKey key{kind_, instance.problem.dtype, schedule.family, session_.target().level_word(),
                     ConformanceRoute::kJit};
  if (!compiled) {
    count_run(key, false);
    return fail(instance, "JIT", fmt::format("not compiled: {}", compiled.status().message()),
                print_schedule(schedule));
  }
  const Artifact& artifact = compiled->kernel->artifact();
  EXPECT_EQ(artifact.target, session_.target());
  EXPECT_EQ(artifact.schedule, print_schedule(schedule));

  const Check full_check = check_for(artifact, options.check ? options.check : within_bounds);
  // The oracle is slow: results with bits that it has seen and found right need no second look. Not from kernels that
  // may flush, to others.
  const Check check = [&](const oracle::Product& product, const oracle::View& y, const std::vector<uint8_t>& values) {
    if (right_results.count(hash_of(values)) != 0) return std::optional<std::string>();
    std::optional<std::string> wrong = full_check(product, y, values);
    if (!wrong && !may_flush(artifact)) right_results.insert(hash_of(values));
    return wrong;
  };
  std::optional<uint64_t> first_hash;
  for (const Placement& placement : placements(instance, options.b_is_a, options.offset_bytes)) {
    RunResult result = kernel_run_.run(compiled->kernel->entries(), instance, placement, check);
    const uint64_t hash = hash_of(result.y);
    if (result.is_right() && first_hash.value_or(hash) != hash) {
      result.failure = "the same kernel and values gave other bits where the operands lay elsewhere";
    }
    first_hash = hash;
    check_stack(promised_stack(artifact), result);
    count_run(key, result.is_right());
    if (!result.is_right()) {
      return fail(instance, fmt::format("JIT; {}", placement.text()), result.failure, artifact.schedule);
    }
    if (placement.side == GuardedBuffer::Side::kEnd && !placement.in_place && placement.threads == 1 &&
        placement.offset_bytes == options.offset_bytes) {
      records_.push_back({make, placement, schedule, artifact.symbol, hash});
    }
  }
  count_problem(key, instance.repeat);
  kernels_.emplace(artifact.symbol, compiled->kernel);
}

// The kernels of a few random problems at least use the level's widest vectors; a single one may have no use for them.
void Campaign::expect_level(const std::filesystem::path& library) const {
  constexpr size_t kEnoughKernels = 8;
  const std::string found = level_of_code(library);
  const Target& target = session_.target();
  // All others are for bfloat16 what they are on the level without its instructions.
  const bool has_pairs = std::any_of(kernels_.begin(), kernels_.end(),
                                     [](const auto& kernel) { return may_flush(kernel.second->artifact()); });
  const std::string level = has_pairs ? target.level_word() : target.level;
  if (kernels_.size() >= kEnoughKernels) {
    EXPECT_EQ(found, level) << "by the instructions of " << kernels_.size() << " kernels";
  } else {
    EXPECT_LE(found, level) << "by the instructions";
  }
}

void Campaign::run_ahead_of_time() {
  if (kernels_.empty()) return;
  std::vector<Artifact> artifacts;
  for (const auto& [symbol, kernel] : kernels_) artifacts.push_back(kernel->artifact());
  const TemporaryFolder folder;
  const Expected<std::filesystem::path> file = build_aot_library(std::move(artifacts), folder.path());
  ASSERT_TRUE(file) << file.status().message();
  expect_level(*file);
  const Expected<std::unique_ptr<KernelLibrary>> library = KernelLibrary::open(*file);
  ASSERT_TRUE(library) << library.status().message();
  for (const Record& record : records_) {
    if (has_failed_enough()) return;
    const Instance instance = record.make();
    const KernelEntries kernel = (*library)->entries(record.symbol);
    ASSERT_NE(kernel.call, nullptr) << record.symbol;
    const RunResult result = kernel_run_.run(
        kernel, instance, record.placement,
        [&](const oracle::Product&, const oracle::View&, const std::vector<uint8_t>& values) {
          return hash_of(values) == record.y_hash
                     ? std::nullopt
                     : std::optional<std::string>("other bits than the same object loaded in the process");
        });
    count_run({kind_, instance.problem.dtype, record.schedule.family, session_.target().level_word(),
               ConformanceRoute::kAheadOfTime},
              result.is_right());
    if (!result.is_right()) {
      fail(instance, fmt::format("ahead of time, {}; {}", record.symbol, record.placement.text()), result.failure,
           print_schedule(record.schedule));
    }
  }
}

}  // namespace gemmc::testing
