// conformance_replay LIBRARY RECORDING: makes the recorded calls of a library's kernels, on whatever CPU this is, and
// judges the results. Needs neither Halide nor LLVM, so that it runs in an emulator.
//
// Prints wrong runs, then a line "count KIND TYPE FAMILY RIGHT WRONG" for each of these, and "left out COUNT ..." where
// faults of the CPU leave nothing to judge. Status 0: runs were made and all were right; 1: a run was wrong; 2: no run
// can be made.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "core/target.h"
#include "schedules/schedule.h"
#include "tests/conformance/replay/cpu_faults.h"
#include "tests/conformance/replay/recorded_run.h"
#include "tests/support/kernel_library.h"
#include "tests/support/kernel_run.h"
#include "tests/support/stack_promise.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path);
  return text.str();
}

class Replay {
 public:
  Replay(const KernelLibrary& library, const CpuFaults& faults) : library_(library), faults_(faults) {}

  void run(const RecordedRun& recorded) {
    const KernelEntries kernel = library_.entries(recorded.symbol);
    if (kernel.call == nullptr) throw std::runtime_error("the library has no kernel " + recorded.symbol);
    const Instance instance = instance_of(recorded);
    const DType dtype = instance.problem.dtype;
    const Schedule schedule = value_or_throw(parse_schedule(recorded.schedule));
    const Check full_check = check_of(recorded);
    // Long double arithmetic takes minutes in an emulator: a result known to be right is not judged again.
    std::optional<uint64_t> known = recorded.right_result;
    const Check check = [&](const oracle::Product& product, const oracle::View& y, const std::vector<uint8_t>& values) {
      const uint64_t found = result_hash(dtype, values);
      if (known == found) return std::optional<std::string>();
      if (recorded.is_same_kernel) return std::optional<std::string>("other bits than where the run was recorded");
      if ((faults_.rounds_halves_away && dtype == DType::kFloat16 &&
           differ_by_halves_away(values, recorded.right_values)) ||
          (faults_.saturates_at_half && dtype == DType::kUInt64 &&
           differ_by_saturation(values, recorded.right_values))) {
        ++allowed_;
        return std::optional<std::string>();
      }
      ++judged_;
      std::optional<std::string> wrong = full_check(product, y, values);
      if (!wrong) known = found;
      return wrong;
    };
    Count& count = counts_[{recorded.kind, std::string(name(dtype)), std::string(name(schedule.family))}];
    for (const Placement& placement : placements(instance, recorded.b_is_a, recorded.offset_bytes)) {
      if (faults_.misplaces_pextrw && recorded.has_misplaced_pextrw) {
        ++left_out_;
        continue;
      }
      RunResult result = kernel_run_.run(kernel, instance, placement, check);
      if (result.fault && reads_past(result.fault->instruction)) {
        Placement farther = placement;
        farther.offset_bytes += 8;
        // Far enough for this fault; one that reads where it should not still meets the page.
        result = kernel_run_.run(kernel, instance, farther, check);
        ++allowed_;
      }
      check_stack(recorded.promised_stack, result);
      ++(result.is_right() ? count.right : count.wrong);
      if (!result.is_right() && ++reported_ <= kMostReports) {
        fmt::print("wrong: {}: {}\n{}, {}; {}\n{}\nrepeat: {}\n", recorded.kind, recorded.problem, recorded.symbol,
                   recorded.schedule, placement.text(), result.failure, recorded.repeat);
      }
    }
  }

  int report() const {
    size_t right = 0, wrong = 0;
    for (const auto& [key, count] : counts_) {
      fmt::print("count {} {} {} {} {}\n", std::get<0>(key), std::get<1>(key), std::get<2>(key), count.right,
                 count.wrong);
      right += count.right;
      wrong += count.wrong;
    }
    fmt::print("replay: {} runs right, {} wrong; {} results judged here, {} runs with faults of the CPU\n", right,
               wrong, judged_, allowed_);
    if (left_out_ > 0) fmt::print("left out {} runs that no result of this CPU says anything of\n", left_out_);
    if (right + wrong == 0) throw std::runtime_error("the recording has no runs");
    return wrong == 0 ? 0 : 1;
  }

 private:
  // Whether a fault of the CPU explains that the instruction reads 8 bytes too many.
  bool reads_past(const uint8_t* instruction) const {
    return (faults_.reads_past_movddup && is_movddup_of_8_bytes(instruction)) ||
           (faults_.reads_past_cvtdq2pd && is_cvtdq2pd_of_8_bytes(instruction));
  }

  static constexpr size_t kMostReports = 20;
  struct Count {
    size_t right = 0, wrong = 0;
  };

  const KernelLibrary& library_;
  const CpuFaults faults_;
  KernelRun kernel_run_;
  std::map<std::tuple<std::string, std::string, std::string>, Count> counts_;
  size_t judged_ = 0, allowed_ = 0, left_out_ = 0, reported_ = 0;
};

int replay(const std::string& library_path, const std::string& recording_path) {
  const Recording recording = value_or_throw(parse_recording(read_file(recording_path)));
  const Target target = value_or_throw(parse_target(recording.level));
  if (const Status status = check_runs_here(target); !status.is_ok()) throw std::runtime_error(status.message());
  const CpuFaults faults = find_cpu_faults(target);
  fmt::print("replay: this CPU has {}; faults: {}\n", target.level, faults.text());
  const std::unique_ptr<KernelLibrary> library = value_or_throw(KernelLibrary::open(library_path));
  Replay replay(*library, faults);
  for (const RecordedRun& run : recording.runs) replay.run(run);
  return replay.report();
}

}  // namespace
}  // namespace gemmc::testing

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: conformance_replay LIBRARY RECORDING\n";
    return 2;
  }
  try {
    return gemmc::testing::replay(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << "conformance_replay: " << error.what() << "\n";
    return 2;
  }
}
