// Node descriptions that are wrong: one clear line each, whatever the text.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <random>

#include "compiler/node_json.h"
#include "compiler/npy.h"
#include "tests/support/temporary_folder.h"

namespace gemmc {
namespace {

std::string error_of(const std::string& text, const std::filesystem::path& directory = ".",
                     StatusCode code = StatusCode::kInvalidArgument) {
  const Expected<Node> node = parse_node_json(text, directory);
  if (node) return "no error";
  EXPECT_EQ(node.status().code(), code) << node.status().message();
  const std::string& message = node.status().message();
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 1000u) << message;
  return message;
}

void expect_error(const std::string& text, const std::string& part) {
  const std::string message = error_of(text);
  EXPECT_NE(message.find(part), std::string::npos) << text.substr(0, 200) << " gave: " << message;
}

// A good MatMul description with another first input, or with further top-level fields.
std::string with_input(const std::string& input) {
  return R"({"name": "fc1", "op_type": "MatMul", "inputs": [)" + input + ", {}]}";
}
std::string with_shape(const std::string& shape) { return with_input(R"({"shape": )" + shape + "}"); }
std::string with_fields(const std::string& fields) {
  return R"({"name": "fc1", "op_type": "MatMul", "inputs": [{}, {}], )" + fields + "}";
}

TEST(NodeJsonError, NotJson) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[",
                           "nul",
                           "{\"a\": 1,}",
                           "{'a': 1}",
                           "{} {}",
                           "{\"a\": NaN}",
                           "{\"a\": Infinity}",
                           "{\"a\": 01}",
                           "{\"a\": +1}",
                           "\x93NUMPY",
                           "{\"a\": \"\xff\"}",
                           "{\"a\": \"\xc3(\"}",
                           "// x\n{}",
                           "{\"a\": \"\n\"}",
                           "{\"a\": \"\\ud800\"}",
                           "{\"a\": 1e999}",
                           "{\"a\": -1e999}"}) {
    expect_error(text, "not valid JSON: ");
  }
  expect_error(R"({"op_type": "MatMul", "inputs": [{}, {}]})" + std::string("\0x", 2),
               "a byte with the value 0 at position 41");
  expect_error("[1]", "the description is an array; allowed: an object");
  expect_error("3", "the description is 3");
  expect_error(std::string(17 << 20, ' '), "bytes; allowed: up to 16777216");
  expect_error(R"({"a)" + std::string(1 << 20, 'x'), "not valid JSON: ");
}

TEST(NodeJsonError, DeepNestingIsRefusedAtOnce) {
  expect_error(std::string(8 << 20, '['), "nesting deeper than 32");
  std::string objects;
  for (int i = 0; i < 1 << 20; ++i) objects += R"({"a":)";
  expect_error(objects, "nesting deeper than 32");
  expect_error(with_fields(R"("doc_string": )" + std::string(100, '[') + std::string(100, ']')),
               "nesting deeper than 32");
}

// Each entry takes some hundred bytes in a Node.
TEST(NodeJsonError, EndlessArraysAreRefusedBeforeTheyBecomeANode) {
  const auto array = [](size_t count, const std::string& entry) {
    std::string text = "[" + entry;
    for (size_t i = 1; i < count; ++i) text += "," + entry;
    return text + "]";
  };
  constexpr size_t kMany = 1 << 20;
  const auto start = std::chrono::steady_clock::now();
  expect_error(R"({"op_type": "MatMul", "inputs": )" + array(kMany, "{}") + "}",
               "inputs has 1048576 entries; allowed: up to 1000");
  expect_error(with_shape(array(kMany, "2")), "inputs[0].shape has 1048576 entries; allowed: up to 1000");
  expect_error(with_shape(R"([{"name": "b", "likely": )" + array(kMany, "1") + "}]"),
               "inputs[0].shape[0].likely has 1048576 entries; allowed: up to 1000");
  expect_error(with_fields(R"("epilogue": )" + array(kMany, "{}")), "epilogue has 1048576 entries");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)) << "time is not linear in the length";
  EXPECT_EQ(error_of(with_shape(R"([{"name": "b", "likely": )" + array(1000, "1") + "}]")), "no error");
}

TEST(NodeJsonError, RepeatedKeys) {
  expect_error(R"({"op_type": "Gemm", "op_type": "MatMul", "inputs": [{}, {}]})", "key 'op_type' stands twice");
  expect_error(with_input(R"({"dtype": "float32", "dtype": "float64"})"), "key 'dtype' stands twice");
  expect_error(with_fields(R"("attributes": {"alpha": 1, "alpha": 2})"), "key 'alpha' stands twice");
  expect_error(R"({"op_type": "Gemm", "\u006fp_type": "MatMul", "inputs": []})", "key 'op_type' stands twice");
}

TEST(NodeJsonError, Fields) {
  expect_error("{}", "field 'op_type' is missing");
  expect_error(R"({"op_type": "Gemm"})", "field 'inputs' is missing");
  expect_error(R"({"inputs": []})", "field 'op_type' is missing");
  expect_error(with_fields(R"("color": 1)"), "unknown field 'color'; allowed: name, op_type, domain");
  expect_error(with_fields(R"("color\n": 1)"), "unknown field 'color\\x0a'");
  expect_error(with_fields(R"("color": 1)"), "(node 'fc1')");
  expect_error(with_fields(R"("Opset": 13)"), "unknown field 'Opset'");
  expect_error(with_fields(R"("transB": 1)"), "lda coeff; this one belongs into attributes");
  // The hint is for the node's own level alone: the line ends after what is allowed.
  expect_error(with_input(R"({"transB": 1})"), "constant, data, storage (node 'fc1')");
  expect_error(R"({"name": 1, "op_type": "Gemm", "inputs": []})", "name is 1; allowed: a string");
  expect_error(R"({"op_type": null, "inputs": []})", "op_type is null; allowed: a string");
  expect_error(R"({"op_type": "Gemm", "inputs": {}})", "inputs is an object; allowed: an array");
  expect_error(with_fields(R"("opset": 13.0)"), "opset is 13.0; allowed: an integer");
  expect_error(with_fields(R"("opset": -1)"), "opset is -1");
  expect_error(with_fields(R"("opset": "13")"), "opset is \"13\"");
  expect_error(with_fields(R"("domain": [])"), "domain is an array");
  expect_error(with_fields(R"("outputs": "Y")"), "outputs is \"Y\"; allowed: an array");
  expect_error(with_fields(R"("outputs": [1])"), "outputs[0] is 1; allowed: a string");
  expect_error(with_fields(R"("outputs": [{"name": "Y", "shape": [1]}])"), "unknown field 'shape' in outputs[0]");
  expect_error(with_fields(R"("outputs": [{"strides": [0.5]}])"), "outputs[0].strides[0] is 0.5");
  expect_error(with_fields(R"("order": "m")"), "order is \"m\"; allowed: \"k\" or \"any\"");
  expect_error(with_fields(R"("training": 1)"), "training is 1; allowed: true or false");
  expect_error(with_fields(R"("lda_coeff": "1")"), "lda_coeff is \"1\"; allowed: a number");
  expect_error(with_fields(R"("doc_string": 1)"), "doc_string is 1");
  expect_error(with_fields(R"("metadata_props": "x")"), "metadata_props is \"x\"");
  expect_error(with_fields(R"("epilogue": {"op": "gelu"})"), "epilogue is an object; allowed: an array");
  expect_error(with_fields(R"("epilogue": ["gelu"])"), "epilogue[0] is \"gelu\"");
  expect_error(with_fields(R"("epilogue": [{"op": "gelu"}, {"op": 1}])"), "epilogue[1].op is 1");
  expect_error(with_fields(R"("epilogue": [{"op": "gelu", "alpha": 1}])"), "unknown field 'alpha' in epilogue[0]");
  expect_error(with_fields(R"("epilogue": [{"op": "clip", "alpha": 1}])"), "allowed: op, axis, name, min, max");
  expect_error(with_fields(R"("epilogue": [{"op": "clip", "min": "0"}])"),
               "epilogue[0].min is \"0\"; allowed: a number");
}

TEST(NodeJsonError, ToolKeysTwice) {
  expect_error(with_fields(R"("outputs": ["Y"], "specified_outputs_name": ["Y"])"),
               "both 'outputs' and 'specified_outputs_name' are given");
  expect_error(with_fields(R"("training": true, "training?": true)"), "both 'training' and 'training?'");
  expect_error(with_fields(R"("lda_coeff": 1, "lda coeff": 1)"), "both 'lda_coeff' and 'lda coeff'");
  expect_error(with_fields(R"("lda-coeff": 1)"), "unknown field 'lda-coeff'");
}

TEST(NodeJsonError, Attributes) {
  expect_error(with_fields(R"("attributes": [])"), "attributes is an array; allowed: an object");
  expect_error(with_fields(R"("attributes": {"alpha": 1e39})"),
               "attributes.alpha is 1e+39; allowed: a number that fits float32");
  expect_error(with_fields(R"("attributes": {"transA": 18446744073709551615})"),
               "attributes.transA is 18446744073709551615");
}

TEST(NodeJsonError, Inputs) {
  expect_error(with_input("1"), "inputs[0] is 1; allowed: an object");
  expect_error(with_input(R"("A")"), "inputs[0] is \"A\"");
  expect_error(with_input(R"({"name": "", "dtype": "float32"})"), "inputs[0] has an empty name, which means absent");
  expect_error(with_input(R"({"type": "float32"})"), "unknown field 'type' in inputs[0]; allowed: name, dtype, shape");
  expect_error(with_input(R"({"dtype": "int8"})"), "inputs[0].dtype is \"int8\"; allowed: bfloat16, float16,");
  expect_error(with_input(R"({"dtype": 1})"), "inputs[0].dtype is 1");
  expect_error(with_input(R"({"storage": "int4"})"), "inputs[0].storage is \"int4\"");
  expect_error(with_input(R"({"constant": "yes"})"), "inputs[0].constant is \"yes\"; allowed: true or false");
  expect_error(with_input(R"({"strides": 1})"), "inputs[0].strides is 1; allowed: an array");
  expect_error(with_input(R"({"strides": ["x"]})"),
               "inputs[0].strides[0] is \"x\"; allowed: a 64-bit integer, or \"?\"");
  expect_error(with_input(R"({"strides": [9223372036854775808]})"), "strides[0] is 9223372036854775808");
  expect_error(with_input(R"({"strides": [-9223372036854775809]})"), "strides[0] is -9.22");
}

TEST(NodeJsonError, Shapes) {
  expect_error(with_shape("3"), "inputs[0].shape is 3; allowed: an array");
  expect_error(with_shape("null"), "inputs[0].shape is null");
  expect_error(with_shape("[2, -1]"), "inputs[0].shape[1] is -1; allowed: a size from 0 to 2^63-1");
  expect_error(with_shape("[2.0]"), "inputs[0].shape[0] is 2.0");
  expect_error(with_shape("[1e2]"), "inputs[0].shape[0] is 100.0");
  expect_error(with_shape("[true]"), "inputs[0].shape[0] is true");
  expect_error(with_shape("[null]"), "inputs[0].shape[0] is null");
  expect_error(with_shape(R"([""])"), "inputs[0].shape[0] is \"\"");
  expect_error(with_shape("[9223372036854775808]"), "shape[0] is 9223372036854775808");
  expect_error(with_shape("[18446744073709551616]"), "shape[0] is 1.8");
  expect_error(with_shape("[[1]]"), "inputs[0].shape[0] is an array");
  expect_error(with_shape(R"(["?rows"])"),
               "inputs[0].shape[0] is \"?rows\"; allowed: a run-time dimension's name, without");
  expect_error(with_shape(R"(["?"])"), "inputs[0].shape[0] is \"?\"");
  expect_error(with_shape(R"([{"name": "?s"}])"), "inputs[0].shape[0].name is \"?s\"");
  expect_error(with_shape("[{}]"), "inputs[0].shape[0] has no name");
  expect_error(with_shape(R"([{"name": ""}])"), "inputs[0].shape[0] has no name");
  expect_error(with_shape(R"([{"name": "s", "step": 2}])"), "unknown field 'step' in inputs[0].shape[0]");
  expect_error(with_shape(R"([{"name": "s", "min": -1}])"), "shape[0].min is -1");
  expect_error(with_shape(R"([{"name": "s", "max": 1.5}])"), "shape[0].max is 1.5");
  expect_error(with_shape(R"([{"name": "s", "likely": 5}])"), "shape[0].likely is 5; allowed: an array");
  expect_error(with_shape(R"([{"name": "s", "likely": ["5"]}])"), "shape[0].likely[0] is \"5\"");
}

TEST(NodeJsonError, Data) {
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(write_npy(folder.path() / "w.npy", {DType::kFloat32, {3, 2}, std::vector<uint8_t>(24)}).is_ok());
  std::ofstream(folder.path() / "bad.npy") << "not npy";
  const auto expect_data_error = [&](const std::string& input, const std::string& part,
                                     StatusCode code = StatusCode::kInvalidArgument) {
    const std::string message = error_of(with_input(input), folder.path(), code);
    EXPECT_NE(message.find(part), std::string::npos) << input << " gave: " << message;
    EXPECT_NE(message.find("(node 'fc1')"), std::string::npos) << message;
  };
  expect_data_error(R"({"data": "none.npy"})", "none.npy: cannot be read", StatusCode::kEnvironment);
  expect_data_error(R"({"data": "."})", "cannot be read: not a file", StatusCode::kEnvironment);
  expect_data_error(R"({"data": "bad.npy"})", "bad.npy: ");
  expect_data_error(R"({"data": ""})", "inputs[0].data is \"\"; allowed: the path of a .npy file");
  expect_data_error(R"({"data": "w.npy\u0000.evil"})", "inputs[0].data is \"w.npy\\u0000.evil\"; allowed: the path");
  expect_data_error(R"({"data": [1, 2]})", "inputs[0].data is an array; allowed: a string");
  expect_data_error(R"({"data": "w.npy", "dtype": "float64"})", "inputs[0] is float64, but");
  expect_data_error(R"({"data": "w.npy", "dtype": "float64", "storage": "bfloat16"})", "inputs[0] is bfloat16, but");
  expect_data_error(R"({"data": "w.npy", "shape": [2, 3]})", "inputs[0] has another shape than");
  expect_data_error(R"({"data": "w.npy", "shape": [3, 2, 1]})", "w.npy, (3, 2); allowed: the same");
  expect_data_error(R"({"data": "w.npy", "shape": ["s", "s"]})", "another shape");
  expect_data_error(R"({"data": "w.npy", "constant": false})", "allowed: data of constants only");
  expect_data_error(R"({"data": "w.npy", "strides": [2, 1]})", "has data and strides");
}

TEST(NodeJsonError, DamagedTextsNeverCrash) {
  const std::string good = with_fields(
      R"("opset": 13, "outputs": [{"name": "Y", "strides": [5, "?"]}], "attributes": {"alpha": 1.5, "transA": 1},
         "epilogue": [{"op": "bias", "axis": "n"}], "order": "k", "training?": false)");
  ASSERT_EQ(error_of(good), "no error");
  std::mt19937 random(13);
  const std::string alphabet = "{}[]\",:0123456789.eE+-truefalsn\\ \xff\n";
  int refused = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string text = good;
    for (int edits = 1 + i % 3; edits > 0; --edits) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, 1);
      } else {
        text.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
    }
    refused += error_of(text) != "no error";
  }
  EXPECT_GT(refused, 15000);
}

}  // namespace
}  // namespace gemmc
