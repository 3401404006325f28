#include "core/status.h"

#include "core/text.h"

namespace gemmc {
namespace {

constexpr size_t kMessageLimit = 4000;
constexpr size_t kNodeNameLimit = 300;

}  // namespace

Status::Status(StatusCode code, const std::string& message) : code_(code), message_(one_line(message, kMessageLimit)) {}

Status Status::with_node(const std::string& node) const {
  const std::string suffix = " (node '" + one_line(node, kNodeNameLimit) + "')";
  if (is_ok() || node.empty() || message_.find(suffix) != std::string::npos) return *this;
  return {code_, message_ + suffix};
}

}  // namespace gemmc
