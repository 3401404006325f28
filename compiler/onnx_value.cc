#include "compiler/onnx_value.h"

#include <fmt/format.h>
namespace gemmc {
namespace {

// A symbol: 2^63 below zero, then the value's or the name's number, the axis, and which of the two it is.
constexpr int kAxisBits = 6;
static_assert(kMaxRank < (size_t{1} << kAxisBits));

SymDim symbol(uint32_t number, size_t axis, bool is_named) {
  const int64_t code = ((int64_t{number} << kAxisBits | static_cast<int64_t>(axis)) << 1) | (is_named ? 1 : 0);
  return std::numeric_limits<int64_t>::min() + code;
}
int64_t code_of(SymDim dim) { return dim - std::numeric_limits<int64_t>::min(); }

}  // namespace

Value* ValueTable::make(std::string_view name) {
  Value& value = values_.emplace_back();
  value.name = name;
  value.id = static_cast<uint32_t>(values_.size() - 1);
  return &value;
}

SymDim ValueTable::named(const std::string& name) {
  const auto [place, is_first] = names_.insert(name);
  const std::string& kept = *place;
  if (is_first) unique_names_.take(name);
  if (const auto bound = bindings_.find(name); bound != bindings_.end()) return bound->second;
  const auto [entry, is_new] = symbols_.try_emplace(kept, 0);
  if (is_new) {
    entry->second = symbol(static_cast<uint32_t>(named_.size()), 0, true);
    named_.push_back(&kept);
  }
  return entry->second;
}

SymDim ValueTable::unknown(const Value& value, size_t axis) { return symbol(value.id, axis, false); }

std::string ValueTable::name_of(SymDim dim) {
  const int64_t code = code_of(dim);
  const auto number = static_cast<size_t>(code >> 1 >> kAxisBits);
  if ((code & 1) != 0) return *named_[number];
  std::string& name = unknown_names_[dim];
  if (name.empty()) {
    const std::string_view tensor = values_[number].name;
    const int64_t axis = (code >> 1) & ((1 << kAxisBits) - 1);
    const bool is_usable = is_printable_name(tensor, kMaxDimNameBytes - 16);
    name = unique_names_.take(is_usable ? fmt::format("{}_{}", tensor, axis) : "dim");
    names_.insert(name);
  }
  return name;
}

Dim ValueTable::to_dim(SymDim dim) {
  if (!is_symbol(dim)) return Dim::fixed(dim);
  const std::string name = name_of(dim);
  const auto bound = bindings_.find(name);
  return bound != bindings_.end() ? Dim::fixed(bound->second) : Dim::runtime(name);
}

}  // namespace gemmc
