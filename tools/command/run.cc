// gemmc run: one node on arrays from .npy files, compiled in this process.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "api/invoke.h"
#include "compiler/npy.h"
#include "core/problem.h"
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

// The names under which operands are given: A, B, C; those of the epilogue as e0, e1 and, where that is not one of the
// others, by the name that the step has.
std::map<std::string, std::string> operand_names(const std::vector<EpilogueStep>& epilogue) {
  std::map<std::string, std::string> names = {{"A", "A"}, {"B", "B"}, {"C", "C"}};
  std::vector<std::string> given;
  for (const size_t step : operand_steps(epilogue)) given.push_back(epilogue[step].name);
  for (size_t i = 0; i < given.size(); ++i) names.emplace(fmt::format("e{}", i), fmt::format("e{}", i));
  for (size_t i = 0; i < given.size(); ++i) {
    if (std::count(given.begin(), given.end(), given[i]) == 1) names.emplace(given[i], fmt::format("e{}", i));
  }
  names.erase("");
  return names;
}

Expected<std::map<std::string, Tensor>> read_inputs(const std::vector<std::string>& words,
                                                    const std::vector<EpilogueStep>& epilogue) {
  const Expected<std::map<std::string, std::string>> paths = key_values(words, "--input", Split::kAtFirst);
  if (!paths) return paths.status();
  const std::map<std::string, std::string> names = operand_names(epilogue);
  std::map<std::string, Tensor> arrays;
  for (const auto& [operand, path] : *paths) {
    const auto name = names.find(operand);
    if (name == names.end()) {
      std::vector<std::string> allowed;
      for (const auto& [known, position] : names) allowed.push_back(known);
      return Status::invalid(
          fmt::format("--input {}={}: no operand '{}'; allowed: {}", operand, path, operand, fmt::join(allowed, ", ")));
    }
    Expected<Tensor> array = read_npy(path);
    if (!array) return array.status();
    if (!arrays.emplace(name->second, *std::move(array)).second) {
      return Status::invalid(fmt::format("--input {}={}: '{}' is given twice", operand, path, name->second));
    }
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

void print_report(const InvokeReport& report, const std::vector<std::string>& dim_names, const Tensor& y) {
  const Artifact& artifact = report.kernel->artifact();
  print_json({{"symbol", artifact.symbol},
              {"target", artifact.target.to_string()},
              {"schedule", artifact.schedule},
              {"variants", variants_json(artifact, dim_names)},
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
  const std::vector<EpilogueStep>& epilogue = node->problem->epilogue;
  const Expected<std::map<std::string, Tensor>> inputs = read_inputs(options.inputs, epilogue);
  if (!inputs) return inputs.status();
  const auto input = [&](const std::string& operand) {
    const auto found = inputs->find(operand);
    return found == inputs->end() ? nullptr : &found->second;
  };
  Arrays arrays{input("A"), input("B"), input("C")};
  for (size_t i = 0; i < operand_steps(epilogue).size(); ++i) arrays.epilogue.push_back(input(fmt::format("e{}", i)));

  Session session(*target);
  InvokeReport report;
  const Expected<Tensor> y = node->node ? invoke(session, *node->node, arrays, *compile_options, &report)
                                        : invoke(session, *node->problem, arrays, *compile_options, &report);
  if (!y) return y.status();
  GEMMC_RETURN_IF_ERROR(write_npy(*path, *y));
  if (options.as_json) print_report(report, canonical(*node->problem).dim_names, *y);
  for (const std::string& note : node->notes) print_note(note);
  return Status::ok();
}

}  // namespace

Verb add_run(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* verb = app.add_subcommand("run", "Compile one node in this process and run it on .npy arrays");
  options->kernel.add_source(*verb);
  options->kernel.add_model_options(*verb);
  options->kernel.add_node(*verb);
  add_repeated(*verb, "--input", options->inputs,
               "A=FILE.npy, B=..., C=..., e0=... (operands of the epilogue, or by name); what the source holds values "
               "for may be left out");
  add_repeated(*verb, "--output", options->outputs, "Y=FILE.npy")->required();
  options->kernel.add_compilation(*verb, "host");
  verb->add_flag("--json", options->as_json, "Print the kernel and the time of the call");
  return {verb, [=] { return run(*options); }};
}

}  // namespace gemmc
