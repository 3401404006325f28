// What is measured: products by class, from text files and CSV tables.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/status.h"
#include "tools/performance/product.h"

namespace gemmc {

struct SuiteEntry {
  std::string category;  // "square", "transformer", ...
  DType dtype = DType::kFloat32;
  Product product;
  bool operator==(const SuiteEntry&) const = default;
};

// A text file, one `M N K transA transB` a line below `# class` lines: every product for each of `dtypes`, all of one
// type together. Refuses a file without shapes and any line it does not understand, with its number.
Expected<std::vector<SuiteEntry>> read_suite(const std::filesystem::path& path, const std::vector<DType>& dtypes);

}  // namespace gemmc
