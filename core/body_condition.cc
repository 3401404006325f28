#include "core/body_condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/problem.h"

namespace gemmc {

std::string print_condition(const BodyCondition& when, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const BoundDim& dim : when.dims) texts.push_back(fmt::format("{}={}", names[dim_index(dim.name)], dim.size));
  if (when.most_rows) texts.push_back(fmt::format("M<={}", *when.most_rows));
  return fmt::format("{}", fmt::join(texts, " "));
}

}  // namespace gemmc
