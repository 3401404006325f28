// The floating-point half of the oracle: bounds, special values, and the chain of fma.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/oracle_epilogue.h"
#include "tests/support/oracle_loops.h"

namespace gemmc::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The type in which a product is computed, and the wider one in which the oracle computes it.
struct Float32Arithmetic {
  using Wide = double;  // holds each product exactly
  static constexpr double kEps = 0x1p-24, kTiny = 0x1p-149, kMax = 0x1.fffffep127;
  static constexpr double kOverflow = 0x1.ffffffp127;  // from here on values round to infinity
  static constexpr double kWideEps = 0x1p-53;
  static constexpr double kSmallestNormal = 0x1p-126;
};
struct Float64Arithmetic {
  using Wide = long double;  // 11 bits more than float64, and a range in which nothing overflows or vanishes
  static constexpr double kEps = 0x1p-53, kTiny = 0x1p-1074, kMax = 0x1.fffffffffffffp1023;
  static constexpr long double kOverflow = 0x1.fffffffffffff8p1023L;
  static constexpr double kWideEps = 0x1p-64;
  static constexpr double kSmallestNormal = 0x1p-1022;
};

// What is known of a number that was computed in floating point in an unknown order: the exact value of the finite case
// and how far off a result may be, and which special values can come out.
template <typename Wide>
struct Outcome {
  bool finite = false, nan = false, positive_infinity = false, negative_infinity = false;
  Wide value = 0;
  Wide error = 0;

  static Outcome only_nan() {
    Outcome outcome;
    outcome.nan = true;
    return outcome;
  }
  static Outcome exactly(Wide value) {
    Outcome outcome;
    if (std::isnan(value)) return only_nan();
    outcome.positive_infinity = value == static_cast<Wide>(kInfinity);
    outcome.negative_infinity = value == static_cast<Wide>(-kInfinity);
    outcome.finite = !outcome.positive_infinity && !outcome.negative_infinity;
    if (outcome.finite) outcome.value = value;
    return outcome;
  }
  bool may_be_positive() const { return finite && value + error > 0; }
  bool may_be_negative() const { return finite && value - error < 0; }
  bool may_be_zero() const { return finite && value - error <= 0 && value + error >= 0; }

  // Adds the infinities that the finite result may round to.
  void add_overflow(Wide limit) {
    if (!finite) return;
    positive_infinity |= value + error >= limit;
    negative_infinity |= value - error <= -limit;
  }
};

// The sum of the products of one element of Y.
template <typename Wide>
struct Dot {
  bool nan = false, positive_infinity = false, negative_infinity = false;  // among the products
  Wide sum = 0;                                                            // of the finite products
  Wide magnitude = 0;                                                      // of their absolute values
  Wide flushed = 0;                                                        // of those whose factors may count as 0
  bool may_miss_infinity = false;  // a product is infinite, or NaN if its other factor counts as 0
};

template <typename Wide>
Dot<Wide> dot_of(const Wide* a, const Wide* b, int64_t depth, bool all_finite) {
  Dot<Wide> dot;
  if (all_finite) {
    for (int64_t k = 0; k < depth; ++k) {
      const Wide product = a[k] * b[k];
      dot.sum += product;
      dot.magnitude += std::fabs(product);
    }
    return dot;
  }
  for (int64_t k = 0; k < depth; ++k) {
    const Wide product = a[k] * b[k];
    if (std::isnan(product)) {
      dot.nan = true;
    } else if (std::isinf(product)) {
      (product > 0 ? dot.positive_infinity : dot.negative_infinity) = true;
    } else {
      dot.sum += product;
      dot.magnitude += std::fabs(product);
    }
  }
  return dot;
}

// Adds what follows from taking factors below `smallest` for 0.
template <typename Wide>
void add_flushed(Dot<Wide>& dot, const Wide* a, const Wide* b, int64_t depth, Wide smallest) {
  for (int64_t k = 0; k < depth; ++k) {
    const Wide product = a[k] * b[k];
    const bool may_be_zero = (a[k] != 0 && std::fabs(a[k]) < smallest) || (b[k] != 0 && std::fabs(b[k]) < smallest);
    if (!may_be_zero) continue;
    if (std::isinf(product)) dot.may_miss_infinity = true;
    if (std::isfinite(product)) dot.flushed += std::fabs(product);
  }
}

// What a step of a sum may be off by where it becomes subnormal.
template <typename Arithmetic>
typename Arithmetic::Wide tiny_of(const Product& product) {
  return static_cast<typename Arithmetic::Wide>(product.may_flush ? Arithmetic::kSmallestNormal : Arithmetic::kTiny);
}

template <typename Arithmetic>
Outcome<typename Arithmetic::Wide> accumulate(const Product& product, const Dot<typename Arithmetic::Wide>& dot,
                                              int64_t depth) {
  using Wide = typename Arithmetic::Wide;
  const Wide roundings = static_cast<Wide>(depth + 4);
  Outcome<Wide> outcome;
  outcome.value = dot.sum;
  outcome.error = roundings * static_cast<Wide>(Arithmetic::kEps) * dot.magnitude + dot.flushed +
                  (dot.magnitude > 0 ? roundings * tiny_of<Arithmetic>(product) : 0);
  // Whatever the order, a partial sum lies between the sum of the negative products and that of the positive ones.
  const Wide positive = (dot.magnitude + dot.sum) / 2 + outcome.error;
  const Wide negative = (dot.magnitude - dot.sum) / 2 + outcome.error;
  const bool positive_overflow = positive >= static_cast<Wide>(Arithmetic::kOverflow);
  const bool negative_overflow = negative >= static_cast<Wide>(Arithmetic::kOverflow);
  outcome.positive_infinity = dot.positive_infinity || positive_overflow;
  outcome.negative_infinity = dot.negative_infinity || negative_overflow;
  outcome.nan = dot.nan || dot.may_miss_infinity || (outcome.positive_infinity && outcome.negative_infinity);
  outcome.finite = !dot.nan && !dot.positive_infinity && !dot.negative_infinity;
  // An infinite product decides, unless its opposite comes to it.
  if (dot.positive_infinity) outcome.negative_infinity = false;
  if (dot.negative_infinity) outcome.positive_infinity = false;
  if (dot.nan || (dot.positive_infinity && dot.negative_infinity)) return Outcome<Wide>::only_nan();
  return outcome;
}

// factor * outcome, for a factor that is exact.
template <typename Wide>
Outcome<Wide> scaled(const Outcome<Wide>& outcome, Wide factor, Wide limit) {
  if (std::isnan(factor)) return Outcome<Wide>::only_nan();
  Outcome<Wide> result;
  result.nan = outcome.nan;
  if (std::isinf(factor)) {
    const bool positive = outcome.may_be_positive() || outcome.positive_infinity;
    const bool negative = outcome.may_be_negative() || outcome.negative_infinity;
    result.positive_infinity = factor > 0 ? positive : negative;
    result.negative_infinity = factor > 0 ? negative : positive;
    result.nan |= outcome.may_be_zero();
    return result;
  }
  if (factor == 0) {
    result.nan |= outcome.positive_infinity || outcome.negative_infinity;
  } else {
    result.positive_infinity = factor > 0 ? outcome.positive_infinity : outcome.negative_infinity;
    result.negative_infinity = factor > 0 ? outcome.negative_infinity : outcome.positive_infinity;
  }
  result.finite = outcome.finite;
  result.value = factor * outcome.value;
  result.error = std::fabs(factor) * outcome.error;
  result.add_overflow(limit);
  return result;
}

template <typename Wide>
Outcome<Wide> sum_of(const Outcome<Wide>& left, const Outcome<Wide>& right, Wide limit) {
  Outcome<Wide> result;
  result.finite = left.finite && right.finite;
  result.nan = left.nan || right.nan || (left.positive_infinity && right.negative_infinity) ||
               (left.negative_infinity && right.positive_infinity);
  // An infinity stays one beside anything but NaN and its opposite.
  const bool left_is_number = left.finite || left.positive_infinity;
  const bool right_is_number = right.finite || right.positive_infinity;
  result.positive_infinity = (left.positive_infinity && right_is_number) || (right.positive_infinity && left_is_number);
  const bool left_is_number_below = left.finite || left.negative_infinity;
  const bool right_is_number_below = right.finite || right.negative_infinity;
  result.negative_infinity =
      (left.negative_infinity && right_is_number_below) || (right.negative_infinity && left_is_number_below);
  result.value = left.value + right.value;
  result.error = left.error + right.error;
  result.add_overflow(limit);
  return result;
}

// Nothing finite is left where even the near end overflows.
AllowedFloat with_overflow(AllowedFloat range, long double limit) {
  range.positive_infinity |= range.high >= limit;
  range.negative_infinity |= range.low <= -limit;
  range.finite = range.low < limit && range.high > -limit;
  return range;
}

// Before the epilogue and, of 16-bit types, in float32.
template <typename Arithmetic>
AllowedFloat allowed_sum(const Product& product, const Dot<typename Arithmetic::Wide>& dot, int64_t depth,
                         const typename Arithmetic::Wide* c) {
  using Wide = typename Arithmetic::Wide;
  const Wide limit = static_cast<Wide>(Arithmetic::kOverflow);
  const Wide alpha = product.alpha, beta = product.beta;
  Outcome<Wide> outcome = accumulate<Arithmetic>(product, dot, depth);
  if (alpha != 1) outcome = scaled(outcome, alpha, limit);
  Wide magnitude = std::fabs(alpha) * dot.magnitude;
  if (c != nullptr) {
    const Outcome<Wide> term = scaled(Outcome<Wide>::exactly(*c), beta, limit);
    outcome = sum_of(outcome, term, limit);
    if (term.finite) magnitude += std::fabs(term.value);
  }

  AllowedFloat result;
  result.nan = outcome.nan;
  result.positive_infinity = outcome.positive_infinity;
  result.negative_infinity = outcome.negative_infinity;
  result.finite = outcome.finite;
  if (!outcome.finite) return result;
  // The documented bound, and the oracle's own rounding, which is at least 2^-11 times smaller.
  const Wide roundings = static_cast<Wide>(depth + 4);
  const Wide tiny = tiny_of<Arithmetic>(product) * std::max<Wide>(1, std::fabs(alpha));
  const Wide bound = roundings * static_cast<Wide>(Arithmetic::kEps + Arithmetic::kWideEps) * magnitude +
                     roundings * tiny + std::fabs(alpha) * dot.flushed;
  const long double low = static_cast<long double>(outcome.value) - bound;
  const long double high = static_cast<long double>(outcome.value) + bound;
  result.low = low;
  result.high = high;
  return with_overflow(result, limit);
}

// The rest of an element: the epilogue and the rounding to 16-bit types.
AllowedFloat finished(const Product& product, const BatchItem& item, int64_t m, int64_t n, size_t first_step,
                      AllowedFloat range) {
  const Type type = product.type;
  for (size_t i = first_step; i < product.epilogue.size(); ++i) {
    const MatrixView& operand = item.epilogue[i];
    const long double read = operand.base != nullptr ? decode_float(type, operand.at(m, n, element_bytes(type))) : 0.0L;
    range = after_step(product.epilogue[i], range, read, type);
  }
  if (!is_16_bit_float(type) || !range.finite) return range;
  // The float32 result is within the bound; rounding is monotonic, so the element lies between the rounded ends.
  range.low = round_to(type, range.low);
  range.high = round_to(type, range.high);
  return with_overflow(range, Float32Arithmetic::kOverflow);
}

// The operands of one item, decoded: rows of A and columns of B lie together.
template <typename Wide>
struct Decoded {
  std::vector<Wide> rows, columns;
  std::vector<bool> row_is_finite, column_is_finite;

  Decoded(Type type, const BatchItem& item) {
    const size_t bytes = element_bytes(type);
    const int64_t depth = item.a.cols;
    const auto decode = [&](const MatrixView& matrix, int64_t row, int64_t col, std::vector<Wide>& values) {
      values.push_back(static_cast<Wide>(decode_float(type, matrix.at(row, col, bytes))));
      return std::isfinite(values.back());
    };
    for (int64_t m = 0; m < item.a.rows; ++m) {
      bool finite = true;
      for (int64_t k = 0; k < depth; ++k) finite &= decode(item.a, m, k, rows);
      row_is_finite.push_back(finite);
    }
    for (int64_t n = 0; n < item.b.cols; ++n) {
      bool finite = true;
      for (int64_t k = 0; k < depth; ++k) finite &= decode(item.b, k, n, columns);
      column_is_finite.push_back(finite);
    }
  }
};

template <typename Arithmetic>
std::optional<Mismatch> find_mismatch_in(const Product& product, const BatchItem& item) {
  using Wide = typename Arithmetic::Wide;
  const Type type = product.type;
  const size_t bytes = element_bytes(type);
  const int64_t depth = item.a.cols;
  const Decoded<Wide> operands(type, item);
  for (int64_t m = 0; m < item.y.rows; ++m) {
    for (int64_t n = 0; n < item.y.cols; ++n) {
      const bool all_finite = operands.row_is_finite[m] && operands.column_is_finite[n];
      const Wide *row = operands.rows.data() + m * depth, *column = operands.columns.data() + n * depth;
      Dot<Wide> dot = dot_of(row, column, depth, all_finite);
      if (product.may_flush) add_flushed(dot, row, column, depth, static_cast<Wide>(Arithmetic::kSmallestNormal));
      Wide c_value = 0;
      if (item.c.base != nullptr) c_value = static_cast<Wide>(decode_float(type, item.c.at(m, n, bytes)));
      const AllowedFloat range =
          finished(product, item, m, n, 0,
                   allowed_sum<Arithmetic>(product, dot, depth, item.c.base != nullptr ? &c_value : nullptr));
      const void* found = item.y.at(m, n, bytes);
      if (range.contains(decode_float(type, found))) continue;
      return Mismatch{output_index(product, item, m, n), element_text(type, found), range.text()};
    }
  }
  return std::nullopt;
}

// T: the type in which the chain runs.
template <typename T>
std::optional<Mismatch> find_chain_mismatch_in(const Product& product, const BatchItem& item) {
  const Type type = product.type;
  const size_t bytes = element_bytes(type);
  const int64_t depth = item.a.cols;
  const Decoded<T> operands(type, item);
  const T alpha = product.alpha, beta = product.beta;
  for (int64_t m = 0; m < item.y.rows; ++m) {
    for (int64_t n = 0; n < item.y.cols; ++n) {
      T result = 0;
      for (int64_t k = 0; k < depth; ++k) {
        result = std::fma(operands.rows[m * depth + k], operands.columns[n * depth + k], result);
      }
      if (alpha != 1) result = alpha * result;
      if (item.c.base != nullptr) {
        const T c = static_cast<T>(decode_float(type, item.c.at(m, n, bytes)));
        result = beta == 1 ? result + c : std::fma(beta, c, result);
      }
      size_t step = 0;
      for (; step < product.epilogue.size(); ++step) {
        const MatrixView& operand = item.epilogue[step];
        const T read = operand.base != nullptr ? static_cast<T>(decode_float(type, operand.at(m, n, bytes))) : T(0);
        const std::optional<T> next = exactly_after_step(product.epilogue[step], result, read);
        if (!next) break;
        result = *next;
      }
      uint64_t expected = 0, found = 0;
      encode_float(type, result, &expected);
      std::memcpy(&found, item.y.at(m, n, bytes), bytes);
      if (step < product.epilogue.size()) {
        const AllowedFloat range = finished(product, item, m, n, step, AllowedFloat::only(result));
        if (range.contains(decode_float(type, &found))) continue;
        return Mismatch{output_index(product, item, m, n), element_text(type, &found), range.text()};
      }
      if (found == expected) continue;
      if (std::isnan(decode_float(type, &expected)) && std::isnan(decode_float(type, &found))) continue;
      return Mismatch{output_index(product, item, m, n), element_text(type, &found), element_text(type, &expected)};
    }
  }
  return std::nullopt;
}

}  // namespace

AllowedFloat AllowedFloat::only(long double value) {
  AllowedFloat range;
  range.nan = std::isnan(value);
  range.positive_infinity = value > 0 && std::isinf(value);
  range.negative_infinity = value < 0 && std::isinf(value);
  range.finite = std::isfinite(value);
  if (range.finite) range.low = range.high = value;
  return range;
}

bool AllowedFloat::contains(long double value) const {
  if (std::isnan(value)) return nan;
  if (std::isinf(value)) return value > 0 ? positive_infinity : negative_infinity;
  return finite && low <= value && value <= high;
}

std::string AllowedFloat::text() const {
  std::string text;
  const auto add = [&](std::string_view word) {
    if (!text.empty()) text += " or ";
    text += word;
  };
  if (finite) {
    add(fmt::format("[{:.17g}, {:.17g}]", static_cast<double>(low), static_cast<double>(high)));
  }
  if (positive_infinity) add("inf");
  if (negative_infinity) add("-inf");
  if (nan) add("nan");
  return text;
}

std::optional<Mismatch> find_float_mismatch(const Product& product, const BatchItem& item) {
  return product.type == Type::kFloat64 ? find_mismatch_in<Float64Arithmetic>(product, item)
                                        : find_mismatch_in<Float32Arithmetic>(product, item);
}

std::optional<Mismatch> find_float_chain_mismatch(const Product& product, const BatchItem& item) {
  return product.type == Type::kFloat64 ? find_chain_mismatch_in<double>(product, item)
                                        : find_chain_mismatch_in<float>(product, item);
}

}  // namespace gemmc::oracle
