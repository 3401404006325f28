#include "tools/performance/shapes_csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "core/text.h"

namespace gemmc {
namespace {

// The fields of one line. A quote inside a quoted field is written twice.
std::vector<std::string> split_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

// One line by the names of its columns.
class Row {
 public:
  Row(const std::vector<std::string>& header, const std::string& line) {
    const std::vector<std::string> fields = split_fields(line);
    is_complete_ = fields.size() == header.size();
    for (size_t i = 0; i < std::min(fields.size(), header.size()); ++i) fields_.emplace(header[i], fields[i]);
  }
  bool is_complete() const { return is_complete_; }
  std::string text(const std::string& column, const std::string& otherwise) const {
    const auto found = fields_.find(column);
    return found == fields_.end() || found->second.empty() ? otherwise : found->second;
  }
  // Nothing where the field is no integer in the range.
  std::optional<int64_t> number(const std::string& column, int64_t least, int64_t most, int64_t otherwise) const {
    const std::optional<int64_t> value = parse_int64(text(column, std::to_string(otherwise)));
    return value && *value >= least && *value <= most ? value : std::nullopt;
  }

 private:
  std::map<std::string, std::string> fields_;
  bool is_complete_;
};

// "f32/f16 (col-major BLAS)" -> f32, f16; col-major.
struct TypeField {
  std::vector<std::string> types;
  bool is_column_major;

  explicit TypeField(const std::string& text) : is_column_major(text.find("col-major") != std::string::npos) {
    const std::string words = text.substr(0, text.find(' '));
    for (size_t start = 0; start <= words.size();) {
      const size_t end = std::min(words.find('/', start), words.size());
      types.push_back(words.substr(start, end - start));
      start = end + 1;
    }
  }
};

// Y^T = op(B)^T op(A)^T: the same memory, read by rows.
Product by_rows(Product product) {
  std::swap(product.m, product.n);
  std::swap(product.trans_a, product.trans_b);
  std::swap(product.shares_a, product.shares_b);
  return product;
}

// Nothing where a field has a value that it may not have.
std::optional<Product> product_of(const Row& row) {
  constexpr int64_t kMostSize = int64_t{1} << 31;
  const auto m = row.number("M", 1, kMostSize, 0), n = row.number("N", 1, kMostSize, 0),
             k = row.number("K", 1, kMostSize, 0), batch = row.number("batch", 1, kMostSize, 1);
  const auto trans_a = row.number("transA", 0, 1, 0), trans_b = row.number("transB", 0, 1, 0);
  if (!row.is_complete() || !m || !n || !k || !batch || !trans_a || !trans_b) return std::nullopt;
  Product product = {*m, *n, *k, *trans_a == 1, *trans_b == 1};
  product.batch = *batch;
  return product;
}

}  // namespace

Expected<ShapesCsv> read_shapes_csv(const std::filesystem::path& path, const std::vector<DType>& dtypes) {
  std::ifstream file(path);
  if (!file) return Status::environment(fmt::format("cannot read the table '{}'", path.string()));
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = split_fields(line);
  for (const char* column : {"M", "N", "K", "dtype"}) {
    if (std::find(header.begin(), header.end(), column) == header.end())
      return Status::invalid(fmt::format("{}:1: no column {}; found {}", path.string(), column,
                                         one_line(fmt::format("{}", fmt::join(header, ", ")), 200)));
  }

  ShapesCsv csv;
  std::map<std::string, int> left_out;  // reason -> rows
  for (int number = 2; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    const Row row(header, line);
    const std::optional<Product> product = product_of(row);
    if (!product)
      return Status::invalid(
          fmt::format("{}:{}: '{}' has not {} fields with sizes from 1 to 2^31 in M, N, K and batch "
                      "and 0 or 1 in transA and transB",
                      path.string(), number, one_line(line, 200), header.size()));
    const TypeField field(row.text("dtype", ""));
    for (const std::string& type : field.types) {
      const std::optional<DType> dtype = parse_dtype(type);
      if (!dtype) {
        ++left_out[fmt::format("type {}: not built yet", in_quotes(type))];
      } else if (!dtypes.empty() && std::find(dtypes.begin(), dtypes.end(), *dtype) == dtypes.end()) {
        ++left_out[fmt::format("type {}: not among --dtype", in_quotes(type))];
      } else {
        const SuiteEntry entry = {row.text("suite", path.stem().string()), *dtype,
                                  field.is_column_major ? by_rows(*product) : *product};
        if (std::find(csv.entries.begin(), csv.entries.end(), entry) == csv.entries.end()) csv.entries.push_back(entry);
      }
    }
  }
  for (const auto& [reason, count] : left_out)
    csv.left_out.push_back(fmt::format("{}: {} row{} of {}", path.string(), count, count == 1 ? "" : "s", reason));
  if (csv.entries.empty()) return Status::invalid(fmt::format("the table '{}' has no products to time", path.string()));
  return csv;
}

}  // namespace gemmc
