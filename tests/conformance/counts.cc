#include "tests/conformance/counts.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

namespace gemmc::testing {
namespace {

struct Count {
  size_t right = 0, wrong = 0;
};

std::mutex mutex;
std::map<CountKey, Count>& counts() {
  static std::map<CountKey, Count> instance;
  return instance;
}

std::string text(const Count& count) {
  if (count.right + count.wrong == 0) return ".";
  return count.wrong == 0 ? std::to_string(count.right) : fmt::format("{} (-{})", count.right, count.wrong);
}

}  // namespace

void count_run(const CountKey& key, bool is_right) {
  const std::lock_guard lock(mutex);
  Count& count = counts()[key];
  ++(is_right ? count.right : count.wrong);
}

size_t right_runs() {
  const std::lock_guard lock(mutex);
  size_t sum = 0;
  for (const auto& [key, count] : counts()) sum += count.right;
  return sum;
}

std::string counts_table() {
  const std::lock_guard lock(mutex);
  std::map<std::tuple<std::string, std::string, Family, ConformanceRoute>, std::map<DType, Count>> rows;
  for (const auto& [key, count] : counts()) rows[{key.kind, key.level, key.family, key.route}][key.dtype] = count;

  std::string table = fmt::format("{:<17} {:<10} {:<8} {:<5}", "kind", "level", "family", "route");
  for (const DType dtype : kAllDTypes) table += fmt::format(" {:>9}", name(dtype));
  table += "\n";
  for (const auto& [row, by_type] : rows) {
    const auto& [kind, level, family, route] = row;
    table += fmt::format("{:<17} {:<10} {:<8} {:<5}", kind, level, name(family),
                         route == ConformanceRoute::kJit ? "JIT" : "AOT");
    for (const DType dtype : kAllDTypes) {
      const auto found = by_type.find(dtype);
      table += fmt::format(" {:>9}", text(found == by_type.end() ? Count{} : found->second));
    }
    table += "\n";
  }
  return table;
}

}  // namespace gemmc::testing
