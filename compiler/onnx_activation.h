// Nodes that compute one activation of each element of a tensor, in whatever way an exporter wrote it.
//
// Flow: Value -> **Activation** -> Fusion. The nodes between the tensor and the first one that depends on it alone are
// evaluated on sample points and compared with the activations that an epilogue knows, so that the order of operands
// and operators, and how constants were rounded, do not matter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/onnx_file.h"
#include "compiler/onnx_graph.h"
#include "compiler/onnx_value.h"
#include "core/status.h"

namespace gemmc {

struct Activation {
  std::string op;                       // of an EpilogueStep
  std::vector<const GraphStep*> steps;  // the nodes; the last one computes the result
};

// Whether a node of this operator can be a part of one.
bool is_elementwise(std::string_view op_type);

// The shortest activation that begins with the value's readers, all of them nodes of `graph` (see GraphStep). Nothing
// where there is none. Fails only where a constant that decides cannot be read.
Expected<std::optional<Activation>> find_activation(const Value& value, size_t graph, ModelFiles& files);

}  // namespace gemmc
