// The named dimensions of a problem as a whole: equal names are equal sizes, so a change to one is a change to all.
// Called by node_to_problem, parse_problem and canonical().
#pragma once

#include <cstdint>
#include <string>

#include "core/problem.h"

namespace gemmc {

// Calls visit(dim) for every dimension of every operand, in the order A, B, C.
template <typename ProblemOrConst, typename Visit>
void for_each_dim(ProblemOrConst& problem, Visit visit) {
  for (auto& dim : problem.a.shape) visit(dim);
  for (auto& dim : problem.b.shape) visit(dim);
  if (!problem.c) return;
  for (auto& dim : problem.c->shape) visit(dim);
}

// A run-time dimension as one of its sizes, by its name.
struct BoundDim {
  std::string name;
  int64_t size = 0;
  bool operator==(const BoundDim&) const = default;
};

// Puts `by` wherever a dimension has that name.
void replace_dim(Problem& problem, const std::string& name, const Dim& by);

// For two dimensions that must be equal: a static one takes the place of the other's name, else the first one does.
void unify_dims(Problem& problem, Dim first, Dim second);

// `wanted`, or `wanted` with underscores behind it where the problem already has a dimension of that name.
std::string fresh_dim_name(const Problem& problem, std::string wanted);

// Gives each dimension the range and likely values that were declared at any other place where its name stands. Refuses
// two different declarations for one name.
Status share_hints(Problem& problem);

// Refuses a problem in which a name does not have the same hints everywhere, or a static dimension has some.
Status check_hints(const Problem& problem);

}  // namespace gemmc
