// Problem -> its canonical line. The other direction is problem_string_parse.cc; the grammar docs/problem-string.md.
#include "core/problem_string.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "core/problem_shapes.h"
#include "core/problem_string_names.h"
#include "core/text.h"

namespace gemmc {
namespace {

bool is_bare_name(std::string_view name) {
  return is_bare_name_start(name[0]) && std::all_of(name.begin(), name.end(), is_bare_name_char);
}

std::string float_text(float value) {
  if (std::isnan(value)) return "nan";  // without sign and payload, which no kernel keeps
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

std::string stride_text(const Stride& stride) {
  switch (stride.kind) {
    case Stride::Kind::kDense:
      return "-";
    case Stride::Kind::kStatic:
      return std::to_string(stride.value);
    case Stride::Kind::kRuntime:
      return "?";
  }
  return "-";
}

void append(std::string& list, std::string_view separator, std::string_view entry) {
  if (!list.empty()) list += separator;
  list += entry;
}

class Printer {
 public:
  std::string print(const Problem& p) {
    line_ = fmt::format("{} {}", p.op == Operator::kGemm ? "gemm" : "matmul", short_name(p.dtype));
    if (p.op == Operator::kGemm && p.a.shape.size() == 2 && p.b.shape.size() == 2) {
      print_gemm_shapes(p);
    } else {
      add_word("a", operand_text(p.a));
      add_word("b", operand_text(p.b));
    }
    if (p.alpha != 1.0f) add_word("alpha", float_text(p.alpha));
    if (p.beta != 1.0f) add_word("beta", float_text(p.beta));
    add_strides("sa", p.a.strides);
    add_strides("sb", p.b.strides);
    if (p.c) add_strides("sc", p.c->strides);
    add_strides("sy", p.y_strides);
    print_operand_lists(p);
    if (!p.epilogue.empty()) add_word("epi", print_epilogue(p.epilogue));
    if (p.order == SummationOrder::kByK) add_word("order", "k");
    return line_;
  }

 private:
  void add_word(std::string_view key, std::string_view value) { line_ += fmt::format(" {}={}", key, value); }

  // `implied_name` is what a name that is left out means.
  std::string dim_word(const Dim& dim, std::string_view implied_name = {}) {
    if (dim.is_static()) return std::to_string(dim.size);
    std::string text = "?";
    const bool is_implied = dim.name == implied_name;
    if (!is_implied) text += is_bare_name(dim.name) ? dim.name : fmt::format("({})", percent_encoded(dim.name, "()"));
    const std::string hints = hints_text(dim);
    // Equal names have equal hints: they stand where the name does for the first time.
    if (hints.empty() || !names_with_hints_.insert(dim.name).second) return text;
    return text + (is_implied ? "" : ":") + hints;
  }

  static std::string hints_text(const Dim& dim) {
    const Dim none;
    std::string text;
    if (dim.min != none.min || dim.max != none.max) {
      if (dim.min != none.min) text += std::to_string(dim.min);
      text += "..";
      if (dim.max != none.max) text += std::to_string(dim.max);
    }
    for (int64_t likely : dim.likely) text += fmt::format("~{}", likely);
    return text;
  }

  std::string operand_text(const Operand& operand) {
    if (!operand.has_known_rank) return "*";
    std::string text;
    for (const Dim& dim : operand.shape) append(text, "x", dim_word(dim));
    return text;
  }

  void print_gemm_shapes(const Problem& p) {
    const GemmDims dims = gemm_dims(p);
    add_word("m", dim_word(dims.m, "m"));
    add_word("n", dim_word(dims.n, "n"));
    add_word("k", dim_word(dims.k, "k"));
    if (p.trans_a) line_ += " ta";
    if (p.trans_b) line_ += " tb";
    if (p.c) add_word("c", c_form(*p.c, dims));
  }

  // Not one of the forms only where the problem is not valid: then its shape, for messages.
  std::string c_form(const Operand& c, const GemmDims& dims) {
    if (!c.has_known_rank) return "*";
    if (c.shape.empty()) return "s";
    const auto letter = [](const Dim& dim, const Dim& whole, std::string_view name) -> std::string_view {
      return dim.is(1) ? "1" : same_size(dim, whole) ? name : "";
    };
    const std::string_view rows = c.shape.size() == 2 ? letter(c.shape[0], dims.m, "m") : "";
    const std::string_view columns = letter(c.shape.back(), dims.n, "n");
    const bool is_form = rows.size() + 1 == c.shape.size() && !columns.empty();
    return is_form ? fmt::format("{}{}", rows, columns) : operand_text(c);
  }

  void add_strides(std::string_view key, const Strides& strides) {
    if (strides.empty()) return;
    std::string text;
    for (const Stride& stride : strides) append(text, "x", stride_text(stride));
    add_word(key, text);
  }

  void print_operand_lists(const Problem& p) {
    std::string constants;
    std::string storages;
    for (const auto& [letter, operand] :
         {std::pair{"a", &p.a}, std::pair{"b", &p.b}, std::pair{"c", p.c ? &*p.c : nullptr}}) {
      if (operand == nullptr) continue;
      if (operand->is_constant) append(constants, ",", letter);
      if (operand->storage) append(storages, ",", fmt::format("{}:{}", letter, short_name(*operand->storage)));
    }
    if (!constants.empty()) add_word("const", constants);
    if (!storages.empty()) add_word("storage", storages);
  }

  std::string line_;
  std::set<std::string> names_with_hints_;
};

}  // namespace

std::string print_problem(const Problem& problem) { return Printer().print(problem); }

std::string print_epilogue(std::span<const EpilogueStep> steps) {
  std::string text;
  for (const EpilogueStep& step : steps) {
    append(text, ",", percent_encoded(step.op, ":,()"));
    std::string values;
    for (const float value : step.values) append(values, ";", float_text(value));
    if (!values.empty()) text += fmt::format("({})", values);
    if (!step.axis.empty() || !step.name.empty()) text += fmt::format(":{}", percent_encoded(step.axis, ":,"));
    if (!step.name.empty()) text += ":" + print_epilogue_name(step.name);
  }
  return text;
}

std::string print_epilogue_name(std::string_view name) { return percent_encoded(name, ":,"); }

}  // namespace gemmc
