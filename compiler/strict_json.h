// JSON text -> value, refusing what readers of JSON differ in. The only place that catches the JSON library's errors.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/status.h"

namespace gemmc {

inline constexpr size_t kMaxJsonBytes = size_t{16} << 20;

// Refused with invalid argument: text that is not JSON (RFC 8259) or not UTF-8, numbers beyond float64, repeated keys
// in one object, nesting deeper than 32, more than kMaxJsonBytes. Integers that fit 64 bits, with or without sign, are
// exact; other numbers are float64. Never throws; no recursion.
Expected<nlohmann::json> parse_strict_json(std::string_view text);

}  // namespace gemmc
