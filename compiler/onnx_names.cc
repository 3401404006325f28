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

std::string UniqueNames::take(const std::string& name) { return taken_.insert(name).second ? name : with_suffix(name); }

std::string UniqueNames::make_up(const std::string& name) { return take_if_free(name) ? name : with_suffix(name); }

std::string UniqueNames::with_suffix(const std::string& name) {
  int& suffix = last_suffix_.try_emplace(name, 1).first->second;
  std::string candidate;
  do {
    candidate = name + separator_ + std::to_string(++suffix);
  } while (!take_if_free(candidate));
  return candidate;
}

}  // namespace gemmc
