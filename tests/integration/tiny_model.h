// A small .onnx file with a few nodes, encoded here: the command's tests need a model, not a model reader.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace gemmc::testing {

struct TinyInput {
  std::string name;
  int element_type = 1;  // onnx.TensorProto.DataType: 1 float32, 3 int8, 11 float64, 10 float16, ...
  std::vector<std::variant<int64_t, std::string>> shape;
};

struct TinyNode {
  std::string op_type;
  std::string name;
  std::vector<std::string> inputs;
  std::string output;
};

// A float32 initializer; its values are 0, 1, 2, ...
struct TinyWeights {
  std::string name;
  std::vector<int64_t> shape;
};

struct TinyModel {
  std::vector<TinyInput> inputs;
  std::vector<TinyWeights> weights;
  std::vector<TinyNode> nodes;
};

// The bytes of the file: a ModelProto of opset 13, whose outputs are the nodes' outputs.
std::string encode(const TinyModel& model);

}  // namespace gemmc::testing
