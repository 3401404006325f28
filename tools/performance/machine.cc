#include "tools/performance/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/text.h"

namespace gemmc {
namespace {

// The value after `separator` of the first line of `path` that starts with `field`; empty where there is none.
std::string read_field(const char* path, const std::string& field, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(field)) continue;
    std::string value = line.substr(line.find(separator) + 1);
    const auto is_padding = [](char c) { return c == ' ' || c == '"'; };
    while (!value.empty() && is_padding(value.front())) value.erase(value.begin());
    while (!value.empty() && is_padding(value.back())) value.pop_back();
    return value;
  }
  return "";
}

std::string read_line(const std::filesystem::path& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

// "512K" -> 524288; 0 where it is no size.
int64_t parse_bytes(const std::string& text) {
  const size_t digits = text.find_first_not_of("0123456789");
  const int64_t number = parse_int64(text.substr(0, digits)).value_or(0);
  const std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  return unit == "K" ? number << 10 : unit == "M" ? number << 20 : unit.empty() ? number : 0;
}

// "L1d 32K, L2 512K, L3 32768K"
std::string print_caches() {
  std::string text;
  for (const DataCache& cache : data_caches())
    text += fmt::format("{}L{}{} {}K", text.empty() ? "" : ", ", cache.level, cache.kind, cache.bytes >> 10);
  return text.empty() ? "unknown" : text;
}

int usable_cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

}  // namespace

std::vector<DataCache> data_caches() {
  namespace fs = std::filesystem;
  std::vector<DataCache> caches;
  for (int index = 0;; ++index) {
    const fs::path folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", index);
    std::error_code error;
    if (!fs::exists(folder, error)) break;
    const std::string type = read_line(folder / "type");
    const int64_t level = parse_int64(read_line(folder / "level")).value_or(0);
    const int64_t bytes = parse_bytes(read_line(folder / "size"));
    if (type != "Instruction" && level > 0 && bytes > 0)
      caches.push_back({static_cast<int>(level), type == "Data" ? "d" : "", bytes});
  }
  return caches;
}

Machine describe_machine() {
  Machine machine;
  machine.cpu =
      fmt::format("{} (family {}, model {})", read_field("/proc/cpuinfo", "model name", ':'),
                  read_field("/proc/cpuinfo", "cpu family", ':'), read_field("/proc/cpuinfo", "model\t", ':'));
  machine.cores = usable_cores();
  machine.caches = print_caches();
  utsname kernel{};
  uname(&kernel);
  machine.system =
      fmt::format("{}, {} {}", read_field("/etc/os-release", "PRETTY_NAME", '='), kernel.sysname, kernel.release);
  double load = 0;
  if (getloadavg(&load, 1) == 1) machine.load = load;
  return machine;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

}  // namespace gemmc
