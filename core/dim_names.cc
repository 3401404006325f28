#include "core/dim_names.h"

#include <map>
#include <set>

#include "core/text.h"

namespace gemmc {
namespace {

bool has_hints(const Dim& dim) {
  const Dim none;
  return dim.min != none.min || dim.max != none.max || !dim.likely.empty();
}

Status conflicting_hints(const std::string& name) {
  return Status::invalid("dimension " + in_quotes(name) +
                         " has two different ranges or likely values; allowed: the same wherever its name stands");
}

}  // namespace

void replace_dim(Problem& problem, const std::string& name, const Dim& by) {
  for_each_dim(problem, [&](Dim& dim) {
    if (dim.name == name) dim = by;
  });
}

void unify_dims(Problem& problem, Dim first, Dim second) {
  if (!second.is_static() && second.name != first.name) replace_dim(problem, second.name, first);
  if (!first.is_static() && second.is_static()) replace_dim(problem, first.name, second);
}

std::string fresh_dim_name(const Problem& problem, std::string wanted) {
  std::set<std::string> taken;
  for_each_dim(problem, [&](const Dim& dim) { taken.insert(dim.name); });
  while (taken.contains(wanted)) wanted += '_';
  return wanted;
}

Status share_hints(Problem& problem) {
  std::map<std::string, Dim> declared;
  Status status;
  for_each_dim(problem, [&](const Dim& dim) {
    if (dim.is_static() || !has_hints(dim)) return;
    const Dim& first = declared.emplace(dim.name, dim).first->second;
    if (first != dim) status = conflicting_hints(dim.name);
  });
  if (!status.is_ok()) return status;
  for_each_dim(problem, [&](Dim& dim) {
    if (const auto found = declared.find(dim.name); found != declared.end()) dim = found->second;
  });
  return Status::ok();
}

Status check_hints(const Problem& problem) {
  std::map<std::string, const Dim*> first_of_name;
  Status status;
  for_each_dim(problem, [&](const Dim& dim) {
    if (!dim.is_static()) {
      if (*first_of_name.emplace(dim.name, &dim).first->second != dim) status = conflicting_hints(dim.name);
    } else if (has_hints(dim)) {
      status = Status::invalid("a static dimension has a range or likely values; allowed: neither");
    }
  });
  return status;
}

}  // namespace gemmc
