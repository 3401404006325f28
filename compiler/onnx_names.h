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

  // Keeps a name for a later take(): no name that is made up here will be this one.
  void reserve(const std::string& name) { reserved_.insert(name); }
  // `name`, or `name` + separator + 2, 3, ... where it is taken; the result is then taken.
  std::string take(const std::string& name);
  // The same for a name that is itself made up.
  std::string make_up(const std::string& name);

 private:
  bool take_if_free(const std::string& name) { return !reserved_.contains(name) && taken_.insert(name).second; }
  std::string with_suffix(const std::string& name);

  char separator_;
  std::set<std::string> reserved_;
  std::set<std::string> taken_;
  std::unordered_map<std::string, int> last_suffix_;  // thousands of equal names cost no more than different ones
};

}  // namespace gemmc
