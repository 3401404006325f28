#include "tools/performance/suite.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace gemmc {

Expected<std::vector<SuiteEntry>> read_suite(const std::filesystem::path& path, const std::vector<DType>& dtypes) {
  std::ifstream file(path);
  if (!file) return Status::environment(fmt::format("cannot read the suite '{}'", path.string()));
  std::vector<SuiteEntry> shapes;
  std::string category, line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    if (line.starts_with("# ")) {
      category = line.substr(2);
      continue;
    }
    std::istringstream words(line);
    Product s;
    std::string rest;
    const bool is_complete = static_cast<bool>(words >> s.m >> s.n >> s.k >> s.trans_a >> s.trans_b);
    if (!is_complete || words >> rest || s.m < 1 || s.n < 1 || s.k < 1)
      return Status::invalid(fmt::format("{}:{}: '{}' is not 'M N K transA transB' with positive sizes and 0 or 1",
                                         path.string(), number, line));
    shapes.push_back({category, DType::kFloat32, s});
  }
  if (shapes.empty()) return Status::invalid(fmt::format("the suite '{}' has no shapes", path.string()));
  std::vector<SuiteEntry> suite;
  for (const DType dtype : dtypes) {
    for (SuiteEntry shape : shapes) {
      shape.dtype = dtype;
      suite.push_back(std::move(shape));
    }
  }
  return suite;
}

}  // namespace gemmc
