#include "compiler/compile.h"

#include <fmt/format.h>

#include "compiler/bundle/c_names.h"
#include "compiler/kernel_body.h"
#include "compiler/llvm_object.h"
#include "compiler/own_stack.h"
#include "compiler/pipelines.h"
#include "core/key.h"
#include "core/text.h"
#include "gemmc_build_id.h"
#include "schedules/family_table.h"

namespace gemmc {
namespace {

// The schedule asked for, where its family takes the problem; else the table's choice.
Expected<Schedule> decide_schedule(const Problem& problem, const Target& target,
                                   const std::optional<Schedule>& wanted) {
  if (!wanted) return choose_schedule(problem, target);
  GEMMC_RETURN_IF_ERROR(validate(*wanted, problem.dtype, target));
  if (const auto refusal = refuse_schedule(*wanted, problem, target)) {
    return Status::unsupported(fmt::format("schedule family {}: {}", name(wanted->family), *refusal));
  }
  return *wanted;
}

std::string loop_nests(const std::vector<KernelBody>& bodies, const std::vector<std::string>& dim_names) {
  std::string text;
  for (const KernelBody& body : bodies) {
    constexpr size_t kLongestTitle = 200;
    if (!body.when.is_general()) {
      text += fmt::format("// variant {}\n", one_line(print_condition(body.when, dim_names), kLongestTitle));
    }
    for (const Pipeline& pipeline : body.pipelines) text += pipeline.loop_nest;
  }
  return text;
}

Expected<Artifact> compile_here(const KernelPlan& plan, Explanation* explanation) {
  const bool with_texts = explanation != nullptr;
  std::vector<KernelBody> bodies;
  const auto add_body = [&](const BodyCondition& when, const Problem& problem, const Schedule& schedule) {
    Expected<std::vector<Pipeline>> pipelines = build_pipelines(problem, schedule, plan.target, with_texts);
    if (!pipelines) return pipelines.status();
    bodies.push_back({when, problem, loop_form(problem), schedule, *std::move(pipelines)});
    return Status::ok();
  };
  GEMMC_RETURN_IF_ERROR(add_body({}, plan.canonical.problem, plan.schedule));
  for (const Variant& variant : plan.variants) {
    GEMMC_RETURN_IF_ERROR(add_body(variant.when, variant.problem, variant.schedule));
  }
  Expected<ObjectCode> code = emit_object(bodies, plan.target, plan.symbol, with_texts);
  if (!code) return code.status();
  if (explanation != nullptr) {
    explanation->loop_nest = loop_nests(bodies, plan.canonical.dim_names);
    explanation->llvm_ir = std::move(code->llvm_ir);
    explanation->assembly = std::move(code->assembly);
  }
  Artifact artifact{.symbol = plan.symbol,
                    .problem = plan.canonical.problem,
                    .target = plan.target,
                    .schedule = print_schedule(plan.schedule),
                    .key_text = plan.key_text,
                    .object = std::move(code->object),
                    .scratch_bytes = scratch_bytes(bodies)};
  for (const Variant& variant : plan.variants) {
    artifact.variants.push_back({variant.when, print_schedule(variant.schedule)});
  }
  return artifact;
}

}  // namespace

std::string compiler_identity() {
  return fmt::format("halide {}; llvm {}; gemmc {}", halide_version(), llvm_version(), GEMMC_BUILD_ID);
}

Expected<KernelPlan> plan(const Problem& problem, const Target& target, const CompileOptions& options) {
  GEMMC_RETURN_IF_ERROR(validate(problem));
  GEMMC_RETURN_IF_ERROR(refuse_unbuilt(problem));
  if (!options.symbol.empty()) GEMMC_RETURN_IF_ERROR(check_symbol(options.symbol));
  KernelPlan result{.canonical = canonical(problem), .target = target};
  Expected<Schedule> schedule = decide_schedule(result.canonical.problem, target, options.schedule);
  if (!schedule) return schedule.status();
  result.schedule = *schedule;
  Expected<std::vector<Variant>> variants = choose_variants(result.canonical, result.schedule, target);
  if (!variants) return variants.status();
  result.variants = *std::move(variants);
  drop_other_likely_values(result.canonical.problem, result.variants);
  result.key_text = key_text(result.canonical.problem, target, print_schedule(result.schedule), compiler_identity());
  result.symbol = options.symbol.empty() ? kernel_symbol(result.key_text) : options.symbol;
  return result;
}

Expected<Artifact> compile(const KernelPlan& plan, Explanation* explanation) {
  std::optional<Expected<Artifact>> artifact;
  GEMMC_RETURN_IF_ERROR(run_on_own_stack([&] { artifact = compile_here(plan, explanation); }));
  return *std::move(artifact);
}

}  // namespace gemmc
