// gemmc run: one node on arrays from .npy files, compiled in this process.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <set>

#include "api/invoke.h"
#include "compiler/bundle/variants_json.h"
#include "compiler/npy.h"
#include "core/problem.h"
#include "core/problem_string.h"
#include "core/text.h"
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

// The words for a product's operands, and what each may mean: A, B, C; those of the epilogue as e0, e1 and by the name
// that the step has, as it is or as `gemmc list` prints it.
std::map<std::string, std::set<std::string>> operand_words(const Problem& problem) {
  std::map<std::string, std::set<std::string>> words = {{"A", {"A"}}, {"B", {"B"}}};
  if (problem.c) words["C"] = {"C"};
  const std::vector<size_t> steps = operand_steps(problem.epilogue);
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string position = fmt::format("e{}", i);
    const std::string& name = problem.epilogue[steps[i]].name;
    for (const std::string& word : {position, name, print_epilogue_name(name)}) words[word].insert(position);
  }
  words.erase("");
  return words;
}

Expected<std::map<std::string, Tensor>> read_inputs(const std::vector<std::string>& options, const Problem& problem) {
  const Expected<std::map<std::string, std::string>> paths = key_values(options, "--input", Split::kAtFirst);
  if (!paths) return paths.status();
  const std::map<std::string, std::set<std::string>> words = operand_words(problem);
  std::map<std::string, Tensor> arrays;
  for (const auto& [word, path] : *paths) {
    const auto refuse = [&](const std::string& why) {
      return Status::invalid(fmt::format("--input {}={}: {}", word, path, why));
    };
    const auto found = words.find(word);
    if (found == words.end()) {
      std::vector<std::string> allowed;
      for (const auto& [known, meanings] : words) allowed.push_back(known);
      return refuse(fmt::format("no operand {}; allowed: {}", in_quotes(word), fmt::join(allowed, ", ")));
    }
    const std::set<std::string>& meanings = found->second;
    if (meanings.size() > 1) {
      return refuse(
          fmt::format("{} may mean {}; allowed: another word for it", in_quotes(word), fmt::join(meanings, " or ")));
    }
    Expected<Tensor> array = read_npy(path);
    if (!array) return array.status();
    if (!arrays.emplace(*meanings.begin(), *std::move(array)).second) {
      return refuse(fmt::format("'{}' is given twice", *meanings.begin()));
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
  const Expected<std::unique_ptr<TbbParallel>> threads = options.kernel.threads();
  if (!threads) return threads.status();
  const gemmc_parallel* const parallel = *threads == nullptr ? nullptr : &(*threads)->hook();
  const Expected<std::string> path = output_path(options.outputs);
  if (!path) return path.status();
  Expected<Source> source = options.kernel.source(ConstantValues::kRead);
  if (!source) return source.status();
  const Expected<SourceNode> node = only_node(*std::move(source));
  if (!node) return node.status();
  GEMMC_RETURN_IF_ERROR(node->refusal);
  const std::vector<EpilogueStep>& epilogue = node->problem->epilogue;
  const Expected<std::map<std::string, Tensor>> inputs = read_inputs(options.inputs, *node->problem);
  if (!inputs) return inputs.status();
  const auto input = [&](const std::string& operand) {
    const auto found = inputs->find(operand);
    return found == inputs->end() ? nullptr : &found->second;
  };
  Arrays arrays{input("A"), input("B"), input("C")};
  for (size_t i = 0; i < operand_steps(epilogue).size(); ++i) arrays.epilogue.push_back(input(fmt::format("e{}", i)));

  Session session(*target);
  InvokeReport report;
  const Expected<Tensor> y = node->node ? invoke(session, *node->node, arrays, *compile_options, &report, parallel)
                                        : invoke(session, *node->problem, arrays, *compile_options, &report, parallel);
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
  options->kernel.add_threads(*verb);
  verb->add_flag("--json", options->as_json, "Print the kernel and the time of the call");
  return {verb, [=] { return run(*options); }};
}

}  // namespace gemmc
