// Any bytes as a node description, beside a folder with a few .npy files.
#include "compiler/node_json.h"
#include "compiler/npy.h"
#include "tests/fuzz/invariants.h"
#include "tests/support/temporary_folder.h"

namespace {

using namespace gemmc;

// Holds w.npy, float32 (2, 3); b.npy, bfloat16 (3); i.npy, int64 (); e.npy, float32 (0, 3).
const std::filesystem::path& data_folder() {
  static const testing::TemporaryFolder folder;
  static const bool is_filled = [] {
    const std::pair<const char*, Tensor> files[] = {
        {"w.npy", {DType::kFloat32, {2, 3}, std::vector<uint8_t>(24, 1)}},
        {"b.npy", {DType::kBFloat16, {3}, std::vector<uint8_t>(6, 2)}},
        {"i.npy", {DType::kInt64, {}, std::vector<uint8_t>(8, 3)}},
        {"e.npy", {DType::kFloat32, {0, 3}, {}}},
    };
    for (const auto& [name, tensor] : files) {
      const Status status = write_npy(folder.path() / name, tensor);
      testing::require(status.is_ok(), "the data files are written", status.message());
    }
    return true;
  }();
  testing::require(is_filled, "the data files are there");
  return folder.path();
}

void check_node(Node node) {
  const Expected<Problem> problem = node_to_problem(node);
  if (problem) {
    testing::check_problem(*problem);
  } else {
    testing::check_refusal(problem.status());
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const NodeInput& input = node.inputs[i];
    testing::require(input.data == nullptr || input.is_constant, "data is a constant's", node.name);
  }
  // With its first run-time dimension bound, the node is right or refused too.
  for (const NodeInput& input : node.inputs) {
    for (const Dim& dim : input.shape.value_or(Shape())) {
      if (dim.is_static()) continue;
      const std::string name = dim.name;
      testing::require(bind_dim(node, name, 3), "a dimension of the node can be bound", name);
      const Expected<Problem> bound = node_to_problem(node);
      if (bound) return testing::check_problem(*bound);
      return testing::check_refusal(bound.status());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Expected<Node> node = parse_node_json(testing::as_text(data, size), data_folder());
  if (node) {
    check_node(*std::move(node));
  } else {
    testing::check_refusal(node.status(), /*may_be_environment=*/true);
  }
  return 0;
}
