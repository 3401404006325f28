// Node -> Problem: the semantics of ONNX Gemm and MatMul, opset by opset. Shapes and numbers are checked by validate();
// here is what only the node knows: operator, opset, types, attributes, and what its dimension names must mean.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/node.h"
#include "core/dim_names.h"
#include "core/problem_shapes.h"
#include "core/text.h"

namespace gemmc {
namespace {

constexpr int64_t kFirstOpset = 7;
constexpr int64_t kFirstOpsetWithOptionalC = 11;

// Gemm and MatMul gained their types in the same opsets; later definitions have changed nothing since.
int64_t first_opset(DType dtype) {
  if (dtype == DType::kBFloat16) return 13;
  return is_integer(dtype) ? 9 : kFirstOpset;
}

Status check_operator(const Node& node) {
  if (node.op_type == "MatMulInteger") {
    return Status::unsupported("op_type 'MatMulInteger': not built yet; allowed: Gemm, MatMul");
  }
  if (node.op_type != "Gemm" && node.op_type != "MatMul") {
    return Status::invalid("op_type " + in_quotes(node.op_type) + "; allowed: Gemm, MatMul");
  }
  if (!node.domain.empty() && node.domain != "ai.onnx") {
    return Status::invalid("domain " + in_quotes(node.domain) + "; allowed: '', 'ai.onnx'");
  }
  if (node.opset < kFirstOpset) {
    return Status::unsupported(fmt::format("opset {}; allowed: {} and later", node.opset, kFirstOpset));
  }
  return Status::ok();
}

bool has_c(const Node& node) { return node.inputs.size() > 2 && !node.inputs[2].is_absent; }

Status check_counts(const Node& node) {
  const bool is_gemm = node.op_type == "Gemm";
  const size_t most = is_gemm ? 3 : 2;
  if (node.inputs.size() < 2 || node.inputs.size() > most) {
    return Status::invalid(
        fmt::format("{} inputs; allowed for {}: {}", node.inputs.size(), node.op_type, is_gemm ? "2 or 3" : "2"));
  }
  for (size_t i = 0; i < 2; ++i) {
    if (node.inputs[i].is_absent) {
      return Status::invalid(fmt::format("input {} is absent; allowed: only C of Gemm may be", "AB"[i]));
    }
  }
  if (is_gemm && !has_c(node) && node.opset < kFirstOpsetWithOptionalC) {
    return Status::invalid(fmt::format("input C is absent at opset {}; allowed: absent from opset {} on", node.opset,
                                       kFirstOpsetWithOptionalC));
  }
  if (node.outputs.size() > 1) return Status::invalid(fmt::format("{} outputs; allowed: 1", node.outputs.size()));
  if (node.outputs.size() == 1 && node.outputs[0].empty()) {
    return Status::invalid("the output has an empty name; allowed: a name, or no output, which means 'Y'");
  }
  return Status::ok();
}

Status read_attributes(const Node& node, Problem& problem) {
  using Kind = NodeAttribute::Kind;
  std::set<std::string> seen;
  for (const NodeAttribute& attribute : node.attributes) {
    const bool is_scalar = is_scalar_attribute(attribute.name);
    if (problem.op == Operator::kMatMul || (!is_scalar && !is_transposition_attribute(attribute.name))) {
      return Status::invalid(fmt::format("unknown attribute {}; allowed for {}: {}", in_quotes(attribute.name),
                                         node.op_type,
                                         problem.op == Operator::kGemm ? "alpha, beta, transA, transB" : "none"));
    }
    if (!seen.insert(attribute.name).second) {
      return Status::invalid("attribute '" + attribute.name + "' stands twice; allowed: once");
    }
    if (attribute.kind != (is_scalar ? Kind::kFloat : Kind::kInt)) {
      constexpr std::string_view kFound[] = {"an integer", "a float", "neither an integer nor a float"};
      return Status::invalid(fmt::format("attribute '{}' is {}; allowed: {}", attribute.name,
                                         kFound[static_cast<size_t>(attribute.kind)],
                                         is_scalar ? "a float" : "an integer (or a boolean)"));
    }
    if (attribute.name == "alpha") problem.alpha = attribute.float_value;
    if (attribute.name == "beta") problem.beta = attribute.float_value;
    if (attribute.name == "transA") problem.trans_a = attribute.int_value != 0;
    if (attribute.name == "transB") problem.trans_b = attribute.int_value != 0;
  }
  return Status::ok();
}

Status read_dtype(const Node& node, Problem& problem) {
  std::optional<DType> dtype;
  char first = 'A';
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const NodeInput& input = node.inputs[i];
    if (!input.foreign_dtype.empty()) {
      return Status::invalid(
          fmt::format("dtype {} of {}; allowed: bfloat16, float16, float32, float64, int32, int64, "
                      "uint32, uint64",
                      input.foreign_dtype, "ABC"[i]));
    }
    if (input.is_absent || !input.dtype) continue;
    if (dtype && *dtype != *input.dtype) {
      return Status::invalid(fmt::format("dtype mismatch: {} has {}, {} has {}; allowed: one type for all operands",
                                         first, name(*dtype), "ABC"[i], name(*input.dtype)));
    }
    if (!dtype) first = "ABC"[i];
    dtype = input.dtype;
  }
  if (!dtype) return Status::invalid("no input has a known dtype; allowed: at least one that has");
  if (node.opset < first_opset(*dtype)) {
    return Status::invalid(fmt::format("dtype {} at opset {}; allowed for {}: from opset {} on", name(*dtype),
                                       node.opset, node.op_type, first_opset(*dtype)));
  }
  problem.dtype = *dtype;
  return Status::ok();
}

Operand to_operand(const NodeInput& input) {
  return {.has_known_rank = input.shape.has_value(),
          .shape = input.shape.value_or(Shape()),
          .strides = input.strides,
          .is_constant = (input.is_constant && !input.is_constant_by_default) || input.data != nullptr,
          .storage = input.storage};
}

// A Gemm operand of unknown shape still has two dimensions.
void name_unknown_dims(Problem& p) {
  const auto k_of = [](const Operand& operand, bool k_is_first) -> std::optional<Dim> {
    if (!operand.has_known_rank || operand.shape.size() != 2) return std::nullopt;
    return operand.shape[k_is_first ? 0 : 1];
  };
  const auto give_shape = [&](Operand& operand, const char* other, const std::optional<Dim>& known_k, bool k_is_first) {
    if (operand.has_known_rank) return;
    const Dim k = known_k ? *known_k : Dim::runtime(fresh_dim_name(p, "k"));
    const Dim free = Dim::runtime(fresh_dim_name(p, other));
    operand.has_known_rank = true;
    operand.shape = k_is_first ? Shape{k, free} : Shape{free, k};
  };
  give_shape(p.a, "m", k_of(p.b, !p.trans_b), p.trans_a);
  give_shape(p.b, "n", k_of(p.a, p.trans_a), !p.trans_b);
}

// C broadcasts to (M, N), so each of its dimensions is 1 or that of Y: a size other than 1 decides a run-time M or N. A
// run-time dimension of another name may be either, which only the call knows: then C's rank counts as unknown.
Status settle_c(Problem& p) {
  if (!p.c || !p.c->has_known_rank || p.c->shape.size() > 2) return Status::ok();
  const size_t rank = p.c->shape.size();
  const auto y_dim = [&](size_t i) { return i + 1 == rank ? gemm_dims(p).n : gemm_dims(p).m; };
  for (size_t i = 0; i < rank; ++i) {
    const Dim& in_c = p.c->shape[i];
    if (in_c.is_static() ? !in_c.is(1) : y_dim(i).is(1)) unify_dims(p, in_c, y_dim(i));
  }
  Problem as_if_full = p;
  bool may_broadcast = false;
  for (size_t i = 0; i < rank; ++i) {
    Dim& in_c = as_if_full.c->shape[i];
    if (in_c.is_static() || same_size(in_c, y_dim(i))) continue;
    in_c = y_dim(i);
    may_broadcast = true;
  }
  if (!may_broadcast) return Status::ok();
  GEMMC_RETURN_IF_ERROR(validate(as_if_full));
  if (!p.c->strides.empty()) {
    return Status::unsupported(
        "C has strides, and a run-time dimension that may broadcast; allowed: dimensions that are 1 "
        "or have the name of M or N");
  }
  p.c->has_known_rank = false;
  p.c->shape.clear();
  return Status::ok();
}

Status settle_gemm_dims(Problem& p) {
  name_unknown_dims(p);
  GEMMC_RETURN_IF_ERROR(share_hints(p));
  if (p.a.shape.size() != 2 || p.b.shape.size() != 2) return Status::ok();  // refused by validate()
  unify_dims(p, gemm_dims(p).k, gemm_dims(p).k_of_b);
  return settle_c(p);
}

Status convert(const Node& node, Problem& problem) {
  GEMMC_RETURN_IF_ERROR(check_operator(node));
  GEMMC_RETURN_IF_ERROR(check_counts(node));
  problem.op = node.op_type == "Gemm" ? Operator::kGemm : Operator::kMatMul;
  GEMMC_RETURN_IF_ERROR(read_attributes(node, problem));
  GEMMC_RETURN_IF_ERROR(read_dtype(node, problem));
  problem.a = to_operand(node.inputs[0]);
  problem.b = to_operand(node.inputs[1]);
  if (has_c(node)) problem.c = to_operand(node.inputs[2]);
  problem.y_strides = node.y_strides;
  problem.order = node.order;
  problem.epilogue = node.epilogue;
  GEMMC_RETURN_IF_ERROR(problem.op == Operator::kGemm ? settle_gemm_dims(problem) : share_hints(problem));
  return validate(problem);
}

}  // namespace

bool is_scalar_attribute(std::string_view name) { return name == "alpha" || name == "beta"; }

bool is_transposition_attribute(std::string_view name) { return name == "transA" || name == "transB"; }

Expected<Problem> node_to_problem(const Node& node) {
  Problem problem;
  const Status status = convert(node, problem);
  if (!status.is_ok()) return status.with_node(node.name);
  return problem;
}

std::string unbuilt_wishes(const Node& node) {
  return node.wants_training ? "training: the backward kernels are not built yet, only the forward one is" : "";
}

bool bind_dim(Node& node, const std::string& name, int64_t size) {
  bool is_found = false;
  for (NodeInput& input : node.inputs) {
    if (!input.shape) continue;
    for (Dim& dim : *input.shape) {
      if (dim.is_static() || dim.name != name) continue;
      dim = Dim::fixed(size);
      is_found = true;
    }
  }
  return is_found;
}

}  // namespace gemmc
