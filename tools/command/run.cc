// gemmc run: one node on arrays from .npy files, compiled in this process.
#include <fmt/format.h>

#include <memory>

#include "api/invoke.h"
#include "compiler/npy.h"
#include "tools/command/text.h"
#include "tools/command/verbs.h"

namespace gemmc {
namespace {

struct RunOptions {
  KernelOptions kernel;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  bool as_json = false;
};

Expected<std::map<std::string, Tensor>> read_inputs(const std::vector<std::string>& words) {
  const Expected<std::map<std::string, std::string>> paths = key_values(words, "--input", Split::kAtFirst);
  if (!paths) return paths.status();
  std::map<std::string, Tensor> arrays;
  for (const auto& [operand, path] : *paths) {
    if (operand != "A" && operand != "B" && operand != "C") {
      return Status::invalid(fmt::format("--input {}={}: no operand '{}'; allowed: A, B, C", operand, path, operand));
    }
    Expected<Tensor> array = read_npy(path);
    if (!array) return array.status();
    arrays.emplace(operand, *std::move(array));
  }
  return arrays;
}

Expected<std::string> output_path(const std::vector<std::string>& words) {
  const Expected<std::map<std::string, std::string>> paths = key_values(words, "--output", Split::kAtFirst);
  if (!paths) return paths.status();
  if (paths->size() != 1 || !paths->contains("Y")) {
    return Status::invalid(fmt::format("--output {}; allowed: --output Y=FILE.npy", words[0]));
  }
  return paths->at("Y");
}

void print_report(const InvokeReport& report, const Tensor& y) {
  const Artifact& artifact = report.kernel->artifact();
  print_json({{"symbol", artifact.symbol},
              {"target", artifact.target.to_string()},
              {"schedule", artifact.schedule},
              {"dtype", std::string(name(y.dtype))},
              {"shape", y.shape},
              {"call_ns", report.call_ns}});
}

Status run(const RunOptions& options) {
  const Expected<Target> target = options.kernel.target();
  if (!target) return target.status();
  const Expected<CompileOptions> compile_options = options.kernel.compile_options();
  if (!compile_options) return compile_options.status();
  const Expected<std::string> path = output_path(options.outputs);
  if (!path) return path.status();
  Expected<Source> source = options.kernel.source(ConstantValues::kRead);
  if (!source) return source.status();
  const Expected<SourceNode> node = only_node(*std::move(source));
  if (!node) return node.status();
  GEMMC_RETURN_IF_ERROR(node->refusal);
  const Expected<std::map<std::string, Tensor>> inputs = read_inputs(options.inputs);
  if (!inputs) return inputs.status();
  const auto input = [&](const char* operand) {
    const auto found = inputs->find(operand);
    return found == inputs->end() ? nullptr : &found->second;
  };
  const Arrays arrays{input("A"), input("B"), input("C")};

  Session session(*target);
  InvokeReport report;
  const Expected<Tensor> y = node->node ? invoke(session, *node->node, arrays, *compile_options, &report)
                                        : invoke(session, *node->problem, arrays, *compile_options, &report);
  if (!y) return y.status();
  GEMMC_RETURN_IF_ERROR(write_npy(*path, *y));
  if (options.as_json) print_report(report, *y);
  for (const std::string& note : node->notes) print_note(note);
  return Status::ok();
}

}  // namespace

Verb add_run(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* verb = app.add_subcommand("run", "Compile one node in this process and run it on .npy arrays");
  options->kernel.add_source(*verb);
  options->kernel.add_node(*verb);
  add_repeated(*verb, "--input", options->inputs,
               "A=FILE.npy, B=..., C=...; what the source holds values for may be left out");
  add_repeated(*verb, "--output", options->outputs, "Y=FILE.npy")->required();
  options->kernel.add_compilation(*verb, "host");
  verb->add_flag("--json", options->as_json, "Print the kernel and the time of the call");
  return {verb, [=] { return run(*options); }};
}

}  // namespace gemmc
