// Any bytes as an .onnx file, in a folder with external data, a folder, a pipe and a link that leads out. Most inputs
// are made by changing a field of a model that another input holds.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "compiler/onnx_model.h"
#include "onnx.pb.h"
#include "tests/fuzz/compiler/onnx_mutator.h"
#include "tests/fuzz/invariants.h"
#include "tests/support/temporary_folder.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using namespace gemmc;
namespace fs = std::filesystem;

constexpr size_t kProblemsChecked = 32;

class ModelFolder {
 public:
  ModelFolder() {
    fs::create_directory(folder_.path() / "sub");
    write("w.bin", std::string(64, '\x3f'));
    write("sub/v.bin", std::string(64, '\1'));
    fs::create_symlink("/dev/zero", folder_.path() / "out.bin");
    testing::require(mkfifo((folder_.path() / "pipe").c_str(), 0600) == 0, "the pipe is made");
  }

  Expected<Model> load(std::string_view bytes, const std::map<std::string, int64_t>& bindings) {
    write("model.onnx", bytes);
    return load_model(folder_.path() / "model.onnx", bindings);
  }

 private:
  void write(const char* name, std::string_view bytes) {
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
  }

  testing::TemporaryFolder folder_;
};

void check_input(const NodeInput& input, const std::string& origin, const std::set<std::string>& runtime_dims,
                 const std::string& name) {
  testing::require(input.is_constant == !origin.empty(), "a constant has an origin", name);
  for (const Dim& dim : input.shape.value_or(Shape())) {
    testing::require(dim.is_static() ? dim.size >= 0 : runtime_dims.contains(dim.name), "a dimension is known", name);
  }
  if (input.data == nullptr) return;
  testing::require(input.is_constant && input.shape && input.dtype == input.data->dtype, "data is a constant's", name);
  testing::require(input.shape->size() == input.data->shape.size(), "data has the operand's rank", name);
  size_t bytes = size_bytes(input.data->dtype);
  for (size_t axis = 0; axis < input.shape->size(); ++axis) {
    testing::require((*input.shape)[axis].is(input.data->shape[axis]), "data has the operand's shape", name);
    bytes *= static_cast<size_t>(input.data->shape[axis]);
  }
  testing::require(input.data->bytes.size() == bytes, "data has its shape's bytes", name);
}

void check_model(const Model& model) {
  std::set<std::string> names;
  const std::set<std::string> runtime_dims(model.runtime_dims.begin(), model.runtime_dims.end());
  size_t checked = 0;
  for (const ModelNode& found : model.nodes) {
    const Node& node = found.node;
    testing::require(!node.name.empty() && names.insert(node.name).second, "a node's name is its own", node.name);
    testing::require(found.constant_origin.size() == node.inputs.size(), "each operand has an origin", node.name);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      check_input(node.inputs[i], found.constant_origin[i], runtime_dims, node.name);
    }
    if (++checked > kProblemsChecked) continue;
    const Expected<Problem> problem = node_to_problem(node);
    if (problem) {
      testing::check_problem(*problem);
    } else {
      testing::check_refusal(problem.status());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static ModelFolder folder;
  const std::string_view bytes = testing::as_text(data, size);
  const Expected<Model> model = folder.load(bytes, {});
  if (!model) {
    // The environment: external data that is not there.
    testing::check_refusal(model.status(), /*may_be_environment=*/true);
    return 0;
  }
  check_model(*model);
  if (model->runtime_dims.empty()) return 0;
  const Expected<Model> bound = folder.load(bytes, {{model->runtime_dims.front(), 3}});
  if (bound) {
    check_model(*bound);
    const std::vector<std::string>& left = bound->runtime_dims;
    testing::require(std::find(left.begin(), left.end(), model->runtime_dims.front()) == left.end(),
                     "a bound dimension has its size", model->runtime_dims.front());
  } else {
    testing::check_refusal(bound.status(), /*may_be_environment=*/true);
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  onnx::ModelProto model;
  constexpr unsigned int kOneInPlain = 8;  // changes of bytes, for the reader of the message itself
  if (seed % kOneInPlain == 0 || !model.ParseFromArray(data, static_cast<int>(size))) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  testing::mutate_model(model, seed);
  const size_t length = model.ByteSizeLong();
  if (length > max_size) return LLVMFuzzerMutate(data, size, max_size);
  model.SerializeToArray(data, static_cast<int>(length));
  return length;
}
