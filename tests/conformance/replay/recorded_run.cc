#include "tests/conformance/replay/recorded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "core/problem_string.h"
#include "tests/support/case_run.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {
namespace {

using Json = nlohmann::json;
using Bytes = std::vector<uint8_t>;

std::string to_hex(const Bytes& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) (text += kDigits[byte >> 4]) += kDigits[byte & 15];
  return text;
}

uint8_t digit_from(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<uint8_t>(digit - 'a' + 10);
  throw std::runtime_error(fmt::format("'{}' is no hexadecimal digit", digit));
}

Bytes from_hex(const std::string& text) {
  if (text.size() % 2 != 0) throw std::runtime_error("an odd number of hexadecimal digits");
  Bytes bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(digit_from(text[i]) << 4 | digit_from(text[i + 1])));
  }
  return bytes;
}

Json to_json(const GivenOperand& operand) { return {{"bytes", to_hex(operand.values)}, {"strides", operand.strides}}; }

GivenOperand operand_from(const Json& json) {
  return {from_hex(json.at("bytes").get<std::string>()), json.at("strides").get<std::vector<int64_t>>()};
}

Json to_json(const RecordedRun& run) {
  Json json = {{"kind", run.kind},           {"symbol", run.symbol},       {"schedule", run.schedule},
               {"problem", run.problem},     {"shapes", run.shapes},       {"seed", run.seed},
               {"b_is_a", run.b_is_a},       {"offset", run.offset_bytes}, {"repeat", run.repeat},
               {"stack", run.promised_stack}};
  if (run.given) {
    json["a"] = to_json(run.given->a);
    json["b"] = to_json(run.given->b);
    if (run.given->c) json["c"] = to_json(*run.given->c);
    json["y_strides"] = run.given->y_strides;
  }
  if (run.expect) {
    json["expect"] = {{"bytes", to_hex(run.expect->y.bytes)},
                      {"shape", run.expect->y.shape},
                      {"rtol", run.expect->rtol},
                      {"atol", run.expect->atol}};
  }
  if (run.right_result) json[run.is_same_kernel ? "result" : "right_result"] = *run.right_result;
  if (!run.right_values.empty()) json["right_values"] = to_hex(run.right_values);
  if (run.has_misplaced_pextrw) json["has_misplaced_pextrw"] = true;
  return json;
}

RecordedRun run_from(const Json& json) {
  RecordedRun run;
  json.at("kind").get_to(run.kind);
  json.at("symbol").get_to(run.symbol);
  json.at("schedule").get_to(run.schedule);
  json.at("problem").get_to(run.problem);
  json.at("shapes").get_to(run.shapes);
  json.at("seed").get_to(run.seed);
  json.at("b_is_a").get_to(run.b_is_a);
  json.at("offset").get_to(run.offset_bytes);
  json.at("repeat").get_to(run.repeat);
  json.at("stack").get_to(run.promised_stack);
  if (json.contains("a")) {
    GivenOperands& given = run.given.emplace();
    given.a = operand_from(json.at("a"));
    given.b = operand_from(json.at("b"));
    if (json.contains("c")) given.c = operand_from(json.at("c"));
    json.at("y_strides").get_to(given.y_strides);
  }
  if (json.contains("expect")) {
    const Json& expect = json.at("expect");
    run.expect.emplace();
    run.expect->y.bytes = from_hex(expect.at("bytes").get<std::string>());
    expect.at("shape").get_to(run.expect->y.shape);
    expect.at("rtol").get_to(run.expect->rtol);
    expect.at("atol").get_to(run.expect->atol);
  }
  run.is_same_kernel = json.contains("result");
  if (run.is_same_kernel) run.right_result = json.at("result").get<uint64_t>();
  if (json.contains("right_result")) run.right_result = json.at("right_result").get<uint64_t>();
  run.has_misplaced_pextrw = json.contains("has_misplaced_pextrw");
  if (json.contains("right_values")) run.right_values = from_hex(json.at("right_values").get<std::string>());
  // A field of another name would be a demand that nobody checks.
  if (to_json(run) != json) throw std::runtime_error("unknown or contradicting fields");
  return run;
}

Problem problem_of(const RecordedRun& run) { return value_or_throw(parse_problem(run.problem)); }

}  // namespace

std::string print_recording(const Recording& recording) {
  std::string text = Json({{"level", recording.level}, {"runs", recording.runs.size()}}).dump() + "\n";
  for (const RecordedRun& run : recording.runs) text += to_json(run).dump() + "\n";
  return text;
}

Expected<Recording> parse_recording(const std::string& text) {
  Recording recording;
  std::stringstream lines(text);
  size_t number = 0, expected_runs = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      const Json json = Json::parse(line);
      if (number == 1) {
        json.at("level").get_to(recording.level);
        json.at("runs").get_to(expected_runs);
      } else {
        recording.runs.push_back(run_from(json));
      }
    } catch (const std::exception& error) {
      return Status::invalid(fmt::format("line {}: {}", number, error.what()));
    }
  }
  if (number == 0) return Status::invalid("an empty recording");
  if (recording.runs.size() != expected_runs) {
    return Status::invalid(fmt::format("{} runs, found {}", expected_runs, recording.runs.size()));
  }
  return recording;
}

uint64_t result_hash(DType dtype, const Bytes& values) {
  if (is_integer(dtype)) return hash_of(values);
  const oracle::Type type = oracle_type(dtype);
  const size_t bytes = oracle::element_bytes(type);
  Bytes canonical = values;
  for (size_t i = 0; i < values.size(); i += bytes) {
    if (std::isnan(oracle::decode_float(type, &values[i])))
      std::fill_n(canonical.begin() + static_cast<long>(i), bytes, 0xff);
  }
  return hash_of(canonical);
}

Instance instance_of(const RecordedRun& run) {
  const Problem problem = problem_of(run);
  const std::optional<ArrayShapes> shapes = parse_shapes(run.shapes);
  if (!shapes) throw std::runtime_error("shapes: " + run.shapes);
  Instance instance =
      run.given ? make_instance(problem, *shapes, *run.given) : make_instance(problem, *shapes, run.seed);
  instance.repeat = run.repeat;
  return instance;
}

Check check_of(const RecordedRun& run) {
  if (run.expect) return meets(*run.expect);
  return problem_of(run).order == SummationOrder::kByK ? is_chain_of_fma : within_bounds;
}

}  // namespace gemmc::testing
