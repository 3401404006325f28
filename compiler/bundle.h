// Artifacts -> the files of an ahead-of-time build: objects, static library, shared library, C header, manifest.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/status.h"

namespace gemmc {

// Bytes. Of a cache line, and of the widest vector.
inline constexpr uint64_t kWeightsAlignment = 64;
// Values that a library holds for its kernels, or a file beside it: an operand's, or those of a packed B.
struct Weights {
  std::string symbol;
  DType dtype = DType::kFloat32;
  std::vector<uint8_t> bytes;
};
// Those of one node: indices into Bundle::weights, absent where values are not known.
struct NodeWeights {
  std::optional<size_t> a = {};
  std::optional<size_t> b = {};  // where the kernel reads B where it is
  std::optional<size_t> packed_b = {};
  std::optional<size_t> c = {};
  std::vector<std::optional<size_t>> epilogue = {};  // of each step that reads an operand
};
// One node (or problem string) of the build and the artifact that serves it.
struct BundleNode {
  std::string name = {};                   // node name; the problem string where there is no node
  std::string output = {};                 // output name
  std::string problem = {};                // problem string, with the node's own dimension names
  std::string graph_path = {};             // see ModelNode
  size_t artifact = 0;                     // index into Bundle::artifacts
  std::vector<std::string> dims = {};      // the node's names of the kernel's run-time dimensions, in call order
  std::vector<std::string> notes = {};     // e.g. "backward kernels: not built yet"
  std::vector<std::string> inputs = {};    // the tensors of A, B and C; "" where there is none
  std::vector<std::string> epilogue = {};  // the tensors that the epilogue's steps read, in call order
  NodeWeights weights = {};
  std::vector<std::string> replaces = {};  // the nodes behind it that the kernel's epilogue takes in
};
struct RefusedNode {
  std::string name, graph_path, op_type, reason;
};
struct Bundle {
  std::string name;  // library "lib<name>.a", header "<name>.h"
  std::vector<Artifact> artifacts;
  std::vector<BundleNode> nodes;
  std::vector<RefusedNode> refused;
  std::vector<Weights> weights;
  bool has_weights_in_file = false;  // beside the library rather than in it
};

// The name of the object with the bundle's weights, or of the file that has them instead.
std::string weights_file_name(const Bundle& bundle);

struct BundleFiles {
  std::vector<std::filesystem::path> written;
  std::vector<std::string> notes;  // e.g. "cc not found: no shared library"
};

// Writes everything into `directory` (created if missing). Same input, same bytes. A failure leaves no partial file and
// names the path (environment).
Expected<BundleFiles> write_bundle(const Bundle& bundle, const std::filesystem::path& directory);

}  // namespace gemmc
