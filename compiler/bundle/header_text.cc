#include "compiler/bundle/header_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gemmc_public_text.h>

#include <optional>

#include "compiler/bundle/c_names.h"
#include "compiler/bundle/kernel_arguments.h"
#include "compiler/bundle/packed_b.h"
#include "compiler/bundle/weights_image.h"
#include "compiler/compile.h"
#include "core/problem_string.h"
#include "core/text.h"
#include "schedules/variants.h"

namespace gemmc {
namespace {

// A line of a comment, " * text" or " *".
void comment_line(std::string& out, const std::string& text = "") {
  out += text.empty() ? " *\n" : " * " + comment_text(text) + "\n";
}

std::string list(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

// The rules that hold for every kernel; docs/kernel-abi.md has them at length.
constexpr char kRules[] = R"( *
 * Each kernel has two entries. NAME takes its arguments one by one; NAME_call takes them in a struct of one type
 * for all kernels. Both return GEMMC_OK, or GEMMC_INVALID_ARGUMENT where a dimension is negative or the batches do
 * not broadcast, and then write nothing.
 *
 * Arrays are row-major unless strides are given. Sizes and strides are in elements; a stride of 0 repeats an
 * operand. Old contents of Y do not matter. Y may be the buffer of C, or of an operand, that is not broadcast, with
 * the same layout; no other overlap of Y with an operand is allowed. A call keeps no state and allocates nothing:
 * any thread may call any kernel at any time.
 *
)";

void write_preamble(const Bundle& bundle, std::string& out) {
  out += fmt::format("/* {}: matrix products compiled by gemmc. Generated; do not edit.\n", comment_text(bundle.name));
  comment_line(out, fmt::format("Made by gemmc {} ({}).", kGemmcVersion, compiler_identity()));
  out += kRules;
  comment_line(out, fmt::format("Link one of lib{0}.a, lib{0}.so or the single objects. They need nothing but the",
                                bundle.name));
  comment_line(out, "C library, and a CPU of the level that each kernel names.");
  out += " */\n";
}

// Nothing where there is no batch, or only the call knows it.
std::optional<int64_t> static_batch(const LoopForm& form) {
  if (form.batch.empty()) return std::nullopt;
  int64_t count = 1;
  for (const BatchAxis& axis : form.batch) {
    const auto in_a = axis.a_extent.static_value(), in_b = axis.b_extent.static_value();
    if (!in_a || !in_b || __builtin_mul_overflow(count, *in_a == 1 ? *in_b : *in_a, &count)) return std::nullopt;
  }
  return count;
}

void write_macros(const Artifact& artifact, const LoopForm& form, std::string& out) {
  const std::string& symbol = artifact.symbol;
  const auto scratch = artifact.scratch_bytes > 0 ? std::optional(artifact.scratch_bytes) : std::nullopt;
  const std::pair<const char*, std::optional<int64_t>> macros[] = {{"M", form.m.static_value()},
                                                                   {"N", form.n.static_value()},
                                                                   {"K", form.k.static_value()},
                                                                   {"BATCH", static_batch(form)},
                                                                   {"PACKED_B_BYTES", packed_b_bytes(artifact)},
                                                                   {"SCRATCH_BYTES", scratch}};
  for (const auto& [suffix, value] : macros) {
    if (value) out += fmt::format("#define {}_{} {}\n", symbol, suffix, *value);
  }
}

// " with a = tensor 'x', packed_b = net_w0, e0_bias = net_w1", or nothing: the weights where they are known, else the
// node's tensors.
std::string operands_text(const Bundle& bundle, const BundleNode& node) {
  std::string text;
  const auto add = [&](const std::string& argument, const std::optional<size_t>& weights, const std::string& tensor) {
    if (!weights && tensor.empty()) return;
    text += fmt::format("{} {} = {}", text.empty() ? " with" : ",", argument,
                        weights ? bundle.weights[*weights].symbol : "tensor " + in_quotes(tensor));
  };
  const auto input = [&](size_t index) { return index < node.inputs.size() ? node.inputs[index] : ""; };
  const Artifact& artifact = bundle.artifacts[node.artifact];
  const bool packs_b = packed_b_bytes(artifact).has_value();
  add("a", node.weights.a, input(0));
  add(packs_b ? "packed_b" : "b", packs_b ? node.weights.packed_b : node.weights.b, input(1));
  if (artifact.problem.c) add("c", node.weights.c, input(2));
  const KernelArguments arguments = kernel_arguments(artifact.problem, node.dims);
  for (size_t i = 0; i < node.epilogue.size(); ++i) {
    const bool is_known = i < node.weights.epilogue.size();
    add(arguments.epilogue[i], is_known ? node.weights.epilogue[i] : std::nullopt, node.epilogue[i]);
  }
  return text;
}

void write_contract(const Bundle& bundle, size_t index, const std::vector<std::string>& dim_names,
                    const KernelArguments& arguments, const LoopForm& form, std::string& out) {
  const Artifact& artifact = bundle.artifacts[index];
  const Problem& problem = artifact.problem;
  const auto size = [&](const SizeExpr& expr) { return describe_size(expr, arguments.dims); };
  out += fmt::format("/* {}: {}\n", artifact.symbol, comment_text(print_problem(problem)));
  comment_line(out);
  comment_line(out, describe_formula(problem, arguments));
  const auto describe = [&](char operand) {
    comment_line(out, fmt::format("  {}  {}", operand, describe_operand(problem, operand, arguments)));
  };
  describe('A');
  describe('B');
  if (packed_b_bytes(artifact)) {
    comment_line(out, fmt::format("     packed once by {0}_pack_b into {0}_PACKED_B_BYTES bytes", artifact.symbol));
  }
  if (problem.c) describe('C');
  const std::vector<std::string> added = describe_epilogue_operands(problem, arguments);
  for (size_t i = 0; i < added.size(); ++i) {
    comment_line(out, fmt::format("  {}  {}", arguments.epilogue[i], added[i]));
  }
  describe('Y');
  comment_line(out, fmt::format("  M = {}, N = {}, K = {}", size(form.m), size(form.n), size(form.k)));
  for (const DType half : {DType::kBFloat16, DType::kFloat16}) {
    if (problem.dtype == half || b_dtype(problem) == half)
      comment_line(out, fmt::format("  uint16_t holds the bits of a {}", name(half)));
  }
  comment_line(out, "dims, in order:    " + list(arguments.dims));
  comment_line(out, "strides, in order: " + list(arguments.strides));
  for (size_t i = 0; i < arguments.dims.size() && i < dim_names.size(); ++i) {
    const bool says_more = !dim_names[i].empty() && arguments.dims[i] != "dim_" + dim_names[i];
    if (says_more) comment_line(out, fmt::format("  {} is '{}'", arguments.dims[i], dim_names[i]));
  }
  comment_line(out, "target:   " + artifact.target.to_string());
  comment_line(out, "schedule: " + artifact.schedule);
  if (artifact.scratch_bytes > 0) {
    comment_line(out, fmt::format("scratch:  {0}_SCRATCH_BYTES of gemmc_call's, if the caller lends them to {0}_call: "
                                  "large products are then faster",
                                  artifact.symbol));
  }
  for (const ArtifactVariant& variant : artifact.variants) {
    comment_line(out, fmt::format("variant:  {}: {}", print_condition(variant.when, arguments.dims), variant.schedule));
  }
  for (const BundleNode& node : bundle.nodes) {
    if (node.artifact != index) continue;
    const std::string where = node.graph_path.empty() ? "" : " in " + node.graph_path;
    comment_line(out,
                 fmt::format("serves:   {} -> {}{}{}", node.name, node.output, where, operands_text(bundle, node)));
  }
  out += " */\n";
}

void write_prototypes(const Artifact& artifact, const KernelArguments& arguments, std::string& out) {
  const std::string_view type = c_type(artifact.problem.dtype);
  const std::string_view b_type = c_type(b_dtype(artifact.problem));
  const bool packs_b = packed_b_bytes(artifact).has_value();
  std::string parameters = fmt::format("const {}* a, const {}* {}", type, b_type, packs_b ? "packed_b" : "b");
  if (artifact.problem.c) parameters += fmt::format(", const {}* c", type);
  for (const std::string& operand : arguments.epilogue) parameters += fmt::format(", const {}* {}", type, operand);
  parameters += fmt::format(", {}* y", type);
  for (const auto* names : {&arguments.dims, &arguments.strides}) {
    for (const std::string& argument : *names) parameters += ", int64_t " + argument;
  }
  out += fmt::format("int32_t {}({});\n", artifact.symbol, parameters);
  out += fmt::format("int32_t {}_call(const gemmc_call* call);\n", artifact.symbol);
  if (packs_b) out += fmt::format("int64_t {0}_pack_b(const {1}* b, {1}* packed_b);\n", artifact.symbol, b_type);
}

void write_weights(const Bundle& bundle, std::string& out) {
  if (bundle.weights.empty()) return;
  out += "\n/* Operands of the nodes that are served \"with\" them";
  if (bundle.has_weights_in_file) {
    out += ", in a file: map it, and add the offsets (bytes) to its address. */\n";
    out += fmt::format("#define {}_WEIGHTS_FILE \"{}\"\n", bundle.name, weights_file_name(bundle));
    out += fmt::format("#define {}_WEIGHTS_BYTES {}\n", bundle.name, weights_image_bytes(bundle.weights));
    const std::vector<uint64_t> offsets = weights_offsets(bundle.weights);
    for (size_t i = 0; i < bundle.weights.size(); ++i) {
      out += fmt::format("#define {}_OFFSET {}\n", bundle.weights[i].symbol, offsets[i]);
    }
    return;
  }
  out += ". */\n";
  for (const Weights& weights : bundle.weights) {
    out += fmt::format("extern const {} {}[{}];\n", c_type(weights.dtype), weights.symbol,
                       weights.bytes.size() / size_bytes(weights.dtype));
  }
}

}  // namespace

std::string header_text(const Bundle& bundle) {
  const std::string guard = fmt::format("GEMMC_BUNDLE_{}_H", bundle.name);
  std::string out;
  write_preamble(bundle, out);
  out += fmt::format("#ifndef {0}\n#define {0}\n\n#include <stdint.h>\n\n", guard);
  out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  out += kCallBlock;
  for (size_t i = 0; i < bundle.artifacts.size(); ++i) {
    const Artifact& artifact = bundle.artifacts[i];
    std::vector<std::string> dim_names;  // as the first node that the kernel serves has them
    for (const BundleNode& node : bundle.nodes) {
      if (node.artifact != i) continue;
      dim_names = node.dims;
      break;
    }
    const KernelArguments arguments = kernel_arguments(artifact.problem, dim_names);
    const LoopForm form = loop_form(artifact.problem);
    out += "\n";
    write_contract(bundle, i, dim_names, arguments, form, out);
    write_macros(artifact, form, out);
    write_prototypes(artifact, arguments, out);
  }
  write_weights(bundle, out);
  out += fmt::format("\n#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {} */\n", guard);
  return out;
}

}  // namespace gemmc
