// Shapes that other projects measure, as a CSV table -> the products of this one's benchmarks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/status.h"
#include "tools/performance/suite.h"

namespace gemmc {

struct ShapesCsv {
  std::vector<SuiteEntry> entries;    // the category is the column "suite", or the file's name
  std::vector<std::string> left_out;  // "9 rows of type 'f32xi4': ...", one line for each reason
};

// Columns are known by the names in the first line: M, N, K and dtype must be there; transA, transB (0 or 1), batch and
// suite may be; others are not read. A field may stand in double quotes. `dtype` is "f32", or several types ("f32/f16",
// a product each), and what follows a space is a remark: with "col-major" in it the row is a column-major product,
// which is the row-major one with M and N, A and B exchanged. Types that no problem has (quantized ones) are left out,
// and so are those that are not in `dtypes`, unless that is empty. Equal products are kept once.
Expected<ShapesCsv> read_shapes_csv(const std::filesystem::path& path, const std::vector<DType>& dtypes);

}  // namespace gemmc
