#include "tests/conformance/counts.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <mutex>
#include <set>

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

using Row = std::tuple<std::string, std::string, Family>;  // kind, level, family
std::map<Row, std::map<DType, std::set<size_t>>>& problems() {
  static std::map<Row, std::map<DType, std::set<size_t>>> instance;
  return instance;
}

std::string text(const Count& count) {
  if (count.right + count.wrong == 0) return ".";
  return count.wrong == 0 ? std::to_string(count.right) : fmt::format("{} (-{})", count.right, count.wrong);
}

// `cell`: the text of a type's column.
std::string line(const Row& row, const std::string& route, const std::function<std::string(DType)>& cell) {
  const auto& [kind, level, family] = row;
  std::string text = fmt::format("{:<17} {:<10} {:<8} {:<8}", kind, level, name(family), route);
  for (const DType dtype : kAllDTypes) text += fmt::format(" {:>9}", cell(dtype));
  return text + "\n";
}

}  // namespace

void count_run(const CountKey& key, bool is_right) {
  const std::lock_guard lock(mutex);
  Count& count = counts()[key];
  ++(is_right ? count.right : count.wrong);
}

void count_problem(const CountKey& key, const std::string& repeat) {
  const std::lock_guard lock(mutex);
  problems()[{key.kind, key.level, key.family}][key.dtype].insert(std::hash<std::string>()(repeat));
}

size_t right_runs() {
  const std::lock_guard lock(mutex);
  size_t sum = 0;
  for (const auto& [key, count] : counts()) sum += count.right;
  return sum;
}

size_t right_runs(const CountKey& key) {
  const std::lock_guard lock(mutex);
  const auto count = counts().find(key);
  return count == counts().end() ? 0 : count->second.right;
}

std::string counts_table() {
  const std::lock_guard lock(mutex);
  std::map<std::pair<Row, ConformanceRoute>, std::map<DType, Count>> rows;
  for (const auto& [key, count] : counts()) rows[{{key.kind, key.level, key.family}, key.route}][key.dtype] = count;

  std::string table = fmt::format("{:<17} {:<10} {:<8} {:<8}", "kind", "level", "family", "route");
  for (const DType dtype : kAllDTypes) table += fmt::format(" {:>9}", name(dtype));
  table += "\n";
  for (auto& [row, by_type] : rows) {
    table += line(row.first, row.second == ConformanceRoute::kJit ? "JIT" : "AOT",
                  [&](DType dtype) { return text(by_type[dtype]); });
  }
  for (auto& [row, by_type] : problems()) {
    table += line(row, "problems", [&](DType dtype) { return text({.right = by_type[dtype].size(), .wrong = 0}); });
  }
  return table;
}

}  // namespace gemmc::testing
