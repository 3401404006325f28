// What of a graph behind a product its epilogue can take in: the longest chain of nodes whose intermediate results
// nobody else reads.
//
// Flow: FoundNode -> **Fusion** -> ModelNode -> `gemmc list`, `gemmc build --fuse`. Operators: Add and Mul of one
// number, of one for each column, or of the product's shape; Relu, LeakyRelu, Clip, Sigmoid, Tanh, HardSwish, Gelu; and
// what exporters write of other operators for one of these or for SiLU (onnx_activation.h).
#pragma once

#include <string>
#include <vector>

#include "compiler/onnx_file.h"
#include "compiler/onnx_graph.h"
#include "compiler/onnx_value.h"
#include "core/epilogue.h"
#include "core/status.h"

namespace gemmc {

struct Fusion {
  std::vector<EpilogueStep> steps;         // a step's operand is named as the tensor is
  std::vector<const Value*> operands;      // of each step; null: it reads none
  std::vector<const GraphStep*> replaced;  // in order
  const Value* result = nullptr;  // what the product computes in the end; its own output where nothing is fused
  std::string end;                // why no more is: "2 nodes read it", "it is a result of the graph", "Softmax"
};

// Whether a node of this operator can be part of an epilogue at all.
bool may_be_fused(const OnnxOp& op);

// `product` has an output. Fails only where a constant that decides cannot be read.
Expected<Fusion> find_fusion(const FoundNode& product, ModelFiles& files);

}  // namespace gemmc
