// What may stand as a dimension's bare name in a problem string; other names are written ?(name). Shared by printing
// and parsing. The letter x separates dimensions, and a digit first would read as a range.
#pragma once

namespace gemmc {

inline bool is_bare_name_start(char c) {
  return (c >= 'a' && c <= 'z' && c != 'x') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_bare_name_char(char c) { return is_bare_name_start(c) || (c >= '0' && c <= '9'); }

}  // namespace gemmc
