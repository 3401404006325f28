#include "tools/performance/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
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

std::string print_bytes(long bytes) {
  if (bytes <= 0) return "unknown";
  return bytes >= 1 << 20 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
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
  machine.caches =
      fmt::format("L1d {}, L2 {}, L3 {}", print_bytes(sysconf(_SC_LEVEL1_DCACHE_SIZE)),
                  print_bytes(sysconf(_SC_LEVEL2_CACHE_SIZE)), print_bytes(sysconf(_SC_LEVEL3_CACHE_SIZE)));
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
