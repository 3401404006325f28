// Names out of a model file that leave the front end: users type them, and they go into problem strings and manifests.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gemmc {

// Valid UTF-8 without control characters, at most `max_bytes` long.
bool is_printable_name(std::string_view name, size_t max_bytes);

// Names of which no two are equal.
class UniqueNames {
 public:
  explicit UniqueNames(char separator) : separator_(separator) {}

  // `name`, or `name` + separator + 2, 3, ... where it is taken; the result is then taken.
  std::string take(const std::string& name);

 private:
  char separator_;
  std::set<std::string> taken_;
  std::unordered_map<std::string, int> last_suffix_;  // thousands of equal names cost no more than different ones
};

}  // namespace gemmc
