#include "schedules/variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/loop_form.h"
#include "core/text.h"
#include "schedules/family_table.h"

namespace gemmc {
namespace {

using Bindings = std::vector<BoundDim>;

// The body of few rows that takes all calls of `problem`; null where there is none.
const Variant* body_for_rows(const std::vector<Variant>& variants, const Problem& problem) {
  const std::optional<int64_t> m = loop_form(problem).m.static_value();
  const auto found = std::find_if(variants.begin(), variants.end(), [&](const Variant& variant) {
    return m && variant.when.dims.empty() && *m <= variant.when.most_rows.value_or(-1);
  });
  return found == variants.end() ? nullptr : &*found;
}

// Those with likely values that a variant binds, each once, in the order of the call's `dims`.
std::vector<Dim> dims_to_bind(const Problem& problem) {
  std::vector<Dim> dims, widths;
  const std::set<int> of_widths = dims_of_widths(loop_form(problem));
  for_each_dim(problem, [&](const Dim& dim) {
    if (dim.likely.empty() || std::find(dims.begin(), dims.end(), dim) != dims.end()) return;
    dims.push_back(dim);
    if (of_widths.contains(static_cast<int>(dim_index(dim.name)))) widths.push_back(dim);
  });
  return widths.empty() ? dims : widths;
}

// Of the loops around the register tile: not how much is in a block.
bool has_same_loops(const Schedule& left, const Schedule& right) {
  return left.family == right.family && left.mr == right.mr && left.nr == right.nr && left.lanes == right.lanes;
}

bool is_bound(const BoundDim& dim, const std::vector<Variant>& variants) {
  return std::any_of(variants.begin(), variants.end(), [&](const Variant& variant) {
    return std::find(variant.when.dims.begin(), variant.when.dims.end(), dim) != variant.when.dims.end();
  });
}

std::string quoted_names(const std::vector<Dim>& dims, const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const Dim& dim : dims) quoted.push_back(in_quotes(names[dim_index(dim.name)]));
  return fmt::format("{}", fmt::join(quoted, " and "));
}

// What is looked at, some microseconds each; few of them may become variants.
constexpr double kMostCombinations = 1024;

// Of doubles, because products of many long lists pass 2^64.
double count_combinations(const std::vector<Dim>& dims) {
  double count = 1;
  for (const Dim& dim : dims) count *= static_cast<double>(dim.likely.size());
  return count;
}

std::vector<Bindings> combinations(const std::vector<Dim>& dims) {
  std::vector<Bindings> all = {{}};
  for (const Dim& dim : dims) {
    std::vector<Bindings> longer;
    for (const Bindings& bindings : all) {
      for (const int64_t size : dim.likely) {
        longer.push_back(bindings);
        longer.back().push_back({dim.name, size});
      }
    }
    all = std::move(longer);
  }
  return all;
}

// Bodies for few rows, the fewest first: for those a family that reads B in place takes what the general family, which
// packs it in every call, takes otherwise.
std::vector<Variant> few_rows_variants(const Problem& problem, const Schedule& general, const Target& target) {
  std::vector<Variant> variants;
  if (general.family != Family::kGeneral || loop_form(problem).m.is_static()) return variants;
  for (const int64_t limit : row_limits(problem, target)) {
    const Expected<Schedule> schedule = choose_schedule(problem, target, limit);
    if (!schedule || schedule->family == Family::kGeneral) break;
    if (!variants.empty() && variants.back().schedule == *schedule) {
      variants.back().when.most_rows = limit;
    } else {
      variants.push_back({{.most_rows = limit}, problem, *schedule});
    }
  }
  return variants;
}

}  // namespace

Expected<std::vector<Variant>> choose_variants(const CanonicalProblem& canonical, const Schedule& general,
                                               const Target& target) {
  std::vector<Variant> variants;
  const std::vector<Dim> dims = dims_to_bind(canonical.problem);
  // All bodies read one B.
  if (general.packs_b) return variants;
  Problem unlikely = canonical.problem;
  drop_other_likely_values(unlikely, {});
  unlikely.b.is_constant = false;  // the general body does not pack it, so no other may read it packed
  const std::vector<Variant> few_rows = few_rows_variants(unlikely, general, target);
  if (dims.empty()) return few_rows;
  const double count = count_combinations(dims);
  if (count > kMostCombinations) {
    return Status::unsupported(fmt::format("likely values of {} have {} combinations; allowed: up to {}",
                                           quoted_names(dims, canonical.dim_names), count, kMostCombinations));
  }
  for (Bindings& bindings : combinations(dims)) {
    Problem bound = canonical.problem;
    for (const BoundDim& dim : bindings) replace_dim(bound, dim.name, Dim::fixed(dim.size));
    bound.b.is_constant = false;  // likewise
    // Sizes that no operand can have, or that do not fit each other: a call with them is the general body's to judge.
    if (!validate(bound).is_ok()) continue;
    const Expected<Schedule> schedule = choose_schedule(bound, target);
    if (!schedule || has_same_loops(*schedule, general)) continue;
    const Variant* body = body_for_rows(few_rows, bound);
    if (body != nullptr && body->schedule.family == schedule->family) continue;
    variants.push_back({{.dims = std::move(bindings)}, std::move(bound), *schedule});
  }
  variants.insert(variants.end(), few_rows.begin(), few_rows.end());
  if (variants.size() > kMostVariants) {
    return Status::unsupported(fmt::format("likely values of {} lead to {} variants of the kernel; allowed: up to {}",
                                           quoted_names(dims, canonical.dim_names), variants.size(), kMostVariants));
  }
  return variants;
}

std::vector<UnusedLikelyValue> unused_likely_values(const Problem& problem, const Schedule& general,
                                                    const std::vector<Variant>& variants) {
  const std::vector<Dim> bindable = dims_to_bind(problem);
  std::vector<UnusedLikelyValue> unused;
  std::set<std::string> seen;
  for_each_dim(problem, [&](const Dim& dim) {
    if (dim.is_static() || !seen.insert(dim.name).second) return;
    const bool may_be_bound = std::find(bindable.begin(), bindable.end(), dim) != bindable.end();
    for (const int64_t size : dim.likely) {
      if (is_bound({dim.name, size}, variants)) continue;
      Problem bound = problem;
      replace_dim(bound, dim.name, Dim::fixed(size));
      unused.push_back({{dim.name, size},
                        general.packs_b                             ? "one body reads the packed B for every size"
                        : body_for_rows(variants, bound) != nullptr ? "a body for few rows serves it"
                        : !may_be_bound ? "a dimension of N, K or a stride has likely values, which count alone"
                                        : "its body would have the family and register tile of the general one"});
    }
  });
  return unused;
}

void drop_other_likely_values(Problem& problem, const std::vector<Variant>& variants) {
  for_each_dim(problem, [&](Dim& dim) {
    std::erase_if(dim.likely, [&](int64_t size) { return !is_bound({dim.name, size}, variants); });
  });
}

}  // namespace gemmc
