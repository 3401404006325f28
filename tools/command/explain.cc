// gemmc explain: how a problem becomes a kernel: its canonical form, key, family table, schedule, loops, code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "compiler/bundle/variants_json.h"
#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "schedules/variants.h"
#include "tools/command/text.h"
#include "tools/command/verbs.h"

namespace gemmc {
namespace {

struct ExplainOptions {
  KernelOptions kernel;
  bool key = false, loops = false, ir = false, assembly = false, all = false;
  bool as_json = false;
};

struct Explained {
  KernelPlan plan;
  std::vector<FamilyVerdict> verdicts;
  std::vector<UnusedLikelyValue> unused;
  Artifact artifact;
  Explanation code;
};

std::string verdict_text(const FamilyVerdict& verdict, const Schedule& chosen) {
  if (verdict.refusal) return "refuses: " + *verdict.refusal;
  const bool has_pairs = verdict.family == chosen.family && chosen.pairs_products;
  const std::string order = has_pairs ? ", adds up pairs along K" : verdict.sums_by_k ? ", sums in the order of k" : "";
  const std::string demurral = verdict.demurral ? "; a later one is likely faster: " + *verdict.demurral : "";
  return (verdict.family == chosen.family ? "takes it, chosen" : "takes it") + order + demurral;
}

void print_section(const char* title, const std::string& text) {
  print_out("\n--- {} ---\n{}{}", title, text, text.ends_with('\n') ? "" : "\n");
}

void print_text(const SourceNode& node, const ExplainOptions& options, const Explained& e) {
  if (node.node) print_out("node       {}\n", one_line(node.name));
  print_out("problem    {}\n", one_line(print_problem(*node.problem)));
  print_out("canonical  {}\n", print_problem(e.plan.canonical.problem));
  for (size_t i = 0; i < e.plan.canonical.dim_names.size(); ++i) {
    print_out("  d{} is {}\n", i, one_line(e.plan.canonical.dim_names[i]));
  }
  print_out("target     {}\n", e.artifact.target.to_string());
  print_out("families\n");
  for (const FamilyVerdict& verdict : e.verdicts) {
    print_out("  {:8} {}\n", name(verdict.family), verdict_text(verdict, e.plan.schedule));
  }
  print_out("schedule   {}\n", e.artifact.schedule);
  for (const ArtifactVariant& variant : e.artifact.variants) {
    const std::string dims = print_condition(variant.when, e.plan.canonical.dim_names);
    print_out("variant    {}: {}\n", one_line(dims), variant.schedule);
  }
  for (const UnusedLikelyValue& value : e.unused) {
    const std::string dim = print_condition({{value.dim}}, e.plan.canonical.dim_names);
    print_out("no variant {}: {}\n", one_line(dim), value.reason);
  }
  print_out("symbol     {}\n", e.artifact.symbol);
  print_out("object     {} bytes\n", e.artifact.object.size());
  for (const std::string& note : node.notes) print_out("note       {}\n", note);
  if (options.all || options.key) print_section("key", e.plan.key_text);
  if (options.all || options.loops) print_section("Halide loop nest", e.code.loop_nest);
  if (options.all || options.ir) print_section("LLVM IR", e.code.llvm_ir);
  if (options.all || options.assembly) print_section("assembly", e.code.assembly);
}

void print_as_json(const SourceNode& node, const ExplainOptions& options, const Explained& e) {
  Json json = {{"node", node.name},
               {"problem", print_problem(*node.problem)},
               {"canonical", print_problem(e.plan.canonical.problem)},
               {"dims", e.plan.canonical.dim_names},
               {"target", e.artifact.target.to_string()}};
  json["families"] = Json::array();
  for (const FamilyVerdict& verdict : e.verdicts) {
    json["families"].push_back({{"family", std::string(name(verdict.family))},
                                {"sums_by_k", verdict.sums_by_k},
                                {"refusal", verdict.refusal ? Json(*verdict.refusal) : Json()},
                                {"demurral", verdict.demurral ? Json(*verdict.demurral) : Json()},
                                {"is_chosen", verdict.family == e.plan.schedule.family}});
  }
  json["schedule"] = e.artifact.schedule;
  json["variants"] = variants_json(e.artifact, e.plan.canonical.dim_names);
  json["unused_likely"] = Json::array();
  for (const UnusedLikelyValue& value : e.unused) {
    const std::string& dim = e.plan.canonical.dim_names[dim_index(value.dim.name)];
    json["unused_likely"].push_back({{"dim", dim}, {"size", value.dim.size}, {"reason", value.reason}});
  }
  json["symbol"] = e.artifact.symbol;
  json["bytes"] = e.artifact.object.size();
  json["notes"] = node.notes;
  if (options.all || options.key) json["key"] = e.plan.key_text;
  if (options.all || options.loops) json["loop_nest"] = e.code.loop_nest;
  if (options.all || options.ir) json["llvm_ir"] = e.code.llvm_ir;
  if (options.all || options.assembly) json["assembly"] = e.code.assembly;
  print_json(json);
}

Status explain(const ExplainOptions& options) {
  const Expected<Target> target = options.kernel.target();
  if (!target) return target.status();
  const Expected<CompileOptions> compile_options = options.kernel.compile_options();
  if (!compile_options) return compile_options.status();
  Expected<Source> source = options.kernel.source(ConstantValues::kSkip);
  if (!source) return source.status();
  const Expected<SourceNode> node = only_node(*std::move(source));
  if (!node) return node.status();
  GEMMC_RETURN_IF_ERROR(node->refusal);

  const std::string node_name = node->node ? node->name : "";
  Expected<KernelPlan> planned = plan(*node->problem, *target, *compile_options);
  if (!planned) return planned.status().with_node(node_name);
  Explained explained;
  explained.plan = *std::move(planned);
  explained.verdicts = judge_families(explained.plan.canonical.problem, *target);
  explained.unused =
      unused_likely_values(canonical(*node->problem).problem, explained.plan.schedule, explained.plan.variants);
  Expected<Artifact> artifact = compile(explained.plan, &explained.code);
  if (!artifact) return artifact.status().with_node(node_name);
  explained.artifact = *std::move(artifact);
  options.as_json ? print_as_json(*node, options, explained) : print_text(*node, options, explained);
  return Status::ok();
}

}  // namespace

Verb add_explain(CLI::App& app) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* verb = app.add_subcommand("explain", "How a problem becomes a kernel, down to its assembly");
  options->kernel.add_source(*verb);
  options->kernel.add_model_options(*verb);
  options->kernel.add_node(*verb);
  options->kernel.add_compilation(*verb, "host");
  verb->add_flag("--key", options->key, "Also the text that the kernel's name is a hash of");
  verb->add_flag("--loops", options->loops, "Also Halide's loop nest");
  verb->add_flag("--ir", options->ir, "Also LLVM's IR, after optimisation");
  verb->add_flag("--asm", options->assembly, "Also the assembly");
  verb->add_flag("--all", options->all, "Everything");
  verb->add_flag("--json", options->as_json, "For machines");
  return {verb, [=] { return explain(*options); }};
}

}  // namespace gemmc
