// CPU levels beside this machine's own: kernels compiled here, run where run_at_level finds a CPU for them, real or
// emulated. The case files and random problems of every type, every family, order=k, conversions of every 16-bit value.
#include "tests/conformance/levels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "compiler/node.h"
#include "core/problem_string.h"
#include "tests/conformance/counts.h"
#include "tests/conformance/drawn_problem.h"
#include "tests/conformance/every_value.h"
#include "tests/conformance/families.h"
#include "tests/conformance/replay/recorder.h"
#include "tests/conformance/settings.h"
#include "tests/support/process.h"
#include "tests/support/random_problem.h"
#include "tests/support/temporary_folder.h"

namespace gemmc::testing {
namespace {

constexpr int kRuntimeProblems = 10, kShapesPerProblem = 12, kStaticProblems = 24, kOrderKProblems = 4;
constexpr const char* kHint = "tools/setup --emulators installs them";

void record_cases(Recorder& recorder) {
  const std::string& only = conformance_settings().test_case;
  for (const std::string folder : {"worked", "reported"}) {
    for (const Case& test_case : read_cases(folder)) {
      if (!test_case.expect.is_ok || (!only.empty() && only != test_case.id)) continue;
      const Expected<Problem> problem = node_to_problem(to_node(test_case));
      ASSERT_TRUE(problem) << test_case.id << ": " << problem.status().message();
      const std::optional<Schedule> schedule = asked_schedule();
      recorder.add(folder, test_case, *problem, schedule);
      recorder.add(folder, test_case, runtime_problem(*problem), schedule);
    }
  }
}

void record_random(Recorder& recorder, const Target& target, DType dtype) {
  const ConformanceSettings& settings = conformance_settings();
  Random random(settings.seed * 1000 + 700 + static_cast<uint64_t>(dtype) * 10 + (target.level.back() - '0'));
  const auto draw_seed = [&random] { return random.bits() >> 32; };
  for (int i = 0; i < kRuntimeProblems * settings.effort; ++i) {
    const DimKind kind = i % 3 == 2 ? DimKind::kSomeRuntime : DimKind::kAllRuntime;
    const Problem problem = random_problem(dtype, kind, random);
    std::optional<Schedule> schedule;
    if (i % 2 == 1) schedule = random_schedule(problem, target, random);
    for (int j = 0; j < kShapesPerProblem; ++j) {
      const ArrayShapes shapes = random_shapes(problem, random);
      recorder.add("random", problem, shapes, draw_seed(), schedule);
    }
  }
  const std::vector<Family> families = families_for(dtype, target);
  if (families.empty()) return;
  const auto draw = [&](int i) {
    return draw_static(dtype, target, families[static_cast<size_t>(i) % families.size()], random);
  };
  for (int i = 0; i < kStaticProblems * settings.effort; ++i) {
    const DrawnProblem drawn = draw(i);
    std::optional<Schedule> schedule;
    if (i % 4 >= 2) schedule = random_schedule(drawn.problem, target, random);
    recorder.add("random", drawn.problem, drawn.shapes, drawn.seed, schedule);
  }
  if (is_integer(dtype) || !target.has(kFma)) return;
  for (int i = 0; i < kOrderKProblems * settings.effort; ++i) {
    DrawnProblem drawn = draw(i);
    drawn.problem.order = SummationOrder::kByK;
    recorder.add("order=k", drawn.problem, drawn.shapes, drawn.seed);
    recorder.add("order=k", runtime_problem(drawn.problem), drawn.shapes, drawn.seed);
  }
}

// Values that every type of sum holds exactly, so that no rounding of an emulator plays a part.
void record_conversions(Recorder& recorder) {
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    for (const char operand : {'A', 'B', 'C'}) {
      const EveryValue product = every_value(dtype, operand);
      recorder.add("conversion", product.problem, product.shapes, product.operands, product.expect);
    }
  }
}

void record_what_is_asked(Recorder& recorder, const Target& target) {
  const ConformanceSettings& settings = conformance_settings();
  if (!settings.problem.empty()) {
    const Expected<AskedProblem> asked = asked_problem();
    ASSERT_TRUE(asked) << asked.status().message();
    const DrawnProblem& drawn = asked->drawn;
    return recorder.add("repeated", drawn.problem, drawn.shapes, drawn.seed, asked->schedule);
  }
  record_cases(recorder);
  if (!settings.test_case.empty()) return;
  record_conversions(recorder);
  for (const DType dtype : kAllDTypes) record_random(recorder, target, dtype);
}

// Enters what conformance_replay counted into the table. Returns the number of right runs.
size_t count_runs(const std::string& output, const std::string& level, const std::string& place) {
  size_t all_right = 0;
  std::stringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::stringstream words(line);
    std::string word, kind, type, family;
    size_t right = 0, wrong = 0;
    if (!(words >> word >> kind >> type >> family >> right >> wrong) || word != "count") continue;
    const std::optional<DType> dtype = parse_dtype(type);
    const std::optional<Family> known_family = parse_family(family);
    if (!dtype || !known_family) {
      ADD_FAILURE() << "a type or family that is not known: " << line;
      continue;
    }
    const CountKey key{kind + "@" + place, *dtype, *known_family, level, ConformanceRoute::kAheadOfTime};
    for (size_t i = 0; i < right; ++i) count_run(key, true);
    for (size_t i = 0; i < wrong; ++i) count_run(key, false);
    all_right += right;
  }
  return all_right;
}

// What conformance_replay says that it did not run.
size_t left_out(const std::string& output) {
  constexpr std::string_view kLine = "left out ";
  const size_t line = output.find(kLine);
  return line == std::string::npos ? 0 : std::stoul(output.substr(line + kLine.size()));
}

// `by`: of "cpu", "qemu", "bochs" those that may be used, in this order; empty: all.
ProcessResult run_at_level(const std::string& by, const std::string& level, const std::vector<std::string>& command) {
  std::vector<std::string> argv = {RUN_AT_LEVEL};
  if (!by.empty()) argv.insert(argv.end(), {"--by", by});
  argv.push_back(level);
  argv.insert(argv.end(), command.begin(), command.end());
  return run_process(argv);
}

struct Place {
  std::string level, by;
};
void PrintTo(const Place& place, std::ostream* out) { *out << place.level << " by " << place.by; }

class LevelsTest : public ::testing::TestWithParam<Place> {};

TEST_P(LevelsTest, KernelsAreRight) {
  const auto& [level, by] = GetParam();
  const std::string& only = conformance_settings().target;
  if (!only.empty() && only != level) GTEST_SKIP() << level << ": --target=" << only << " was given";
  const ProcessResult where = run_at_level(by, level, {"--where"});
  ASSERT_EQ(where.status, 0) << where.err << kHint;
  const std::string place = where.out.substr(0, where.out.find('\n'));

  const Target target = target_of(level);
  Recorder recorder(target, parse_family(conformance_settings().family));
  record_what_is_asked(recorder, target);
  if (HasFailure()) return;
  const TemporaryFolder folder;
  const Recorder::Written files = recorder.write(folder.path());
  const std::vector<std::string> replay = {CONFORMANCE_REPLAY, files.library.string(), files.recording.string()};
  const ProcessResult result = run_at_level(by, level, replay);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  std::cout << place << ": " << result.out << result.err;
  EXPECT_NE(result.out.find("this CPU has " + level), std::string::npos);
  // Every kernel in several placements, but for a few that meet a fault of the CPU.
  const size_t right = count_runs(result.out, level, place), missing = left_out(result.out);
  EXPECT_GE(right + missing, 3 * recorder.recording().runs.size());
  if (conformance_settings().problem.empty()) {
    EXPECT_LE(missing * 20, right);
  }
  // What a place reports is what the program said, not that there was a place.
  EXPECT_EQ(run_at_level(by, level, {CONFORMANCE_REPLAY, "none", "none"}).status, 2);
}

// Not x86-64-v3 under QEMU 7.2, several of whose AVX instructions read past what they are given: see docs/testing.md.
INSTANTIATE_TEST_SUITE_P(Places, LevelsTest,
                         ::testing::Values(Place{"x86-64-v2", "qemu"}, Place{"x86-64-v3", "cpu bochs"},
                                           Place{"x86-64-v4", ""}),
                         [](const auto& info) {
                           std::string by = info.param.by.empty() ? "anywhere" : info.param.by;
                           std::replace(by.begin(), by.end(), ' ', '_');
                           return test_name(info.param.level, by);
                         });

// An emulated CPU lacks levels on every machine that this test runs on.
TEST(LevelsReplayTest, EndsWhereTheCpuLacksTheLevel) {
  if (const std::string& only = conformance_settings().target; !only.empty()) GTEST_SKIP() << "--target was given";
  const TemporaryFolder folder;
  const std::filesystem::path recording = folder.path() / "runs.jsonl";
  std::ofstream(recording) << print_recording({"x86-64-v3", {}});
  const ProcessResult result = run_at_level("qemu", "x86-64-v2", {CONFORMANCE_REPLAY, "none.so", recording.string()});
  EXPECT_EQ(result.status, 2) << result.err << kHint;
  EXPECT_NE(result.err.find("cannot run on this CPU, which lacks AVX"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace gemmc::testing
