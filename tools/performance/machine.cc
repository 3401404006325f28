#include "tools/performance/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

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

// "L1d 32K, L2 512K, L3 32768K", data caches only. From sysfs, because sysconf() can be wrong in virtual machines.
std::string read_caches() {
  namespace fs = std::filesystem;
  const auto read_line = [](const fs::path& path) {
    std::string line;
    std::ifstream file(path);
    std::getline(file, line);
    return line;
  };
  std::string text;
  for (int index = 0;; ++index) {
    const fs::path cache = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", index);
    std::error_code error;
    if (!fs::exists(cache, error)) break;
    const std::string type = read_line(cache / "type"), level = read_line(cache / "level");
    if (type == "Instruction") continue;
    text += fmt::format("{}L{}{} {}", text.empty() ? "" : ", ", level, type == "Data" ? "d" : "",
                        read_line(cache / "size"));
  }
  return text.empty() ? "unknown" : text;
}

int usable_cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

}  // namespace

Machine describe_machine() {
  Machine machine;
  machine.cpu =
      fmt::format("{} (family {}, model {})", read_field("/proc/cpuinfo", "model name", ':'),
                  read_field("/proc/cpuinfo", "cpu family", ':'), read_field("/proc/cpuinfo", "model\t", ':'));
  machine.cores = usable_cores();
  machine.caches = read_caches();
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
