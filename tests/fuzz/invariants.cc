#include "tests/fuzz/invariants.h"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/key.h"
#include "core/loop_form.h"
#include "core/problem_string.h"
#include "core/resolved_loops.h"
#include "core/target.h"
#include "schedules/family_table.h"
#include "schedules/variants.h"

namespace gemmc::testing {
namespace {

// A message is cut at 4000 bytes; the last character before the cut and the dots come on top.
constexpr size_t kLongestMessage = 4010;

// The characters that turn the direction of what follows, by their bytes: U+061C, U+200E, U+200F, U+202A to U+202E and
// U+2066 to U+2069.
bool is_direction_mark(uint8_t lead, uint8_t second, uint8_t third) {
  if (lead == 0xd8) return second == 0x9c;
  if (lead != 0xe2) return false;
  if (second == 0x80) return third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae);
  return second == 0x81 && third >= 0xa6 && third <= 0xa9;
}

// Valid UTF-8 without control characters, line separators and direction marks. Says so without the library's own
// reading of characters.
bool is_one_clean_line(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t offset) {
      return i + offset < text.size() ? static_cast<uint8_t>(text[i + offset]) : uint8_t{0};
    };
    const uint8_t lead = byte(0);
    const size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0) return false;
    for (size_t offset = 1; offset < length; ++offset) {
      if (byte(offset) < 0x80 || byte(offset) > 0xbf) return false;
    }
    const uint8_t second = byte(1);
    if (lead < 0x20 || lead == 0x7f || (lead == 0xc2 && second < 0xa0)) return false;          // controls
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90)) return false;      // longer than needed
    if ((lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f)) return false;      // no characters
    if (lead == 0xe2 && second == 0x80 && (byte(2) == 0xa8 || byte(2) == 0xa9)) return false;  // line separators
    if (is_direction_mark(lead, second, byte(2))) return false;
    i += length;
  }
  return true;
}

const std::vector<Target>& all_targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> parsed;
    for (const std::string& name : target_names()) {
      if (const Expected<Target> target = parse_target(name)) parsed.push_back(*target);
    }
    return parsed;
  }();
  return targets;
}

// A NaN does not equal itself, but its text does.
bool is_same(const Problem& left, const Problem& right) {
  return left == right ||
         ((left.alpha != left.alpha || left.beta != left.beta) && print_problem(left) == print_problem(right));
}

void check_text(const Problem& problem, std::string_view text) {
  require(is_one_clean_line(text), "a problem's text is one line", text);
  const Expected<Problem> again = parse_problem(text);
  require(again.is_ok(), "a problem's text is accepted", std::string(text) + ": " + again.status().message());
  require(is_same(*again, problem), "a problem survives its text", text);
}

void check_loops(const Problem& canonical_problem, std::string_view text) {
  const LoopForm form = loop_form(canonical_problem);
  for (const int64_t number : {int64_t{0}, int64_t{1}, int64_t{7}, std::numeric_limits<int64_t>::max(), int64_t{-1}}) {
    const std::vector<int64_t> dims(static_cast<size_t>(form.dim_count), number);
    const std::vector<int64_t> strides(static_cast<size_t>(form.stride_count), number);
    const Expected<ResolvedLoops> loops = resolve(form, dims, strides);
    if (!loops) {
      check_refusal(loops.status());
      continue;
    }
    require(loops->m >= 0 && loops->n >= 0 && loops->k >= 0, "sizes are not negative", text);
  }
}

void check_schedules(const Problem& canonical_problem, std::string_view text) {
  for (const Target& target : all_targets()) {
    const Expected<Schedule> schedule = choose_schedule(canonical_problem, target);
    if (!schedule) {
      check_refusal(schedule.status());
      continue;
    }
    const Status status = validate(*schedule, canonical_problem.dtype, target);
    require(status.is_ok(), "the chosen schedule is valid", std::string(text) + ": " + status.message());
  }
}

void check_variants(const CanonicalProblem& form, std::string_view text) {
  for (const Target& target : all_targets()) {
    const Expected<Schedule> general = choose_schedule(form.problem, target);
    if (!general) continue;
    const Expected<std::vector<Variant>> variants = choose_variants(form, *general, target);
    if (!variants) {
      check_refusal(variants.status());
      continue;
    }
    require(variants->size() <= kMostVariants, "a kernel has few variants", text);
    for (const Variant& variant : *variants) {
      require(loop_form(variant.problem).dim_count + static_cast<int>(variant.when.dims.size()) ==
                  loop_form(form.problem).dim_count,
              "a variant lacks the dims that it binds", text);
      const Status status = validate(variant.schedule, variant.problem.dtype, target);
      require(status.is_ok(), "a variant's schedule is valid", std::string(text) + ": " + status.message());
    }
  }
}

}  // namespace

void require(bool holds, std::string_view what, std::string_view detail) {
  if (holds) return;
  std::fprintf(stderr, "violated: %.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

void check_refusal(const Status& status, bool may_be_environment) {
  const std::string& message = status.message();
  const bool is_users = status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kUnsupported;
  require(is_users || (may_be_environment && status.code() == StatusCode::kEnvironment), "the user is told", message);
  require(!message.empty(), "a refusal says why");
  require(message.size() <= kLongestMessage, "a message's length is bounded", message);
  require(is_one_clean_line(message), "a message is one line", message);
}

void check_problem(const Problem& problem) {
  const std::string text = print_problem(problem);
  const Status status = validate(problem);
  require(status.is_ok(), "an accepted problem is valid", text + ": " + status.message());
  check_text(problem, text);

  const CanonicalProblem form = canonical(problem);
  const std::string canonical_text = print_problem(form.problem);
  const Status canonical_status = validate(form.problem);
  require(canonical_status.is_ok(), "a canonical problem is valid",
          text + " -> " + canonical_text + ": " + canonical_status.message());
  check_text(form.problem, canonical_text);
  require(is_same(canonical(form.problem).problem, form.problem), "a canonical problem is canonical",
          text + " -> " + canonical_text + " -> " + print_problem(canonical(form.problem).problem));
  require(form.dim_names.size() == static_cast<size_t>(loop_form(form.problem).dim_count),
          "a call's dims have their names", text + " -> " + canonical_text);

  if (const Status unbuilt = refuse_unbuilt(problem); !unbuilt.is_ok()) {
    check_refusal(unbuilt);
    return;
  }
  check_loops(form.problem, text);
  check_schedules(form.problem, text);
  check_variants(form, text);
  const std::string key = key_text(form.problem, all_targets().front(), "schedule", "compiler");
  require(kernel_symbol(key).size() == 22, "a symbol has 16 digits", key);
}

}  // namespace gemmc::testing
