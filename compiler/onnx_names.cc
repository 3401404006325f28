#include "compiler/onnx_names.h"

#include "core/text.h"

namespace gemmc {

bool is_printable_name(std::string_view name, size_t max_bytes) {
  if (name.size() > max_bytes) return false;
  while (!name.empty()) {
    const size_t length = printable_length(name);
    if (length == 0) return false;
    name.remove_prefix(length);
  }
  return true;
}

std::string UniqueNames::take(const std::string& name) {
  if (taken_.insert(name).second) return name;
  int& suffix = last_suffix_.try_emplace(name, 1).first->second;
  std::string candidate;
  do {
    candidate = name + separator_ + std::to_string(++suffix);
  } while (!taken_.insert(candidate).second);
  return candidate;
}

}  // namespace gemmc
