// What is known of the tensors of a model while its graphs are walked.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/onnx_constant.h"
#include "compiler/onnx_names.h"
#include "core/problem.h"

namespace gemmc {

// A dimension as one number: a size (>= 0), or a symbol (below kLastSymbol), which is a name of the model or an unknown
// size of one tensor's axis. Equal symbols are equal sizes. As an entry of Value::contents also any other integer.
using SymDim = int64_t;
using SymShape = std::vector<SymDim>;
inline constexpr SymDim kLastSymbol = std::numeric_limits<int64_t>::min() / 2;
inline bool is_symbol(SymDim dim) { return dim < kLastSymbol; }

inline constexpr size_t kMaxDimNameBytes = 256;

struct GraphStep;

struct Consumer {
  std::string_view op_type;
  bool has_constant = false;        // an elementwise operator of two operands, and the other one is a constant
  const GraphStep* step = nullptr;  // null: an operator that no epilogue can take in
};

// One tensor. A tensor that a function takes or returns is the caller's Value.
struct Value {
  std::string_view name;
  uint32_t id = 0;
  ElementType type = 0;
  std::optional<SymShape> shape;     // absent: unknown rank
  std::optional<SymShape> contents;  // of a small integer tensor, as far as known: what Shape, Concat ... compute
  Constant constant;                 // null: not a constant
  std::vector<Consumer> consumers;
  bool is_result = false;  // of a graph: read by what stands outside
};

// Owns the values, and gives meaning to symbols.
class ValueTable {
 public:
  explicit ValueTable(const std::map<std::string, int64_t>& bindings) : bindings_(bindings) {}

  // `name` has to outlive the table.
  Value* make(std::string_view name);

  // The size where the name is bound.
  SymDim named(const std::string& name);
  // The unknown size of an axis.
  static SymDim unknown(const Value& value, size_t axis);

  // An unknown size is named "<tensor>_<axis>" here, with a suffix where that is taken; a name that is bound is a size.
  Dim to_dim(SymDim dim);

  // Every name that named() or to_dim() has met.
  const std::set<std::string>& names() const { return names_; }

 private:
  std::string name_of(SymDim dim);

  const std::map<std::string, int64_t>& bindings_;
  std::deque<Value> values_;
  std::set<std::string> names_;
  UniqueNames unique_names_{'_'};
  std::vector<const std::string*> named_;
  std::unordered_map<std::string_view, SymDim> symbols_;
  std::unordered_map<SymDim, std::string> unknown_names_;
};

}  // namespace gemmc
