// The shapes that are measured: a text file, one `M N K transA transB` a line below `# class` lines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/status.h"
#include "tools/performance/contender.h"

namespace gemmc {

struct SuiteEntry {
  std::string category;  // "square", "transformer", ...
  Product product;
};

// Refuses a file without shapes and any line it does not understand, with its number.
Expected<std::vector<SuiteEntry>> read_suite(const std::filesystem::path& path);

}  // namespace gemmc
