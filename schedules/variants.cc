#include "schedules/variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/text.h"
#include "schedules/family_table.h"

namespace gemmc {
namespace {

using Bindings = std::vector<BoundDim>;

// Those with likely values, each once, in the order of the call's `dims`.
std::vector<Dim> likely_dims(const Problem& problem) {
  std::vector<Dim> dims;
  for_each_dim(problem, [&](const Dim& dim) {
    if (!dim.likely.empty() && std::find(dims.begin(), dims.end(), dim) == dims.end()) dims.push_back(dim);
  });
  return dims;
}

Status check_count(const std::vector<Dim>& dims, const std::vector<std::string>& names) {
  // Of doubles, because products of many long lists pass 2^64.
  double count = 1;
  std::vector<std::string> quoted;
  for (const Dim& dim : dims) {
    count *= static_cast<double>(dim.likely.size());
    quoted.push_back(in_quotes(names[dim_index(dim.name)]));
  }
  if (count <= kMostVariants) return Status::ok();
  return Status::unsupported(fmt::format("likely values of {} have {} combinations; allowed: up to {}",
                                         fmt::join(quoted, " and "), count, kMostVariants));
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

}  // namespace

Expected<std::vector<Variant>> choose_variants(const CanonicalProblem& canonical, const Target& target) {
  const std::vector<Dim> dims = likely_dims(canonical.problem);
  std::vector<Variant> variants;
  if (dims.empty()) return variants;
  GEMMC_RETURN_IF_ERROR(check_count(dims, canonical.dim_names));
  const Expected<Schedule> general = choose_schedule(canonical.problem, target);
  if (!general) return general.status();
  for (Bindings& bindings : combinations(dims)) {
    Problem bound = canonical.problem;
    for (const BoundDim& dim : bindings) replace_dim(bound, dim.name, Dim::fixed(dim.size));
    // All bodies read one B. Where a binding matters, the general one reads it where it is.
    bound.b.is_constant = false;
    // Sizes that no operand can have, or that do not fit each other: a call with them is the general body's to judge.
    if (!validate(bound).is_ok()) continue;
    const Expected<Schedule> schedule = choose_schedule(bound, target);
    if (!schedule || *schedule == *general) continue;
    variants.push_back({std::move(bindings), std::move(bound), *schedule});
  }
  return variants;
}

void drop_other_likely_values(Problem& problem, const std::vector<Variant>& variants) {
  const auto is_bound = [&](const BoundDim& dim) {
    return std::any_of(variants.begin(), variants.end(), [&](const Variant& variant) {
      return std::find(variant.dims.begin(), variant.dims.end(), dim) != variant.dims.end();
    });
  };
  for_each_dim(problem, [&](Dim& dim) {
    std::erase_if(dim.likely, [&](int64_t size) { return !is_bound({dim.name, size}); });
  });
}

std::string print_bound_dims(const std::vector<BoundDim>& dims, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const BoundDim& dim : dims) texts.push_back(fmt::format("{}={}", names[dim_index(dim.name)], dim.size));
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace gemmc
