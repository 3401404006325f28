#include "tests/support/cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/half_floats.h"

namespace gemmc::testing {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error(message); }

// Calls the handler of each field; a field without a handler is an error.
using Handlers = std::map<std::string, std::function<void(const Json&)>>;
void for_each_field(const Json& object, const Handlers& handlers) {
  if (!object.is_object()) fail("expected an object, found " + object.dump());
  for (const auto& [key, value] : object.items()) {
    const auto handler = handlers.find(key);
    if (handler == handlers.end()) fail("unknown field '" + key + "'");
    handler->second(value);
  }
}

int64_t exact_int64(const Json& value) {
  if (!value.is_number_integer()) fail("expected a 64-bit integer, found " + value.dump());
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
    fail("integer too large: " + value.dump());
  }
  return value.get<int64_t>();
}

std::vector<int64_t> int64_list(const Json& value) {
  std::vector<int64_t> list;
  for (const Json& entry : value) list.push_back(exact_int64(entry));
  return list;
}

double real_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  fail("expected a number, found " + value.dump());
}

template <typename T>
void append(std::vector<uint8_t>& bytes, T value) {
  const size_t end = bytes.size();
  bytes.resize(end + sizeof(value));
  std::memcpy(bytes.data() + end, &value, sizeof(value));
}

template <typename T>
T exact_integer(const Json& value) {
  if (!value.is_number_integer()) fail("expected an integer, found " + value.dump());
  const bool fits = value.is_number_unsigned()
                        ? value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max())
                        : value.get<int64_t>() >= static_cast<int64_t>(std::numeric_limits<T>::min());
  if (!fits) fail("integer does not fit its type: " + value.dump());
  return value.get<T>();
}

void append_value(std::vector<uint8_t>& bytes, DType dtype, const Json& value) {
  switch (dtype) {
    case DType::kBFloat16: {
      const double number = real_number(value);
      const uint16_t bits = to_bfloat16_bits(number);
      if (!std::isnan(number) && from_bfloat16_bits(bits) != number) fail("not a bfloat16: " + value.dump());
      return append(bytes, bits);
    }
    case DType::kFloat16:
      return append(bytes, to_float16_bits(real_number(value)));
    case DType::kFloat32:
      return append(bytes, static_cast<float>(real_number(value)));
    case DType::kFloat64:
      return append(bytes, real_number(value));
    case DType::kInt32:
      return append(bytes, exact_integer<int32_t>(value));
    case DType::kInt64:
      return append(bytes, exact_integer<int64_t>(value));
    case DType::kUInt32:
      return append(bytes, exact_integer<uint32_t>(value));
    case DType::kUInt64:
      return append(bytes, exact_integer<uint64_t>(value));
    case DType::kInt8:
      return append(bytes, exact_integer<int8_t>(value));
  }
}

Tensor read_tensor(const Json& json) {
  Tensor tensor;
  const Json* data = nullptr;
  for_each_field(json, {{"dtype",
                         [&](const Json& value) {
                           const std::optional<DType> dtype = parse_dtype(value.get<std::string>());
                           if (!dtype) fail("unknown dtype " + value.dump());
                           tensor.dtype = *dtype;
                         }},
                        {"shape", [&](const Json& value) { tensor.shape = int64_list(value); }},
                        {"data", [&](const Json& value) { data = &value; }}});
  if (data == nullptr) fail("a tensor without data");
  const bool is_empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
  size_t count = is_empty ? 0 : 1;
  if (!is_empty) {
    for (int64_t extent : tensor.shape) count *= static_cast<size_t>(extent);
  }
  if (data->size() != count)
    fail("the shape has " + std::to_string(count) + " elements, the data " + std::to_string(data->size()));
  for (const Json& value : *data) append_value(tensor.bytes, tensor.dtype, value);
  return tensor;
}

std::vector<NodeAttribute> read_attributes(const Json& json) {
  std::vector<NodeAttribute> attributes;
  for (const auto& [name, value] : json.items()) {
    NodeAttribute attribute;
    attribute.name = name;
    if (value.is_number_integer()) {
      attribute.kind = NodeAttribute::Kind::kInt;
      attribute.int_value = exact_int64(value);
    } else {
      attribute.kind = NodeAttribute::Kind::kFloat;
      attribute.float_value = static_cast<float>(real_number(value));
    }
    attributes.push_back(attribute);
  }
  return attributes;
}

void read_strides(const Json& json, Case& result) {
  for_each_field(json, {{"A", [&](const Json& value) { result.a.strides = int64_list(value); }},
                        {"B", [&](const Json& value) { result.b.strides = int64_list(value); }},
                        {"C", [&](const Json& value) { result.c.value().strides = int64_list(value); }},
                        {"Y", [&](const Json& value) { result.y_strides = int64_list(value); }}});
}

void read_hints(const Json& json, Case& result) {
  CaseHints& hints = result.hints;
  for_each_field(
      json, {{"prefill_Y",
              [](const Json& value) {
                if (value != "nan" && value != "ones") fail("unknown prefill_Y " + value.dump());
              }},
             {"guard_pages", [](const Json& value) { (void)value.get<bool>(); }},
             {"misalign_bytes", [&](const Json& value) { hints.misalign_bytes = value.get<int>(); }},
             {"alias",
              [&](const Json& value) {
                if (value != "A=B" && value != "Y=C") fail("unknown alias " + value.dump());
                (value == "A=B" ? hints.b_is_a : hints.y_is_c) = true;
              }},
             {"C_empty_name", [&](const Json& value) { hints.c_has_empty_name = value.get<bool>(); }},
             {"threads", [](const Json& value) { (void)value.get<int>(); }},
             {"concurrent_first_calls", [&](const Json& value) { hints.concurrent_first_calls = value.get<int>(); }},
             {"repeat", [&](const Json& value) { hints.repeat = value.get<int>(); }},
             {"strides_elems", [&](const Json& value) { read_strides(value, result); }}});
}

void read_expectation(const Json& json, CaseExpectation& expect) {
  for_each_field(json, {{"ok", [&](const Json& value) { expect.is_ok = value.get<bool>(); }},
                        {"Y", [&](const Json& value) { expect.y = read_tensor(value); }},
                        {"rtol", [&](const Json& value) { expect.rtol = value.get<double>(); }},
                        {"atol", [&](const Json& value) { expect.atol = value.get<double>(); }},
                        {"error_contains_any", [&](const Json& value) {
                           expect.error_contains_any = value.get<std::vector<std::string>>();
                         }}});
  if (!expect.is_ok && expect.error_contains_any.empty()) fail("an expected error without its words");
}

Case parse_case(const Json& json) {
  Case result;
  const Json* hints = nullptr;
  const auto text = [](std::string& field) {
    return [&field](const Json& value) { field = value.get<std::string>(); };
  };
  for_each_field(json, {{"id", text(result.id)},
                        {"op", text(result.op)},
                        {"kind", text(result.kind)},
                        {"group", text(result.group)},
                        {"why", text(result.why)},
                        {"attrs", [&](const Json& value) { result.attributes = read_attributes(value); }},
                        {"inputs",
                         [&](const Json& value) {
                           for_each_field(value, {{"A", [&](const Json& a) { result.a.tensor = read_tensor(a); }},
                                                  {"B", [&](const Json& b) { result.b.tensor = read_tensor(b); }},
                                                  {"C", [&](const Json& c) {
                                                     result.c = {{read_tensor(c), {}}};
                                                   }}});
                         }},
                        {"hints", [&](const Json& value) { hints = &value; }},
                        {"expect", [&](const Json& value) { read_expectation(value, result.expect); }}});
  if (hints != nullptr) read_hints(*hints, result);
  return result;
}

NodeInput to_input(const std::string& name, const CaseOperand& operand) {
  NodeInput input;
  input.name = name;
  input.dtype = operand.tensor.dtype;
  input.shape.emplace();
  for (int64_t extent : operand.tensor.shape) input.shape->push_back(Dim::fixed(extent));
  for (int64_t stride : operand.strides) input.strides.push_back(Stride::fixed(stride));
  return input;
}

}  // namespace

Case read_case(const std::filesystem::path& file) {
  try {
    std::ifstream stream(file);
    if (!stream) fail("cannot be read");
    Case result = parse_case(Json::parse(stream));
    if (result.id != file.stem()) fail("its id is '" + result.id + "'");
    return result;
  } catch (const std::exception& error) {
    fail(file.string() + ": " + error.what());
  }
}

std::vector<Case> read_cases(const std::string& folder) {
  std::vector<Case> cases;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(GEMMC_TEST_DATA) / "cases" / folder)) {
    cases.push_back(read_case(entry.path()));
  }
  if (cases.empty()) fail("no cases in '" + folder + "'");
  std::sort(cases.begin(), cases.end(), [](const Case& left, const Case& right) { return left.id < right.id; });
  return cases;
}

Node to_node(const Case& test_case) {
  Node node;
  node.name = test_case.id;
  node.op_type = test_case.op;
  node.inputs = {to_input("A", test_case.a), to_input("B", test_case.b)};
  if (test_case.c) node.inputs.push_back(to_input("C", *test_case.c));
  if (test_case.hints.c_has_empty_name) {
    NodeInput absent;
    absent.is_absent = true;
    node.inputs.push_back(absent);
  }
  node.outputs = {"Y"};
  for (int64_t stride : test_case.y_strides) node.y_strides.push_back(Stride::fixed(stride));
  node.attributes = test_case.attributes;
  return node;
}

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.id; }

}  // namespace gemmc::testing
