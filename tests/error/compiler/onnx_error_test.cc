// Files that are no models, and models that are traps: one clear line, in bounded time and memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "compiler/onnx_file.h"
#include "compiler/onnx_tensor.h"
#include "tests/unit/compiler/onnx_builder.h"

namespace gemmc::testing {
namespace {

namespace fs = std::filesystem;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr auto kFloat = TensorProto::FLOAT;

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The message of a refusal, checked to be one line that names the file, with the code of a wrong file.
std::string refusal(const Expected<Model>& model) {
  if (model) return "loaded";
  const std::string& message = model.status().message();
  EXPECT_EQ(model.status().code(), StatusCode::kInvalidArgument) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_EQ(message.find("model '"), 0u) << message;
  EXPECT_LT(message.size(), 1000u) << message;
  const size_t end_of_path = message.find("model.onnx': ");
  return end_of_path == std::string::npos ? message : message.substr(end_of_path + 13);
}
std::string refusal(const ModelProto& model) { return refusal(load(model)); }

class OnnxFile : public ::testing::Test {
 protected:
  Expected<Model> load_bytes(const std::string& bytes) {
    write(path_, bytes);
    return load_model(path_, {});
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "model.onnx";
};

// A model with a bit of everything.
ModelProto rich_model() {
  ModelProto made = matmul_model(value_info("A", kFloat, "batch,2"), floats("B", {2, 3}, {1, 2, 3, 4, 5, 6}));
  GraphProto& graph = *made.mutable_graph();
  *graph.add_initializer() = raw_tensor<int8_t>("Q", TensorProto::INT8, {3, 2}, {1, 2, 3, 4, 5, 6});
  *graph.add_initializer() = floats("scale", {2}, {0.5f, 2.0f});
  *graph.add_initializer() = int64s("to", {0, -1});
  *graph.add_node() = node("Constant", {}, {"c"}, {integers_attribute("value_ints", {1, 0})});
  *graph.add_node() = node("DequantizeLinear", {"Q", "scale"}, {"D"}, {attribute("axis", int64_t{1})});
  *graph.add_node() = node("Reshape", {"D", "to"}, {"R"}, {attribute("allowzero", int64_t{0})});
  *graph.add_node() = node("Gemm", {"Y", "R"}, {"G"}, {attribute("alpha", 0.5f)});
  GraphProto body;
  *body.add_node() = node("MatMul", {"G", "T"}, {"P"});
  body.add_output()->set_name("P");
  *body.add_initializer() = float_zeros("T", {2, 2});
  *graph.add_node() = node("If", {"c"}, {"I"}, {attribute("then_branch", body), attribute("else_branch", body)});
  *graph.add_value_info() = value_info("G", kFloat, "batch,2");
  graph.add_output()->set_name("I");
  *made.add_functions() = function("my", "F", {"x"}, {"y"}, {node("MatMul", {"x", "x"}, {"y"})});
  NodeProto call = node("F", {"G"}, {"H"});
  call.set_domain("my");
  *graph.add_node() = call;
  return made;
}

TEST_F(OnnxFile, HasToBeAReadableFile) {
  EXPECT_EQ(load_model(folder_.path() / "gone.onnx", {}).status().code(), StatusCode::kEnvironment);
  EXPECT_EQ(load_model(folder_.path(), {}).status().code(), StatusCode::kEnvironment);
  EXPECT_EQ(load_model("", {}).status().code(), StatusCode::kEnvironment);
  EXPECT_EQ(load_model("/dev/zero", {}).status().code(), StatusCode::kEnvironment);
  const fs::path pipe = folder_.path() / "pipe.onnx";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Status status = load_model(pipe, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kEnvironment);
  EXPECT_NE(status.message().find("pipe.onnx': not a regular file"), std::string::npos) << status.message();
}

TEST_F(OnnxFile, ThatIsEmptyOrTextIsNoModel) {
  EXPECT_EQ(refusal(load_bytes("")), "not an ONNX model: it has no graph");
  EXPECT_EQ(refusal(load_bytes("{\"op_type\": \"Gemm\"}\n")),
            "not an ONNX model: cut short, malformed, or subgraphs nested deeper than 32");
}

TEST_F(OnnxFile, CutShortAnywhere) {
  const std::string whole = rich_model().SerializeAsString();
  ASSERT_TRUE(load_bytes(whole)) << load_bytes(whole).status().message();
  size_t refused = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    const Expected<Model> model = load_bytes(whole.substr(0, length));
    if (!model) refusal(model), ++refused;
  }
  // Only where a field of the outermost message ends can a prefix be a smaller model.
  EXPECT_GT(refused, whole.size() * 9 / 10);
}

TEST_F(OnnxFile, WithChangedBytes) {
  const std::string whole = rich_model().SerializeAsString();
  std::mt19937 random(20240601);
  size_t refused = 0;
  constexpr size_t kRounds = 3000;
  for (size_t round = 0; round < kRounds; ++round) {
    std::string changed = whole;
    const size_t changes = 1 + random() % 4;
    for (size_t change = 0; change < changes; ++change)
      changed[random() % changed.size()] = static_cast<char>(random());
    const Expected<Model> model = load_bytes(changed);
    // A changed name may be the path of external data that is not there.
    if (!model && model.status().code() != StatusCode::kEnvironment) refusal(model), ++refused;
  }
  EXPECT_GT(refused, kRounds / 10);
}

TEST_F(OnnxFile, OfRandomBytes) {
  std::mt19937 random(7);
  size_t loaded = 0;
  for (size_t round = 0; round < 1000; ++round) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const Expected<Model> model = load_bytes(bytes);
    if (!model)
      refusal(model);
    else
      ++loaded;
  }
  EXPECT_LT(loaded, 10u);
}

TEST_F(OnnxFile, LargerThanAMessageCanBe) {
  write(path_, "");
  fs::resize_file(path_, uint64_t{3} << 30);  // a hole
  EXPECT_EQ(refusal(load_model(path_, {})),
            "the file has 3221225472 bytes; an ONNX model has at most 2147483647 and keeps "
            "larger weights in external data");
}

TEST_F(OnnxFile, OfEmptyMessages) {
  // A graph of two million empty nodes, 2 bytes each, would take 400 MB in memory.
  std::string nodes;
  for (int index = 0; index < 2'000'000; ++index) nodes += std::string("\x0a\x00", 2);
  std::string bytes = "\x3a";  // ModelProto.graph
  for (size_t length = nodes.size(); length > 0; length >>= 7) {
    bytes += static_cast<char>((length & 0x7f) | (length >= 0x80 ? 0x80 : 0));
  }
  EXPECT_EQ(refusal(load_bytes(bytes + nodes)),
            "the file's 4000005 bytes make more than 32 times as many in memory, or more than there are");
}

ModelProto with_nodes(const std::vector<NodeProto>& nodes) {
  ModelProto made = model();
  *made.mutable_graph()->add_input() = value_info("A", kFloat, "m,4");
  for (const NodeProto& node : nodes) *made.mutable_graph()->add_node() = node;
  return made;
}

TEST(OnnxTrap, CyclesAndMissingTensors) {
  const std::string tail = ", which nothing before it defines: a cycle, an unsorted graph or a missing tensor";
  EXPECT_EQ(refusal(with_nodes({node("MatMul", {"A", "y"}, {"y"}, {}, "self")})), "node 'self' reads 'y'" + tail);
  EXPECT_EQ(refusal(with_nodes({node("Relu", {"b"}, {"a"}), node("Relu", {"a"}, {"b"})})),
            "node 'Relu_0' reads 'b'" + tail);
  EXPECT_EQ(refusal(with_nodes({node("MatMul", {"A", "gone"}, {"y"})})), "node 'MatMul_0' reads 'gone'" + tail);
  // A body may not read what its own node makes.
  GraphProto body;
  *body.add_node() = node("Relu", {"out"}, {"r"});
  EXPECT_EQ(refusal(with_nodes({node("If", {"A"}, {"out"}, {attribute("then_branch", body)})})),
            "node 'Relu_0' reads 'out'" + tail);
  ModelProto made = with_nodes({});
  made.mutable_graph()->add_output()->set_name("y");
  EXPECT_EQ(refusal(made), "graph output 'y' is computed nowhere");
}

TEST(OnnxTrap, RepeatedDefinitions) {
  EXPECT_EQ(refusal(with_nodes({node("Relu", {"A"}, {"b"}), node("Tanh", {"A"}, {"b"})})),
            "tensor 'b' is defined twice");
  EXPECT_EQ(refusal(with_nodes({node("Relu", {"A"}, {"A"})})), "tensor 'A' is defined twice");
  ModelProto made = matmul_model(value_info("A", kFloat, "m,1"), float_zeros("B", {1, 1}));
  *made.mutable_graph()->add_initializer() = float_zeros("B", {2, 2});
  EXPECT_EQ(refusal(made), "tensor 'B' is defined twice");
  made.mutable_graph()->mutable_initializer()->RemoveLast();
  *made.mutable_graph()->add_input() = value_info("A", kFloat, "m,1");
  EXPECT_EQ(refusal(made), "tensor 'A' is defined twice");
  made.mutable_graph()->mutable_input()->RemoveLast();
  *made.add_functions() = function("my", "F", {}, {}, {});
  *made.add_functions() = function("my", "F", {}, {}, {});
  EXPECT_EQ(refusal(made), "function 'my:F' is defined twice");
}

TEST(OnnxTrap, FunctionsThatCallThemselves) {
  const auto call = [](const std::string& name) {
    NodeProto made = node(name, {"x"}, {"y"});
    made.set_domain("my");
    return made;
  };
  ModelProto direct = model();
  *direct.add_functions() = function("my", "F", {"x"}, {"y"}, {call("F")});
  EXPECT_EQ(refusal(direct), "function 'my:F' calls itself");
  ModelProto mutual = model();
  *mutual.add_functions() = function("my", "F", {"x"}, {"y"}, {call("G")});
  *mutual.add_functions() = function("my", "G", {"x"}, {"y"}, {call("F")});
  EXPECT_EQ(refusal(mutual), "function 'my:F' calls itself");
}

// Linear work, on any machine that tests run on.
constexpr std::chrono::seconds kSoon(60);

NodeProto call_of(int level, const std::string& from, const std::string& to) {
  NodeProto call = node(numbered("F", level), {from}, {to});
  call.set_domain("my");
  return call;
}

// F0 calls F1 twice, which calls F2 twice, and so on, to 2^levels calls of the one whose only node is `leaf`.
ModelProto doubling_model(int levels, const NodeProto& leaf) {
  ModelProto made = model();
  for (int level = 0; level < levels; ++level) {
    *made.add_functions() = function("my", numbered("F", level), {"x"}, {"y"},
                                     {call_of(level + 1, "x", "t"), call_of(level + 1, "x", "y")});
  }
  *made.add_functions() = function("my", numbered("F", levels), {"x"}, {"y"}, {leaf});
  return made;
}

TEST(OnnxTrap, FunctionsThatUnfoldExponentially) {
  const ModelProto made = doubling_model(29, node("Relu", {"x"}, {"y"}));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(refusal(made),
            "the graph has more than " + std::to_string(65536 + made.ByteSizeLong()) +
                " nodes, operands, attributes and parts of long names and lists, counting each call of a function");
  EXPECT_LT(std::chrono::steady_clock::now() - start, kSoon);
  ModelProto deep = model();
  for (int level = 0; level < 100; ++level) {
    *deep.add_functions() = function("my", numbered("F", level), {"x"}, {"y"}, {call_of(level + 1, "x", "y")});
  }
  *deep.add_functions() = function("my", "F100", {"x"}, {"y"}, {node("Relu", {"x"}, {"y"})});
  EXPECT_EQ(refusal(deep), "function calls are nested deeper than 32");
}

// A function's list of numbers or long name is small in the file, and large when each of thousands of calls has its
// own.
TEST(OnnxTrap, CallsThatCopyMuch) {
  const auto unfolded = [](const NodeProto& leaf) { return doubling_model(11, leaf); };
  EXPECT_EQ(refusal(unfolded(node("Relu", {"x"}, {"y"}))), "loaded");
  const auto start = std::chrono::steady_clock::now();
  const std::vector<int64_t> many(10000, 1);
  EXPECT_TRUE(refusal(unfolded(node("Constant", {}, {"y"}, {integers_attribute("value_ints", many)})))
                  .starts_with("the graph has more than "));
  EXPECT_TRUE(refusal(unfolded(node(std::string(1 << 20, 'N'), {"x"}, {"y"}))).starts_with("the graph has more than "));
  EXPECT_LT(std::chrono::steady_clock::now() - start, kSoon);

  GraphProto body;
  *body.add_node() = node("If", {}, {}, {attribute("then_branch", GraphProto())}, std::string(8000, 'n'));
  ModelProto long_path = with_nodes({node("If", {}, {}, {attribute("then_branch", body)}, std::string(8000, 'm'))});
  EXPECT_NE(refusal(long_path).find("bytes; allowed: up to 8192 of printable UTF-8"), std::string::npos);
}

// 256 calls of one node that reads 200 times an operand of 32 named dimensions: 4 KB that would make half a GiB.
TEST(OnnxTrap, DescriptionsThatExplode) {
  std::string dims = "d0";
  for (int axis = 1; axis < static_cast<int>(kMaxRank); ++axis) dims += numbered(",d", axis);
  ModelProto made = doubling_model(8, node("MatMul", Names(200, "x"), {"y"}));
  *made.mutable_graph()->add_input() = value_info("A", kFloat, dims);
  *made.mutable_graph()->add_node() = call_of(0, "A", "Y");
  EXPECT_LT(made.ByteSizeLong(), 4096u);
  const std::string message = refusal(made);
  EXPECT_TRUE(message.starts_with("the constants and nodes take more than ")) << message;
}

TEST(OnnxTrap, FunctionsWithWrongCalls) {
  ModelProto made = with_nodes({});
  *made.add_functions() = function("my", "F", {"x"}, {"y"}, {node("Relu", {"x"}, {"y"})});
  NodeProto call = node("F", {"A", "A"}, {"b"}, {}, "call");
  call.set_domain("my");
  *made.mutable_graph()->add_node() = call;
  EXPECT_EQ(refusal(made), "node 'call' calls function 'my:F' with 2 inputs and 1 outputs; allowed: 1 and 1");
  made.mutable_graph()->mutable_node(0)->mutable_input()->RemoveLast();
  made.mutable_functions(0)->set_output(0, "nowhere");
  EXPECT_EQ(refusal(made), "output 'nowhere' of function 'my:F' is computed nowhere");
}

TEST(OnnxTrap, SubgraphsNestedWithoutEnd) {
  const auto nested = [](int depth) {
    GraphProto graph;
    for (int level = 0; level < depth; ++level) {
      GraphProto outer;
      *outer.add_node() = node("If", {}, {}, {attribute("then_branch", graph)});
      graph = std::move(outer);
    }
    ModelProto made = model();
    *made.mutable_graph() = graph;
    return made;
  };
  EXPECT_TRUE(load(nested(kMaxSubgraphDepth)));
  EXPECT_EQ(refusal(nested(kMaxSubgraphDepth + 1)), "subgraphs are nested deeper than 32");
  EXPECT_EQ(refusal(nested(500)), "not an ONNX model: cut short, malformed, or subgraphs nested deeper than 32");
}

TEST(OnnxTrap, ShapesAndNamesOutOfBounds) {
  const auto with_input = [](const ::onnx::ValueInfoProto& info) {
    ModelProto made = model();
    *made.mutable_graph()->add_input() = info;
    return made;
  };
  EXPECT_EQ(refusal(with_input(value_info("A", kFloat, "b,-1"))),
            "tensor 'A' has a dimension of -1; allowed: 0 and more");
  std::string dims = "1";
  for (size_t rank = 0; rank < kMaxRank; ++rank) dims += ",1";
  EXPECT_EQ(refusal(with_input(value_info("A", kFloat, dims))), "tensor 'A' has rank 33; allowed: up to 32");
  EXPECT_EQ(refusal(with_input(value_info("A", kFloat, "a\nb"))),
            "tensor 'A' has a dimension named 'a\\x0ab'; allowed: up to 256 bytes of printable UTF-8");
  EXPECT_NE(refusal(with_input(value_info("A", kFloat, std::string(257, 'x')))).find("allowed: up to 256 bytes"),
            std::string::npos);
  EXPECT_EQ(refusal(with_nodes({node("MatMul", {"A", "A"}, {"y"}, {}, "a\tb")})),
            "a node's name 'a\\x09b' has 3 bytes; allowed: up to 1024 of printable UTF-8");
  EXPECT_EQ(refusal(with_nodes({node("MatMul", {"A", "A"}, {"\xff"})})),
            "a tensor's name '\\xff' has 1 bytes; allowed: up to 1024 of printable UTF-8");
}

TEST(OnnxTrap, TensorsThatPromiseMoreThanTheyHold) {
  ModelProto made = matmul_model(value_info("A", kFloat, "m,4"), float_zeros("B", {4, 5}));
  made.mutable_graph()->mutable_initializer(0)->set_dims(1, 500000000000);
  EXPECT_EQ(refusal(made), "tensor 'B' holds 80 bytes of float32, its shape needs 8000000000000");
  made.mutable_graph()->mutable_initializer(0)->clear_dims();
  made.mutable_graph()->mutable_initializer(0)->add_dims(int64_t{1} << 62);
  made.mutable_graph()->mutable_initializer(0)->add_dims(8);
  EXPECT_EQ(refusal(made), "tensor 'B' has shape [4611686018427387904, 8], too large to address");
}

TEST(OnnxTrap, ConstantsThatExplode) {
  // A column times a row: 2 MB that ask for 250 GB.
  ModelProto outer = with_nodes({node("Mul", {"column", "row"}, {"B"}), node("MatMul", {"A", "B"}, {"y"})});
  *outer.mutable_graph()->add_initializer() = float_zeros("column", {250000, 1});
  *outer.mutable_graph()->add_initializer() = float_zeros("row", {1, 250000});
  const std::string message = refusal(outer);
  EXPECT_TRUE(message.starts_with("the constants and nodes take more than ") &&
              message.find("'B'") != std::string::npos)
      << message;

  // x * x, thirty times: a billion products if each were evaluated anew.
  std::vector<NodeProto> nodes;
  for (int index = 0; index < 30; ++index) {
    const std::string from = numbered("x", index);
    nodes.push_back(node("Mul", {from, from}, {numbered("x", index + 1)}));
  }
  nodes.push_back(node("MatMul", {"A", "x30"}, {"y"}));
  ModelProto squares = with_nodes(nodes);
  *squares.mutable_graph()->add_initializer() = float_zeros("x0", {4, 1});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(refusal(squares).starts_with("the constants and nodes take more than "));
  EXPECT_LT(std::chrono::steady_clock::now() - start, kSoon);
}

TEST(OnnxTrap, OneExternalFileReadTooOften) {
  const TemporaryFolder folder;
  write(folder.path() / "w.bin", std::string(1 << 20, '\0'));
  ModelProto made = with_nodes({});
  for (int index = 0; index < 200; ++index) {
    TensorProto tensor;
    tensor.set_name(numbered("w", index));
    tensor.set_data_type(kFloat);
    tensor.add_dims(4);
    tensor.add_dims(1 << 16);
    tensor.set_data_location(TensorProto::EXTERNAL);
    auto* entry = tensor.add_external_data();
    entry->set_key("location");
    entry->set_value("w.bin");
    *made.mutable_graph()->add_initializer() = tensor;
    *made.mutable_graph()->add_node() = node("MatMul", {"A", tensor.name()}, {numbered("y", index)});
  }
  EXPECT_TRUE(refusal(load(made, folder)).starts_with("the constants and nodes take more than "));
  EXPECT_TRUE(load(made, folder, {}, ConstantValues::kSkip)) << "shapes alone need no data";
}

TEST(OnnxTrap, AKeyOfExternalDataThatStandsTwice) {
  const TemporaryFolder folder;
  write(folder.path() / "w.bin", std::string(64, '\0'));
  for (const char* key : {"location", "offset", "length", "checksum"}) {
    ModelProto made = with_nodes({node("MatMul", {"A", "w"}, {"y"})});
    TensorProto& tensor = *made.mutable_graph()->add_initializer();
    tensor.set_name("w");
    tensor.set_data_type(kFloat);
    tensor.add_dims(4);
    tensor.add_dims(2);
    tensor.set_data_location(TensorProto::EXTERNAL);
    for (const auto& [name, value] : {std::pair{"location", "w.bin"}, std::pair{"offset", "0"},
                                      std::pair{"length", "32"}, std::pair{"checksum", "00"}}) {
      for (int count = name == std::string(key) ? 2 : 1; count > 0; --count) {
        auto* entry = tensor.add_external_data();
        entry->set_key(name);
        entry->set_value(value);
      }
    }
    EXPECT_EQ(refusal(load(made, folder)), std::string("external data of tensor 'w': key '") + key +
                                               "' stands twice; allowed: once (node 'MatMul_0')");
  }
}

TEST(OnnxTrap, AHoleIsNoData) {
  const TemporaryFolder folder;
  write(folder.path() / "w.bin", "");
  fs::resize_file(folder.path() / "w.bin", uint64_t{1} << 40);
  ModelProto made = with_nodes({node("MatMul", {"A", "w"}, {"y"})});
  TensorProto& tensor = *made.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(kFloat);
  tensor.add_dims(4);
  tensor.add_dims(int64_t{1} << 36);
  tensor.set_data_location(TensorProto::EXTERNAL);
  tensor.add_external_data()->set_key("location");
  tensor.mutable_external_data(0)->set_value("w.bin");
  EXPECT_TRUE(refusal(load(made, folder)).starts_with("the constants and nodes take more than "));
}

}  // namespace
}  // namespace gemmc::testing
