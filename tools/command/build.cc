// gemmc build: a source ahead of time: one object per distinct kernel, libraries, header, manifest.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "compiler/bundle.h"
#include "compiler/bundle/c_names.h"
#include "compiler/bundle/library_weights.h"
#include "core/key.h"
#include "core/problem_string.h"
#include "core/text.h"
#include "tools/command/text.h"
#include "tools/command/verbs.h"

namespace gemmc {
namespace {

constexpr char kDefaultTarget[] = "x86-64-v3";

struct BuildOptions {
  KernelOptions kernel;
  std::string directory;
  std::optional<std::string> name;
  std::string weights = "embed";
  bool as_json = false;
};

// A line that is overwritten, on a terminal only.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total), is_shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (is_shown_) print_stderr("\r\033[K");
  }
  void show(size_t done) const {
    if (is_shown_) print_stderr(fmt::format("\r\033[Kcompiles {}/{}", done, total_));
  }

 private:
  size_t total_;
  bool is_shown_;
};

// A kernel that several nodes may share, before it is compiled.
struct PlannedKernel {
  KernelPlan plan;
  std::vector<size_t> nodes;                        // indices into Source::nodes
  std::vector<std::vector<std::string>> dim_names;  // of each node
};

// What the steps of the node's epilogue read.
std::vector<std::string> epilogue_tensors(const SourceNode& node) {
  const std::vector<EpilogueStep>& steps = node.problem->epilogue;
  std::vector<std::string> names;
  for (const size_t step : operand_steps(steps)) names.push_back(steps[step].name);
  return names;
}

// "" where one is absent or has no name.
std::vector<std::string> input_tensors(const SourceNode& node) {
  std::vector<std::string> names;
  if (!node.node) return names;
  for (const NodeInput& input : node.node->inputs) names.push_back(input.is_absent ? "" : input.name);
  return names;
}

class Builder {
 public:
  Builder(const Source& source, const Target& target, CompileOptions options)
      : source_(source), target_(target), options_(std::move(options)) {}

  // Plans every node, compiles every distinct kernel, and fills the bundle. `name` may be empty.
  Expected<Bundle> build(const std::string& name) {
    refusals_.resize(source_.nodes.size());
    for (size_t i = 0; i < source_.nodes.size(); ++i) plan_node(i);
    Bundle bundle;
    GEMMC_RETURN_IF_ERROR(compile_kernels(name, bundle));
    if (bundle.artifacts.empty()) return nothing_built();
    for (size_t i = 0; i < source_.nodes.size(); ++i) {
      if (refusals_[i].is_ok()) continue;
      const SourceNode& node = source_.nodes[i];
      bundle.refused.push_back({node.name, node.graph_path, node.op_type, refusals_[i].message()});
    }
    bundle.name = !name.empty() ? name : !source_.name.empty() ? bundle_name(source_.name) : bundle.artifacts[0].symbol;
    bundle.weights = weights_.take(bundle.name);
    return bundle;
  }

 private:
  void plan_node(size_t index) {
    const SourceNode& node = source_.nodes[index];
    refusals_[index] = node.refusal;
    if (!node.refusal.is_ok()) return;
    Expected<KernelPlan> planned = plan(*node.problem, target_, options_);
    if (!planned) {
      refuse(index, planned.status());
      return;
    }
    const auto [place, is_new] = kernel_of_key_.emplace(planned->key_text, kernels_.size());
    std::vector<std::string> dim_names = planned->canonical.dim_names;
    if (is_new) kernels_.push_back({*std::move(planned), {}, {}});
    PlannedKernel& kernel = kernels_[place->second];
    kernel.nodes.push_back(index);
    kernel.dim_names.push_back(std::move(dim_names));
  }

  void refuse(size_t index, const Status& reason) {
    const SourceNode& node = source_.nodes[index];
    refusals_[index] = node.node ? reason.with_node(node.name) : reason;
  }

  Status compile_kernels(const std::string& name, Bundle& bundle) {
    const Progress progress(kernels_.size());
    std::vector<std::pair<size_t, BundleNode>> served;  // in the order of kernels
    for (size_t i = 0; i < kernels_.size(); ++i) {
      progress.show(i);
      PlannedKernel& kernel = kernels_[i];
      if (!name.empty()) {
        kernel.plan.symbol = kernels_.size() == 1 ? name : name + "_" + key_digits(kernel.plan.key_text);
        GEMMC_RETURN_IF_ERROR(check_symbol(kernel.plan.symbol));
      }
      Expected<Artifact> artifact = compile(kernel.plan);
      if (!artifact && artifact.status().code() == StatusCode::kUnsupported) {
        for (const size_t node : kernel.nodes) refuse(node, artifact.status());
        continue;
      }
      if (!artifact) return artifact.status().with_node(source_.nodes[kernel.nodes[0]].name);
      for (size_t j = 0; j < kernel.nodes.size(); ++j) {
        const SourceNode& node = source_.nodes[kernel.nodes[j]];
        Expected<NodeWeights> weights = node.node ? weights_.add(*node.node, *artifact) : NodeWeights();
        if (!weights) return weights.status().with_node(node.name);
        served.emplace_back(kernel.nodes[j],
                            BundleNode{node.name, node.output, print_problem(*node.problem), node.graph_path,
                                       bundle.artifacts.size(), kernel.dim_names[j], node.notes, input_tensors(node),
                                       epilogue_tensors(node), *std::move(weights), node.replaces});
      }
      bundle.artifacts.push_back(*std::move(artifact));
    }
    // Nodes in the source's order.
    std::stable_sort(served.begin(), served.end(), [](const auto& l, const auto& r) { return l.first < r.first; });
    for (auto& [index, node] : served) bundle.nodes.push_back(std::move(node));
    return Status::ok();
  }

  Status nothing_built() const {
    if (refusals_.size() == 1) return refusals_[0];
    return {refusals_[0].code(), fmt::format("none of {} can be built; the first: {}",
                                             count_text(refusals_.size(), "node"), refusals_[0].message())};
  }

  const Source& source_;
  const Target& target_;
  const CompileOptions options_;
  std::vector<Status> refusals_;  // one per node
  std::vector<PlannedKernel> kernels_;
  std::map<std::string, size_t> kernel_of_key_;
  LibraryWeights weights_;
};

void print_notes(const Bundle& bundle, const BundleFiles& files) {
  for (const RefusedNode& node : bundle.refused) print_note(fmt::format("refused: {}", node.reason));
  for (const BundleNode& node : bundle.nodes) {
    for (const std::string& note : node.notes) print_note(fmt::format("{} (node '{}')", note, node.name));
  }
  for (const std::string& note : files.notes) print_note(note);
}

void print_result(const BuildOptions& options, const Target& target, const Bundle& bundle, const BundleFiles& files) {
  if (options.as_json) {
    Json json = {{"name", bundle.name}, {"directory", options.directory}, {"target", target.to_string()}};
    json["node_count"] = bundle.nodes.size();
    json["kernel_count"] = bundle.artifacts.size();
    json["refused_count"] = bundle.refused.size();
    json["files"] = Json::array();
    for (const std::filesystem::path& path : files.written) json["files"].push_back(path.string());
    print_json(json);
    return;
  }
  print_out("target: {}{}\n", target.to_string(), options.kernel.target_is_default() ? " (the default)" : "");
  print_out("built:  {} by {}, {} refused\n", count_text(bundle.nodes.size(), "node"),
            count_text(bundle.artifacts.size(), "kernel"), bundle.refused.size());
  if (options.kernel.takes_in()) {
    size_t fused = 0, narrow = 0;
    for (const BundleNode& node : bundle.nodes) {
      fused += !node.replaces.empty();
      narrow += bundle.artifacts[node.artifact].problem.b.storage.has_value();
    }
    print_out("        {} of them with nodes behind them, {} with a narrower B\n", fused, narrow);
  }
  print_out("wrote:  {} into {}: {}.h, lib{}.a, manifest.json and more\n", count_text(files.written.size(), "file"),
            options.directory, bundle.name, bundle.name);
}

Status build(const BuildOptions& options) {
  const Expected<Target> target = options.kernel.target();
  if (!target) return target.status();
  const Expected<CompileOptions> compile_options = options.kernel.compile_options();
  if (!compile_options) return compile_options.status();
  if (options.name) {
    if (Status status = check_symbol(*options.name); !status.is_ok())
      return {status.code(), "--name: " + status.message()};
  }
  if (options.directory.empty()) return Status::invalid("--output ''; allowed: the name of a directory");
  if (options.weights != "embed" && options.weights != "file" && options.weights != "none")
    return Status::invalid(fmt::format("--weights {}; allowed: embed, file, none", in_quotes(options.weights)));
  const Expected<Source> source =
      options.kernel.source(options.weights == "none" ? ConstantValues::kSkip : ConstantValues::kRead);
  if (!source) return source.status();
  if (source->nodes.empty()) {
    print_note("the model has no Gemm, MatMul or MatMulInteger node: nothing is written");
    return Status::ok();
  }
  Expected<Bundle> bundle = Builder(*source, *target, *compile_options).build(options.name.value_or(""));
  if (!bundle) return bundle.status();
  bundle->has_weights_in_file = options.weights == "file";
  const Expected<BundleFiles> files = write_bundle(*bundle, options.directory);
  if (!files) return files.status();
  print_notes(*bundle, *files);
  print_result(options, *target, *bundle, *files);
  return Status::ok();
}

}  // namespace

Verb add_build(CLI::App& app) {
  const auto options = std::make_shared<BuildOptions>();
  CLI::App* verb = app.add_subcommand("build", "Kernels ahead of time: objects, libraries, header, manifest");
  options->kernel.add_source(*verb);
  options->kernel.add_model_options(*verb);
  options->kernel.add_node(*verb);
  verb->add_option("-o,--output", options->directory, "Directory for the files; created if missing")->required();
  add_given(*verb, "--name", options->name, "Name of the libraries, the header and, if it is one, the kernel");
  options->kernel.add_compilation(*verb, kDefaultTarget);
  verb->add_option(
      "--weights", options->weights,
      "Constant operands whose values are known, B packed: embed (in the library), file (beside it), none");
  verb->add_flag("--json", options->as_json, "For machines");
  return {verb, [=] { return build(*options); }};
}

}  // namespace gemmc
