// Any bytes as what the command line takes: the first line is a source (JSON text or a problem string; a path is left
// alone), the second a schedule, the third a target, each further one a bound dimension, NAME=SIZE.
#include "core/target.h"
#include "core/text.h"
#include "schedules/schedule.h"
#include "tests/fuzz/invariants.h"
#include "tools/command/source.h"

namespace {

using namespace gemmc;

std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void check_schedule_and_target(std::string_view schedule_line, std::string_view target_word) {
  const Expected<Target> target = parse_target(target_word);
  if (!target) testing::check_refusal(target.status());
  const Expected<Schedule> schedule = parse_schedule(schedule_line);
  if (!schedule) return testing::check_refusal(schedule.status());
  const std::string text = print_schedule(*schedule);
  const Expected<Schedule> again = parse_schedule(text);
  testing::require(again.is_ok() && *again == *schedule, "a schedule survives its text", text);
  if (!target) return;
  for (const DType dtype : kAllDTypes) {
    const Status status = validate(*schedule, dtype, *target);
    if (!status.is_ok()) testing::check_refusal(status);
  }
}

// The sizes of the --dim options; nothing where one is none, which the command refuses before it reads a source.
std::optional<std::map<std::string, int64_t>> read_bindings(std::string_view text) {
  std::map<std::string, int64_t> bindings;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::optional<int64_t> size = parse_int64(line.substr(equals + 1));
    if (!size || *size < 0) return std::nullopt;
    bindings.emplace(line.substr(0, equals), *size);
  }
  return bindings;
}

void check_source(const std::string& text, const SourceOptions& options) {
  const Expected<Source> source = load_source(text, options);
  if (!source) return testing::check_refusal(source.status(), /*may_be_environment=*/true);
  for (const SourceNode& node : source->nodes) {
    testing::require(node.problem || !node.refusal.is_ok(), "a node is a problem, or is refused", text);
    if (node.problem) testing::check_problem(*node.problem);
    if (!node.refusal.is_ok()) testing::check_refusal(node.refusal);
  }
  const Expected<SourceNode> node = only_node(*source);
  if (!node) testing::check_refusal(node.status());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest = testing::as_text(data, size);
  const std::string text(next_line(rest));
  const std::string_view schedule = next_line(rest);
  const std::string_view target = next_line(rest);
  check_schedule_and_target(schedule, target);
  std::optional<std::map<std::string, int64_t>> bindings = read_bindings(rest);
  const bool is_path = !text.starts_with('{') && (text.ends_with(".json") || text.ends_with(".onnx"));
  if (!bindings || is_path) return 0;
  check_source(text, {.dims = *std::move(bindings), .node = {}});
  return 0;
}
