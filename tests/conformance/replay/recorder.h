// Compiles kernels for a CPU level, which this machine need not have, and writes down calls of them: one library and
// one recording, for conformance_replay.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "api/session.h"
#include "core/artifact.h"
#include "tests/conformance/replay/recorded_run.h"
#include "tests/support/cases.h"
#include "tests/support/kernel_run.h"

namespace gemmc::testing {

class Recorder {
 public:
  struct Written {
    std::filesystem::path library, recording;
  };

  // `only`: the one family to record; absent: each that accepts a problem.
  explicit Recorder(const Target& target, std::optional<Family> only = std::nullopt);

  // Every family that accepts the problem, or only the schedule's. What goes wrong is a GoogleTest failure.
  void add(const std::string& kind, const Problem& problem, const ArrayShapes& shapes, uint64_t seed,
           const std::optional<Schedule>& schedule = std::nullopt);
  // `problem`: the case's own, or a variant of it that leaves more to the call.
  void add(const std::string& kind, const Case& test_case, const Problem& problem,
           const std::optional<Schedule>& schedule = std::nullopt);
  // Given operands, and the result beside the oracle's.
  void add(const std::string& kind, const Problem& problem, const ArrayShapes& shapes, const GivenOperands& given,
           const CaseExpectation& expect);

  const Recording& recording() const { return recording_; }
  // Throws std::runtime_error where a file cannot be made.
  Written write(const std::filesystem::path& folder) const;

 private:
  RecordedRun new_run(const std::string& kind, const Problem& problem, const ArrayShapes& shapes,
                      const std::string& settings) const;
  void add_families(RecordedRun run, const Instance& instance, const std::optional<Schedule>& schedule);
  // Compiles; where this machine can run the kernel, does so and notes the result.
  std::optional<Artifact> compile_and_run(RecordedRun& run, const Instance& instance, const Schedule& schedule);
  // Runs a kernel, whose result must be right.
  void note_result(const Session::Result& compiled, RecordedRun& run, const Instance& instance);

  Session session_;       // for the level
  Session host_session_;  // for the best that this machine has
  bool runs_here_;
  std::optional<Family> only_;
  KernelRun kernel_run_;
  std::map<std::string, Artifact> artifacts_;  // by symbol
  Recording recording_;
};

}  // namespace gemmc::testing
