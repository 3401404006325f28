// "MODEL.onnx", "NODE.json" or a problem string -> the nodes that a verb works on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/node.h"
#include "compiler/onnx_model.h"
#include "core/problem.h"
#include "core/status.h"

namespace gemmc {

struct SourceNode {
  std::string name;  // the problem string where there is no node
  std::string op_type;
  std::string output = "Y";
  std::string graph_path;  // see ModelNode
  std::optional<Node> node;
  std::optional<Problem> problem;            // absent only where the node is refused
  Status refusal;                            // ok, or why no kernel can be built for the node
  std::vector<std::string> constant_origin;  // see ModelNode; empty outside models
  std::vector<std::string> consumers;
  std::optional<ModelNode::Fusable> fusable;  // of models
  std::optional<ModelNode::Narrow> narrow;
  std::vector<std::string> replaces;  // with SourceOptions::fuse: the nodes that the epilogue takes in
  std::vector<std::string> notes;     // e.g. that its backward kernels are not built
};

struct Source {
  std::string name;  // what the files of a build are called by default; empty: by the kernel
  std::vector<SourceNode> nodes;
};

struct SourceOptions {
  std::map<std::string, int64_t> dims;  // run-time dimensions to bind
  std::optional<std::string> node;      // take only the node of this name
  ConstantValues values = ConstantValues::kSkip;
  bool fuse = false;    // take in what the epilogue of a model's product can
  bool narrow = false;  // read a model's B as it is stored, see ModelNode::Narrow
};

// A node that is refused is in the result, with the reason; a file that cannot be used is a failure. So is a name in
// `dims` that no shape has, and a `node` that is not there.
Expected<Source> load_source(const std::string& text, const SourceOptions& options);

// The only node, or a failure that asks for --node.
Expected<SourceNode> only_node(Source source);

}  // namespace gemmc
