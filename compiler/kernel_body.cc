#include "compiler/kernel_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/blocking.h"

namespace gemmc {
namespace {

std::string body_name(const KernelBody& body) {
  if (body.when.is_general()) return ".general";
  std::string name;
  for (const BoundDim& dim : body.when.dims) name += fmt::format(".{}_{}", dim.name, dim.size);
  if (body.when.most_rows) name += fmt::format(".rows_{}", *body.when.most_rows);
  return name;
}

}  // namespace

std::string pipeline_symbol(const KernelBody& body, const std::string& function) {
  return fmt::format("pipeline{}.{}", body_name(body), function);
}

std::string body_symbol(const KernelBody& body, const std::string& kernel) { return kernel + body_name(body); }

int64_t scratch_bytes(const std::vector<KernelBody>& bodies) {
  int64_t most = 0;
  for (const KernelBody& body : bodies) most = std::max(most, scratch_bytes(body.schedule, body.problem.dtype));
  return most;
}

}  // namespace gemmc
