#include "core/dtype.h"

namespace gemmc {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::string_view short_name;
  std::string_view c_type;
  size_t size_bytes;
  DType accumulator;
};

constexpr DTypeRow kRows[] = {
    {DType::kBFloat16, "bfloat16", "bf16", "uint16_t", 2, DType::kFloat32},
    {DType::kFloat16, "float16", "f16", "uint16_t", 2, DType::kFloat32},
    {DType::kFloat32, "float32", "f32", "float", 4, DType::kFloat32},
    {DType::kFloat64, "float64", "f64", "double", 8, DType::kFloat64},
    {DType::kInt32, "int32", "i32", "int32_t", 4, DType::kUInt32},
    {DType::kInt64, "int64", "i64", "int64_t", 8, DType::kUInt64},
    {DType::kUInt32, "uint32", "u32", "uint32_t", 4, DType::kUInt32},
    {DType::kUInt64, "uint64", "u64", "uint64_t", 8, DType::kUInt64},
    {DType::kInt8, "int8", "i8", "int8_t", 1, DType::kUInt32},
};

const DTypeRow& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view name(DType dtype) { return row(dtype).name; }
std::string_view short_name(DType dtype) { return row(dtype).short_name; }
std::string_view c_type(DType dtype) { return row(dtype).c_type; }
size_t size_bytes(DType dtype) { return row(dtype).size_bytes; }
DType accumulator(DType dtype) { return row(dtype).accumulator; }

bool is_signed_integer(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kInt8;
}
bool is_integer(DType dtype) { return is_signed_integer(dtype) || dtype == DType::kUInt32 || dtype == DType::kUInt64; }

std::optional<DType> parse_dtype(std::string_view word) {
  const std::optional<DType> dtype = parse_storage_dtype(word);
  return dtype == DType::kInt8 ? std::nullopt : dtype;
}

std::optional<DType> parse_storage_dtype(std::string_view word) {
  if (word == "float") return DType::kFloat32;
  if (word == "double") return DType::kFloat64;
  for (const DTypeRow& candidate : kRows) {
    if (word == candidate.name || word == candidate.short_name) return candidate.dtype;
  }
  return std::nullopt;
}

}  // namespace gemmc
