// The line -> Problem. The grammar is docs/problem-string.md; each word has one reader in the table below. One pass
// from left to right: time and memory are linear in the text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>
#include <span>

#include "core/dim_names.h"
#include "core/problem_string.h"
#include "core/problem_string_names.h"
#include "core/text.h"

namespace gemmc {
namespace {

constexpr size_t kMaxLength = size_t{1} << 20;

constexpr std::string_view kNameRule =
    "a name with an x, or with other characters than letters, digits and _, is written ?(name)";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The unread rest of one word's value.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  std::string_view rest() const { return text_; }
  bool is_next(bool (*predicate)(char)) const { return !text_.empty() && predicate(text_[0]); }

  bool accept(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }

  template <typename Predicate>
  std::string_view take_while(Predicate predicate) {
    size_t length = 0;
    while (length < text_.size() && predicate(text_[length])) ++length;
    return take(length);
  }

  // A decimal integer with an optional minus, as long as it goes.
  Expected<int64_t> integer() {
    const size_t sign = text_.starts_with('-') ? 1 : 0;
    size_t length = sign;
    while (length < text_.size() && is_digit(text_[length])) ++length;
    if (length == sign) return Status::invalid("expected an integer, found " + in_quotes(text_));
    const std::string_view digits = take(length);
    const std::optional<int64_t> value = parse_int64(digits);
    if (!value) return Status::invalid("integer " + in_quotes(digits) + " is out of range; allowed: 64 bits");
    return *value;
  }

 private:
  std::string_view take(size_t length) {
    const std::string_view taken = text_.substr(0, length);
    text_.remove_prefix(length);
    return taken;
  }

  std::string_view text_;
};

Status read_hints(Scanner& scanner, Dim& dim) {
  if (!scanner.is_next(is_digit) && !scanner.rest().starts_with("..") && !scanner.rest().starts_with("~")) {
    return Status::invalid("expected a range such as 1..512 or likely values such as ~128, found " +
                           in_quotes(scanner.rest()));
  }
  if (!scanner.rest().starts_with("~")) {
    if (scanner.is_next(is_digit)) {
      Expected<int64_t> min = scanner.integer();
      if (!min) return min.status();
      dim.min = *min;
    }
    if (!scanner.accept("..")) {
      return Status::invalid("expected '..' in a dimension's range, found " + in_quotes(scanner.rest()));
    }
    if (scanner.is_next(is_digit)) {
      Expected<int64_t> max = scanner.integer();
      if (!max) return max.status();
      dim.max = *max;
    }
  }
  while (scanner.accept("~")) {
    Expected<int64_t> likely = scanner.integer();
    if (!likely) return likely.status();
    dim.likely.push_back(*likely);
  }
  return Status::ok();
}

Expected<std::string> read_name(Scanner& scanner) {
  if (!scanner.accept("(")) {
    return std::string(scanner.take_while(is_bare_name_char));
  }
  const std::string_view encoded = scanner.take_while([](char c) { return c != '(' && c != ')'; });
  const std::optional<std::string> name = percent_decoded(encoded);
  if (!name) return Status::invalid("name " + in_quotes(encoded) + " has a '%' without two hexadecimal digits");
  if (name->empty()) return Status::invalid("a dimension has an empty name; allowed: at least one character");
  if (!scanner.accept(")")) {
    return Status::invalid("expected ')' at the end of a dimension's name, found " + in_quotes(scanner.rest()));
  }
  return *name;
}

// `implied_name` is what a name that is left out means; where it is empty, none may be left out.
Expected<Dim> read_dim(Scanner& scanner, std::string_view implied_name = {}) {
  if (!scanner.accept("?")) {
    Expected<int64_t> size = scanner.integer();
    if (!size) {
      return Status::invalid(
          fmt::format("expected a dimension (an integer or ?name; {}): {}", kNameRule, size.status().message()));
    }
    return Dim::fixed(*size);
  }
  if (scanner.is_next(is_bare_name_start) || scanner.rest().starts_with('(')) {
    Expected<std::string> name = read_name(scanner);
    if (!name) return name.status();
    Dim dim = Dim::runtime(*std::move(name));
    if (scanner.accept(":")) GEMMC_RETURN_IF_ERROR(read_hints(scanner, dim));
    return dim;
  }
  if (implied_name.empty()) {
    return Status::invalid(
        fmt::format("expected a dimension's name after '?' ({}), found {}", kNameRule, in_quotes(scanner.rest())));
  }
  Dim dim = Dim::runtime(std::string(implied_name));
  if (!scanner.at_end()) GEMMC_RETURN_IF_ERROR(read_hints(scanner, dim));
  return dim;
}

Status expect_end(const Scanner& scanner) {
  if (scanner.at_end()) return Status::ok();
  const std::string_view rest = scanner.rest();
  const bool starts_hints = rest.starts_with("~") || rest.starts_with("..");
  const bool starts_next = rest.starts_with(",") || rest.starts_with("*") || rest.starts_with("X");
  return Status::invalid(fmt::format("unexpected {} ({})", in_quotes(rest),
                                     starts_hints  ? "a range and likely values stand behind ?name and a colon, "
                                                     "?s:1..512~128; behind a ? alone without one"
                                     : starts_next ? "an x stands between two of them: 2x3"
                                                   : kNameRule));
}

// What the words say, before it is clear what they mean together.
struct Draft {
  Problem problem;
  std::optional<Dim> m, n, k;
  std::optional<std::string_view> c_form;
  bool has_a = false;
  bool has_b = false;
  Operand c;                                  // its flags and strides
  std::optional<std::string_view> word_of_c;  // a word that needs C

  Operand& operand(char letter) { return letter == 'a' ? problem.a : letter == 'b' ? problem.b : c; }
};

Status read_gemm_dim(std::string_view value, std::string_view name, std::optional<Dim>& result) {
  Scanner scanner(value);
  Expected<Dim> dim = read_dim(scanner, name);
  if (!dim) return dim.status();
  result = *std::move(dim);
  return expect_end(scanner);
}

Status read_shape(std::string_view value, Operand& operand, bool& is_given) {
  is_given = true;
  operand.has_known_rank = value != "*";
  if (!operand.has_known_rank) return Status::ok();
  Scanner scanner(value);
  do {
    Expected<Dim> dim = read_dim(scanner);
    if (!dim) return dim.status();
    operand.shape.push_back(*std::move(dim));
  } while (scanner.accept("x"));
  return expect_end(scanner);
}

Status read_strides(std::string_view value, Strides& strides) {
  Scanner scanner(value);
  do {
    const std::string_view rest = scanner.rest();
    if (scanner.accept("?")) {
      strides.push_back(Stride::runtime());
    } else if (rest == "-" || rest.starts_with("-x")) {
      scanner.accept("-");
      strides.push_back(Stride{});
    } else {
      Expected<int64_t> stride = scanner.integer();
      if (!stride) {
        return Status::invalid("expected a stride (an integer, ? or -): " + stride.status().message());
      }
      strides.push_back(Stride::fixed(*stride));
    }
  } while (scanner.accept("x"));
  return expect_end(scanner);
}

Status read_float(std::string_view value, float& result) {
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, result);
  const bool is_number = error == std::errc() && stop == end && std::isfinite(result);
  if (is_number || value == "inf" || value == "-inf" || value == "nan") return Status::ok();
  return Status::invalid("expected a number that fits float32, inf, -inf or nan, found " + in_quotes(value));
}

Status read_encoded(std::string_view encoded, std::string& decoded) {
  std::optional<std::string> text = percent_decoded(encoded);
  if (!text) return Status::invalid(in_quotes(encoded) + " has a '%' without two hexadecimal digits");
  decoded = *std::move(text);
  return Status::ok();
}

Status read_order(std::string_view value, SummationOrder& order) {
  if (value != "k" && value != "any") {
    return Status::invalid("unknown order " + in_quotes(value) + "; allowed: k, any");
  }
  order = value == "k" ? SummationOrder::kByK : SummationOrder::kAny;
  return Status::ok();
}

// Calls read(entry) for each of the comma-separated entries.
template <typename Read>
Status for_each_entry(std::string_view list, Read read) {
  Scanner scanner(list);
  do {
    GEMMC_RETURN_IF_ERROR(read(scanner.take_while([](char c) { return c != ','; })));
  } while (scanner.accept(","));
  return Status::ok();
}

// "clip(0;6)" -> op and values.
Status read_op(std::string_view text, EpilogueStep& step) {
  const size_t open = std::min(text.find('('), text.size());
  GEMMC_RETURN_IF_ERROR(read_encoded(text.substr(0, open), step.op));
  if (open == text.size()) return Status::ok();
  if (!text.ends_with(')')) {
    return Status::invalid("epilogue step " + in_quotes(text) + " has no ')' after its values");
  }
  Scanner scanner(text.substr(open + 1, text.size() - open - 2));
  do {
    const std::string_view value = scanner.take_while([](char c) { return c != ';'; });
    GEMMC_RETURN_IF_ERROR(read_float(value, step.values.emplace_back()));
  } while (scanner.accept(";"));
  drop_default_values(step);
  return Status::ok();
}

Status read_epilogue(std::string_view value, std::vector<EpilogueStep>& steps) {
  return for_each_entry(value, [&](std::string_view entry) {
    EpilogueStep step;
    Scanner scanner(entry);
    const auto next_field = [&] { return scanner.take_while([](char c) { return c != ':'; }); };
    GEMMC_RETURN_IF_ERROR(read_op(next_field(), step));
    for (std::string* field : {&step.axis, &step.name}) {
      if (!scanner.accept(":")) break;
      GEMMC_RETURN_IF_ERROR(read_encoded(next_field(), *field));
    }
    if (!scanner.at_end()) {
      return Status::invalid("epilogue step " + in_quotes(entry) + " has too many fields; allowed: op:axis:name");
    }
    steps.push_back(std::move(step));
    return Status::ok();
  });
}

Status check_letter(std::string_view letter, std::string_view word, Draft& draft, std::set<char>& seen) {
  if (letter != "a" && letter != "b" && letter != "c") {
    return Status::invalid("unknown operand " + in_quotes(letter) + "; allowed: a, b, c");
  }
  if (!seen.insert(letter[0]).second) return Status::invalid("operand " + in_quotes(letter) + " stands twice");
  if (letter == "c") draft.word_of_c = word;
  return Status::ok();
}

Status read_constants(std::string_view value, Draft& draft) {
  std::set<char> seen;
  return for_each_entry(value, [&](std::string_view entry) {
    GEMMC_RETURN_IF_ERROR(check_letter(entry, "const", draft, seen));
    draft.operand(entry[0]).is_constant = true;
    return Status::ok();
  });
}

Status read_storages(std::string_view value, Draft& draft) {
  std::set<char> seen;
  return for_each_entry(value, [&](std::string_view entry) {
    const size_t colon = std::min(entry.find(':'), entry.size());
    GEMMC_RETURN_IF_ERROR(check_letter(entry.substr(0, colon), "storage", draft, seen));
    const std::string_view word = entry.substr(std::min(colon + 1, entry.size()));
    const std::optional<DType> dtype = parse_storage_dtype(word);
    if (!dtype) return Status::invalid("unknown type " + in_quotes(word) + " in " + in_quotes(entry));
    draft.operand(entry[0]).storage = *dtype;
    return Status::ok();
  });
}

struct Word {
  std::string_view key;
  bool has_value;
  bool is_for_gemm;
  bool is_for_matmul;
  Status (*read)(std::string_view value, Draft& draft);
};
// In the order in which messages list them, which is the order of printing.
constexpr Word kWords[] = {
    {"a", true, false, true, [](std::string_view v, Draft& d) { return read_shape(v, d.problem.a, d.has_a); }},
    {"b", true, false, true, [](std::string_view v, Draft& d) { return read_shape(v, d.problem.b, d.has_b); }},
    {"m", true, true, true, [](std::string_view v, Draft& d) { return read_gemm_dim(v, "m", d.m); }},
    {"n", true, true, true, [](std::string_view v, Draft& d) { return read_gemm_dim(v, "n", d.n); }},
    {"k", true, true, true, [](std::string_view v, Draft& d) { return read_gemm_dim(v, "k", d.k); }},
    {"ta", false, true, false, [](std::string_view, Draft& d) { return d.problem.trans_a = true, Status::ok(); }},
    {"tb", false, true, false, [](std::string_view, Draft& d) { return d.problem.trans_b = true, Status::ok(); }},
    {"c", true, true, false, [](std::string_view v, Draft& d) { return d.c_form = v, Status::ok(); }},
    {"alpha", true, true, false, [](std::string_view v, Draft& d) { return read_float(v, d.problem.alpha); }},
    {"beta", true, true, false, [](std::string_view v, Draft& d) { return read_float(v, d.problem.beta); }},
    {"sa", true, true, true, [](std::string_view v, Draft& d) { return read_strides(v, d.problem.a.strides); }},
    {"sb", true, true, true, [](std::string_view v, Draft& d) { return read_strides(v, d.problem.b.strides); }},
    {"sc", true, true, false,
     [](std::string_view v, Draft& d) { return d.word_of_c = "sc", read_strides(v, d.c.strides); }},
    {"sy", true, true, true, [](std::string_view v, Draft& d) { return read_strides(v, d.problem.y_strides); }},
    {"const", true, true, true, read_constants},
    {"storage", true, true, true, read_storages},
    {"epi", true, true, true, [](std::string_view v, Draft& d) { return read_epilogue(v, d.problem.epilogue); }},
    {"order", true, true, true, [](std::string_view v, Draft& d) { return read_order(v, d.problem.order); }},
};

const Word* find_word(std::string_view key, Operator op) {
  for (const Word& word : kWords) {
    if (word.key == key && (op == Operator::kGemm ? word.is_for_gemm : word.is_for_matmul)) return &word;
  }
  return nullptr;
}

std::string word_list(Operator op) {
  std::string list;
  for (const Word& word : kWords) {
    if (find_word(word.key, op) == nullptr) continue;
    list += fmt::format("{}{}{}", list.empty() ? "" : ", ", word.key, word.has_value ? "=" : "");
  }
  return list;
}

Status read_word(std::string_view text, Draft& draft, std::set<std::string_view>& seen) {
  const size_t equals = std::min(text.find('='), text.size());
  const std::string_view key = text.substr(0, equals);
  const bool has_value = equals < text.size();
  const Operator op = draft.problem.op;
  const Word* word = find_word(key, op);
  if (word == nullptr) {
    return Status::invalid(fmt::format("unknown word {} for {}; allowed: {}", in_quotes(text),
                                       op == Operator::kGemm ? "gemm" : "matmul", word_list(op)));
  }
  if (has_value != word->has_value) {
    return Status::invalid(
        fmt::format("word {} {}", in_quotes(text), word->has_value ? "needs =value" : "takes no value"));
  }
  if (!seen.insert(word->key).second) return Status::invalid("word '" + std::string(key) + "' stands twice");
  const Status status = word->read(has_value ? text.substr(equals + 1) : "", draft);
  return status.is_ok() ? status : Status::invalid("word " + in_quotes(text) + ": " + status.message());
}

// Sets the draft's C to the form of the word c=.
Status read_c_form(std::string_view form, Draft& draft) {
  const Dim one = Dim::fixed(1);
  const std::pair<std::string_view, Shape> forms[] = {
      {"s", {}},
      {"1", {one}},
      {"n", {*draft.n}},
      {"1n", {one, *draft.n}},
      {"11", {one, one}},
      {"m1", {*draft.m, one}},
      {"mn", {*draft.m, *draft.n}},
  };
  draft.c.has_known_rank = form != "*";
  if (!draft.c.has_known_rank) return Status::ok();
  for (const auto& [name, shape] : forms) {
    if (name != form) continue;
    draft.c.shape = shape;
    return Status::ok();
  }
  return Status::invalid("unknown form of C " + in_quotes(form) + "; allowed: s, 1, n, 1n, m1, 11, mn, *");
}

Status finish_c(Draft& draft) {
  if (draft.c_form) {
    GEMMC_RETURN_IF_ERROR(read_c_form(*draft.c_form, draft));
    draft.problem.c = std::move(draft.c);
  } else if (draft.word_of_c) {
    return Status::invalid(fmt::format("word '{}' is about C, but no word c= gives the problem one", *draft.word_of_c));
  }
  return Status::ok();
}

Status finish_a_and_b(Draft& draft) {
  Problem& p = draft.problem;
  const std::string_view needed =
      p.op == Operator::kGemm ? "m=, n= and k= are needed" : "either a= and b=, or m=, n= and k= are needed";
  const std::pair<std::string_view, bool> shapes[] = {{"a=", draft.has_a}, {"b=", draft.has_b}};
  const std::pair<std::string_view, bool> sizes[] = {
      {"m=", draft.m.has_value()}, {"n=", draft.n.has_value()}, {"k=", draft.k.has_value()}};
  const auto is_given = [](const std::pair<std::string_view, bool>& word) { return word.second; };
  const bool has_a_shape = std::ranges::any_of(shapes, is_given), has_a_size = std::ranges::any_of(sizes, is_given);
  if (has_a_shape == has_a_size) return Status::invalid(std::string(needed));
  for (const auto& [word, given] : has_a_shape ? std::span<const std::pair<std::string_view, bool>>(shapes) : sizes) {
    if (!given) return Status::invalid(fmt::format("{}; {} is missing", needed, word));
  }
  if (has_a_shape) return Status::ok();
  p.a.shape = p.trans_a ? Shape{*draft.k, *draft.m} : Shape{*draft.m, *draft.k};
  p.b.shape = p.trans_b ? Shape{*draft.n, *draft.k} : Shape{*draft.k, *draft.n};
  return Status::ok();
}

Status parse(std::string_view text, Problem& problem) {
  if (text.size() > kMaxLength) {
    return Status::invalid(fmt::format("{} bytes are too long; allowed: up to {}", text.size(), kMaxLength));
  }
  const std::vector<std::string_view> words = split_words(text);
  if (words.size() < 2) {
    return Status::invalid("expected an operator (gemm, matmul), a type (f32, ...) and words, found " +
                           in_quotes(text));
  }
  if (words[0] != "gemm" && words[0] != "matmul") {
    return Status::invalid("unknown operator " + in_quotes(words[0]) + "; allowed: gemm, matmul");
  }
  const std::optional<DType> dtype = parse_dtype(words[1]);
  if (!dtype) {
    return Status::invalid("unknown type " + in_quotes(words[1]) +
                           "; allowed: bf16, f16, f32, f64, i32, i64, u32, u64");
  }
  Draft draft;
  draft.problem.op = words[0] == "gemm" ? Operator::kGemm : Operator::kMatMul;
  draft.problem.dtype = *dtype;
  std::set<std::string_view> seen;
  for (size_t i = 2; i < words.size(); ++i) GEMMC_RETURN_IF_ERROR(read_word(words[i], draft, seen));
  GEMMC_RETURN_IF_ERROR(finish_a_and_b(draft));
  GEMMC_RETURN_IF_ERROR(finish_c(draft));
  GEMMC_RETURN_IF_ERROR(share_hints(draft.problem));
  GEMMC_RETURN_IF_ERROR(validate(draft.problem));
  problem = std::move(draft.problem);
  return Status::ok();
}

}  // namespace

Expected<Problem> parse_problem(std::string_view text) {
  Problem problem;
  const Status status = parse(text, problem);
  if (!status.is_ok()) return Status(status.code(), "problem string: " + status.message());
  return problem;
}

}  // namespace gemmc
