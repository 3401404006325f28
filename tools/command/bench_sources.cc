#include "tools/command/bench_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/text.h"
#include "tools/command/text.h"
#include "tools/performance/product_problem.h"
#include "tools/performance/shapes_csv.h"

namespace gemmc {
namespace {

// What one source gives.
Expected<BenchSources> read_nodes(const KernelOptions& options, const std::string& text) {
  Expected<Source> source = options.source(text, ConstantValues::kSkip);
  if (!source) return source.status();
  BenchSources result;
  Status first_refusal;
  for (const SourceNode& node : source->nodes) {
    Expected<Product> product = node.refusal.is_ok() ? product_of(*node.problem) : node.refusal;
    if (!product) {
      // A problem string has no name but itself.
      const Status refusal = node.node ? product.status().with_node(node.name) : product.status();
      if (first_refusal.is_ok()) first_refusal = refusal;
      result.left_out.push_back(fmt::format("{}: {}", source->name, refusal.message()));
      continue;
    }
    const SuiteEntry entry = {source->name, node.problem->dtype, *product};
    if (std::find(result.entries.begin(), result.entries.end(), entry) == result.entries.end())
      result.entries.push_back(entry);
  }
  if (!result.entries.empty()) return result;
  if (source->nodes.empty())
    return Status::invalid(fmt::format("{} has no Gemm, MatMul or MatMulInteger node", in_quotes(text)));
  if (source->nodes.size() == 1) return first_refusal;
  return Status(first_refusal.code(),
                fmt::format("none of {} of {} can be timed; the first: {}", count_text(source->nodes.size(), "node"),
                            text, first_refusal.message()));
}

Expected<BenchSources> read_suite_file(const std::string& path, const std::vector<DType>& dtypes) {
  Expected<std::vector<SuiteEntry>> entries =
      read_suite(path, dtypes.empty() ? std::vector<DType>{DType::kFloat32} : dtypes);
  if (!entries) return entries.status();
  return BenchSources{*std::move(entries), {}};
}

Expected<BenchSources> read_table_file(const std::string& path, const std::vector<DType>& dtypes) {
  Expected<ShapesCsv> csv = read_shapes_csv(path, dtypes);
  if (!csv) return csv.status();
  return BenchSources{std::move(csv->entries), std::move(csv->left_out)};
}

void drop_large(BenchSources& sources, const std::string& source, double most_operations) {
  const size_t dropped = std::erase_if(
      sources.entries, [&](const SuiteEntry& entry) { return entry.product.operations() > most_operations; });
  if (dropped == 0) return;
  sources.left_out.push_back(fmt::format("{}: {} of more than {:.0f} million operations, by --quick", source,
                                         count_text(dropped, "product"), most_operations / 1e6));
}

// An option that no source reads would be ignored.
Status refuse_unread_options(const std::string& node_option, bool has_nodes, bool has_shapes, bool has_dtypes) {
  if (!has_nodes && !node_option.empty())
    return Status::invalid(
        fmt::format("{} is for problem strings, NODE.json and MODEL.onnx; found only suites and tables", node_option));
  if (!has_shapes && has_dtypes)
    return Status::invalid("--dtype is for SUITE.txt and SHAPES.csv; found only sources that have a type");
  return Status::ok();
}

}  // namespace

Expected<BenchSources> read_bench_sources(const KernelOptions& options, const BenchSelection& selection) {
  BenchSources all;
  bool has_nodes = false, has_shapes = false;
  for (const std::string& text : options.sources()) {
    const std::string extension = std::filesystem::path(text).extension().string();
    const bool is_suite = extension == ".txt", is_table = extension == ".csv";
    (is_suite || is_table ? has_shapes : has_nodes) = true;
    Expected<BenchSources> read = is_suite   ? read_suite_file(text, selection.dtypes)
                                  : is_table ? read_table_file(text, selection.dtypes)
                                             : read_nodes(options, text);
    if (!read) return read.status();
    const bool is_file_of_many = is_suite || is_table || extension == ".onnx";
    if (is_file_of_many && selection.most_operations) drop_large(*read, text, *selection.most_operations);
    all.entries.insert(all.entries.end(), read->entries.begin(), read->entries.end());
    all.left_out.insert(all.left_out.end(), read->left_out.begin(), read->left_out.end());
  }
  GEMMC_RETURN_IF_ERROR(refuse_unread_options(options.node_option(), has_nodes, has_shapes, !selection.dtypes.empty()));
  if (all.entries.empty()) return Status::invalid(fmt::format("nothing to time: {}", names_text(all.left_out)));
  return all;
}

}  // namespace gemmc
