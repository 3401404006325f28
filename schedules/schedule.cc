#include "schedules/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>
#include <vector>

#include "core/text.h"
#include "schedules/blocking.h"

namespace gemmc {
namespace {

struct Field {
  std::string_view key;
  int Schedule::*member;
  bool may_be_absent = false;  // then 0
};
constexpr Field kDotsFields[] = {{"mr", &Schedule::mr},
                                 {"nr", &Schedule::nr},
                                 {"lanes", &Schedule::lanes},
                                 {"mc", &Schedule::mc},
                                 {"kr", &Schedule::kr}};
constexpr Field kGeneralFields[] = {
    {"mr", &Schedule::mr}, {"nr", &Schedule::nr}, {"lanes", &Schedule::lanes},          {"mc", &Schedule::mc},
    {"nc", &Schedule::nc}, {"kc", &Schedule::kc}, {"lent_nc", &Schedule::lent_nc, true}};
constexpr Field kRowsFields[] = {{"mr", &Schedule::mr}, {"nr", &Schedule::nr}, {"lanes", &Schedule::lanes},
                                 {"mc", &Schedule::mc}, {"nc", &Schedule::nc}, {"kr", &Schedule::kr}};
constexpr Field kTiledFields[] = {{"mr", &Schedule::mr},
                                  {"nr", &Schedule::nr},
                                  {"lanes", &Schedule::lanes},
                                  {"mc", &Schedule::mc},
                                  {"kc", &Schedule::kc, true}};
// Words that may be left out.
struct Flag {
  std::string_view word;
  Family family;
  bool Schedule::*member;
};
constexpr Flag kFlags[] = {
    {"pack=b", Family::kTiled, &Schedule::packs_b},        {"mask=n", Family::kTiled, &Schedule::masks_columns},
    {"sums=y", Family::kGeneral, &Schedule::sums_in_y},    {"pairs=k", Family::kGeneral, &Schedule::pairs_products},
    {"pairs=k", Family::kDots, &Schedule::pairs_products}, {"pack=a", Family::kGeneral, &Schedule::packs_a}};

std::span<const Field> fields_of(Family family) {
  switch (family) {
    case Family::kDots:
      return kDotsFields;
    case Family::kRows:
      return kRowsFields;
    case Family::kTiled:
      return kTiledFields;
    case Family::kGeneral:
      return kGeneralFields;
  }
  return {};
}

}  // namespace

std::string_view name(Family family) {
  switch (family) {
    case Family::kDots:
      return "dots";
    case Family::kRows:
      return "rows";
    case Family::kTiled:
      return "tiled";
    case Family::kGeneral:
      return "general";
  }
  return "";
}

std::optional<Family> parse_family(std::string_view text) {
  for (Family family : kAllFamilies)
    if (name(family) == text) return family;
  return std::nullopt;
}

std::string family_names() {
  std::vector<std::string_view> names;
  for (Family family : kAllFamilies) names.push_back(name(family));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string print_schedule(const Schedule& schedule) {
  std::string line(name(schedule.family));
  for (const Field& field : fields_of(schedule.family)) {
    if (!field.may_be_absent || schedule.*field.member != 0)
      line += fmt::format(" {}={}", field.key, schedule.*field.member);
  }
  for (const Flag& flag : kFlags) {
    if (flag.family == schedule.family && schedule.*flag.member) line += fmt::format(" {}", flag.word);
  }
  return line;
}

Expected<Schedule> parse_schedule(std::string_view line) {
  const std::vector<std::string_view> words = split_words(line);
  if (words.empty()) {
    return Status::invalid(fmt::format("schedule is empty; allowed: a family ({}) and its fields", family_names()));
  }
  const std::optional<Family> family = parse_family(words[0]);
  if (!family) {
    return Status::invalid(fmt::format("schedule family '{}' is not known; allowed: {}", words[0], family_names()));
  }
  Schedule schedule{.family = *family};

  const std::span<const Field> fields = fields_of(schedule.family);
  std::vector<bool> seen(fields.size(), false);
  for (size_t w = 1; w < words.size(); ++w) {
    const auto flag = std::find_if(std::begin(kFlags), std::end(kFlags), [&](const Flag& known) {
      return known.word == words[w] && known.family == schedule.family && !(schedule.*known.member);
    });
    if (flag != std::end(kFlags)) {
      schedule.*flag->member = true;
      continue;
    }
    const size_t equals = words[w].find('=');
    const std::string_view key = words[w].substr(0, equals);
    size_t f = 0;
    while (f < fields.size() && fields[f].key != key) ++f;
    if (f == fields.size() || equals == std::string_view::npos || seen[f]) {
      return Status::invalid(
          fmt::format("schedule word '{}' is unknown or repeated in a {} schedule", words[w], words[0]));
    }
    const std::string_view digits = words[w].substr(equals + 1);
    int& value = schedule.*fields[f].member;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 1) {
      return Status::invalid(fmt::format("schedule word '{}'; allowed: a positive number", words[w]));
    }
    seen[f] = true;
  }
  for (size_t f = 0; f < fields.size(); ++f) {
    if (!seen[f] && !fields[f].may_be_absent)
      return Status::invalid(fmt::format("schedule '{}' lacks {}=", line, fields[f].key));
  }
  return schedule;
}

Status validate(const Schedule& s, DType dtype, const Target& target) {
  const auto refuse = [&](std::string_view what, auto found, const std::string& allowed) {
    return Status::invalid(
        fmt::format("schedule '{}' has {} {}; allowed: {}", print_schedule(s), what, found, allowed));
  };
  const int accumulator_bytes = static_cast<int>(size_bytes(accumulator(dtype)));
  const int widest = target.vector_bytes() / accumulator_bytes;
  if (s.lanes < kFewestLanes || s.lanes > widest || (s.lanes & (s.lanes - 1)) != 0) {
    return refuse("lanes", s.lanes, fmt::format("a power of two from {} to {}", kFewestLanes, widest));
  }
  const bool is_dots = s.family == Family::kDots;
  if (!is_dots && (s.nr < s.lanes || s.nr % s.lanes != 0)) {
    return refuse("nr", s.nr, fmt::format("a multiple of lanes {}", s.lanes));
  }
  const int64_t vectors_of_row = is_dots ? int64_t{s.nr} * s.kr : s.nr / s.lanes;
  if (vectors_of_row > target.vector_registers()) {
    return refuse("vectors in a row of the tile", vectors_of_row, fmt::format("up to {}", target.vector_registers()));
  }
  if (s.family == Family::kRows && s.kr > target.vector_registers()) {
    return refuse("kr", s.kr, fmt::format("up to {}", target.vector_registers()));
  }
  const int64_t registers = int64_t{s.mr} * vectors_of_row;
  if (s.mr < 1 || registers >= target.vector_registers()) {
    return refuse("accumulators", registers, fmt::format("1 to {}", target.vector_registers() - 1));
  }
  if (s.masks_columns) {
    if (!target.has(kAvx512)) return refuse("mask=n for", target.level, "a CPU with AVX-512");
    if (s.nr != s.lanes) return refuse("mask=n and nr", s.nr, fmt::format("lanes {}", s.lanes));
    if (s.packs_b) return refuse("mask=n beside", "pack=b", "one of them");
  }
  if (s.packs_a && !s.pairs_products) return refuse("pack=a", "alone", "with pairs=k");
  if (s.pairs_products) {
    if (!has_pair_products(dtype, target)) {
      return refuse("pairs=k for", name(dtype), "bfloat16, on a CPU with AVX512-BF16");
    }
    if (s.lanes < kFewestPairLanes) {
      return refuse("pairs=k and lanes", s.lanes, fmt::format("{} and more", kFewestPairLanes));
    }
    if (s.kc % kProductsPerPair != 0) return refuse("pairs=k and kc", s.kc, "an even number");
  }
  if (s.mc < s.mr || s.mc % s.mr != 0) return refuse("mc", s.mc, fmt::format("a multiple of mr {}", s.mr));
  if (s.family != Family::kGeneral && s.mc > kMostTiledRows) {
    return refuse("mc", s.mc, fmt::format("up to {}", kMostTiledRows));
  }
  if (s.family == Family::kDots || s.family == Family::kTiled) return Status::ok();
  if (s.nc < s.nr || s.nc % s.nr != 0) return refuse("nc", s.nc, fmt::format("a multiple of nr {}", s.nr));
  if (s.family == Family::kRows) {
    const int64_t bytes = int64_t{s.mr} * s.nc * accumulator_bytes;
    return bytes <= kRowSumsBytes ? Status::ok()
                                  : refuse("sums of bytes", bytes, fmt::format("up to {}", kRowSumsBytes));
  }
  if (s.kc < 1) return refuse("kc", s.kc, "1 and more");
  const int64_t mc = s.mc, nc = s.nc, kc = s.kc;
  if (mc > kStackBudgetBytes || nc > kStackBudgetBytes || kc > kStackBudgetBytes) {
    return refuse("a block of", std::max(mc, std::max(nc, kc)), "blocks that fit the stack");
  }
  if (s.lent_nc > 0) {
    if (!s.sums_in_y) return refuse("lent_nc", s.lent_nc, "only with sums=y");
    if (s.lent_nc <= s.nc || s.lent_nc % s.nr != 0) {
      return refuse("lent_nc", s.lent_nc, fmt::format("a multiple of nr {} above nc {}", s.nr, s.nc));
    }
    if (const int64_t bytes = kc * s.lent_nc * accumulator_bytes; bytes > kMostScratchBytes) {
      return refuse("a lent block of bytes", bytes, fmt::format("up to {}", kMostScratchBytes));
    }
  }
  const int64_t stack_bytes = factor_bytes(s, dtype) * (copies_a(s, dtype) ? mc * kc : 0) +
                              factor_bytes(s, dtype) * kc * nc + (s.sums_in_y ? 0 : accumulator_bytes * mc * nc);
  if (stack_bytes > kStackBudgetBytes) {
    return refuse("blocks of bytes", stack_bytes, fmt::format("up to {}", kStackBudgetBytes));
  }
  return Status::ok();
}

}  // namespace gemmc
