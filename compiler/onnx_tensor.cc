#include "compiler/onnx_tensor.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <set>
#include <string_view>

#include "compiler/onnx_file.h"
#include "core/text.h"
#include "onnx.pb.h"

namespace gemmc {
namespace {

using ::onnx::TensorProto;

// The repeated field that holds the values where the model does not store raw bytes.
enum class TypedField { kNone, kFloat, kDouble, kInt32, kInt64, kUInt64, kString };

struct TypeRow {
  ElementType type;
  const char* name;
  TypedField field;
  int stored_bits;       // in raw_data and external data; 0: not stored so
  size_t decoded_bytes;  // 0: the values are not read
  int per_element = 1;   // entries of the repeated field
};

constexpr TypeRow kTypes[] = {
    {TensorProto::FLOAT, "float32", TypedField::kFloat, 32, 4},
    {TensorProto::DOUBLE, "float64", TypedField::kDouble, 64, 8},
    {TensorProto::FLOAT16, "float16", TypedField::kInt32, 16, 2},
    {TensorProto::BFLOAT16, "bfloat16", TypedField::kInt32, 16, 2},
    {TensorProto::INT8, "int8", TypedField::kInt32, 8, 1},
    {TensorProto::UINT8, "uint8", TypedField::kInt32, 8, 1},
    {TensorProto::INT16, "int16", TypedField::kInt32, 16, 2},
    {TensorProto::UINT16, "uint16", TypedField::kInt32, 16, 2},
    {TensorProto::INT32, "int32", TypedField::kInt32, 32, 4},
    {TensorProto::UINT32, "uint32", TypedField::kUInt64, 32, 4},
    {TensorProto::INT64, "int64", TypedField::kInt64, 64, 8},
    {TensorProto::UINT64, "uint64", TypedField::kUInt64, 64, 8},
    {TensorProto::BOOL, "bool", TypedField::kInt32, 8, 1},
    {TensorProto::INT4, "int4", TypedField::kInt32, 4, 1},
    {TensorProto::UINT4, "uint4", TypedField::kInt32, 4, 1},
    {TensorProto::STRING, "string", TypedField::kString, 0, 0},
    {TensorProto::COMPLEX64, "complex64", TypedField::kFloat, 64, 0, 2},
    {TensorProto::COMPLEX128, "complex128", TypedField::kDouble, 128, 0, 2},
    {TensorProto::FLOAT8E4M3FN, "float8e4m3fn", TypedField::kInt32, 8, 0},
    {TensorProto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", TypedField::kInt32, 8, 0},
    {TensorProto::FLOAT8E5M2, "float8e5m2", TypedField::kInt32, 8, 0},
    {TensorProto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", TypedField::kInt32, 8, 0},
    {TensorProto::FLOAT8E8M0, "float8e8m0", TypedField::kInt32, 8, 0},
    {TensorProto::FLOAT4E2M1, "float4e2m1", TypedField::kInt32, 4, 0},
};

const TypeRow* find_type(ElementType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

int field_size(const TensorProto& tensor, TypedField field) {
  switch (field) {
    case TypedField::kFloat:
      return tensor.float_data_size();
    case TypedField::kDouble:
      return tensor.double_data_size();
    case TypedField::kInt32:
      return tensor.int32_data_size();
    case TypedField::kInt64:
      return tensor.int64_data_size();
    case TypedField::kUInt64:
      return tensor.uint64_data_size();
    case TypedField::kString:
      return tensor.string_data_size();
    case TypedField::kNone:
      break;
  }
  return 0;
}

// How many places of a tensor hold values; ONNX allows one.
int value_fields(const TensorProto& tensor) {
  int fields = tensor.has_raw_data() + (tensor.data_location() == TensorProto::EXTERNAL);
  for (const TypedField field : {TypedField::kFloat, TypedField::kDouble, TypedField::kInt32, TypedField::kInt64,
                                 TypedField::kUInt64, TypedField::kString}) {
    fields += field_size(tensor, field) > 0;
  }
  return fields;
}

bool is_packed(const TypeRow& row) { return row.stored_bits > 0 && row.stored_bits < 8; }

// Bytes of `count` elements in raw_data or external data; `count` has been checked by element_count().
uint64_t stored_size(const TypeRow& row, int64_t count) {
  const auto bits = static_cast<uint64_t>(row.stored_bits);
  return is_packed(row) ? (static_cast<uint64_t>(count) * bits + 7) / 8 : static_cast<uint64_t>(count) * (bits / 8);
}

Status check_inline_size(const TensorProto& tensor, const TypeRow& row, int64_t count, const std::string& label) {
  uint64_t found, needed;
  const char* unit = "bytes";
  if (tensor.has_raw_data()) {
    if (row.stored_bits == 0) {
      return Status::invalid(fmt::format("tensor {} keeps {} values as raw data", in_quotes(label), row.name));
    }
    found = tensor.raw_data().size();
    needed = stored_size(row, count);
  } else {
    unit = "values";
    found = static_cast<uint64_t>(field_size(tensor, row.field));
    needed = is_packed(row) ? stored_size(row, count) : static_cast<uint64_t>(count) * row.per_element;
  }
  if (found == needed) return Status::ok();
  return Status::invalid(
      fmt::format("tensor {} holds {} {} of {}, its shape needs {}", in_quotes(label), found, unit, row.name, needed));
}

struct ExternalPlace {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Expected<ExternalPlace> external_place(const TensorProto& tensor, const std::string& label) {
  ExternalPlace place;
  std::set<std::string_view> seen;
  for (const ::onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (!seen.insert(entry.key()).second) {
      return Status::invalid(fmt::format("external data of tensor {}: key {} stands twice; allowed: once",
                                         in_quotes(label), in_quotes(entry.key())));
    }
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const std::optional<int64_t> number = parse_int64(entry.value());
    if (!number || *number < 0) {
      return Status::invalid(fmt::format("external data of tensor {}: {} is {}; allowed: a number of 0 and more",
                                         in_quotes(label), entry.key(), in_quotes(entry.value())));
    }
    if (entry.key() == "offset") place.offset = static_cast<uint64_t>(*number);
    if (entry.key() == "length") place.length = static_cast<uint64_t>(*number);
  }
  return place;
}

Expected<std::vector<uint8_t>> external_bytes(const TensorProto& tensor, uint64_t size, const std::string& label,
                                              ModelFiles& files) {
  Expected<ExternalPlace> place = external_place(tensor, label);
  if (!place) return place.status();
  if (place->length && *place->length != size) {
    return Status::invalid(fmt::format("external data of tensor {} has length {}, its shape needs {}", in_quotes(label),
                                       *place->length, size));
  }
  return files.read_external(place->location, place->offset, size, label);
}

// Two elements a byte, the first in the low half -> one element a byte.
std::vector<uint8_t> unpack_4bit(const std::vector<uint8_t>& packed, size_t count, bool is_signed) {
  std::vector<uint8_t> bytes(count);
  for (size_t index = 0; index < count; ++index) {
    const uint8_t nibble = index % 2 == 0 ? packed[index / 2] & 0xf : packed[index / 2] >> 4;
    bytes[index] = is_signed && nibble >= 8 ? nibble | 0xf0 : nibble;
  }
  return bytes;
}

// Stores the values of a repeated field in `width` bytes each, refusing those that lie outside [low, high].
template <typename Field>
Expected<std::vector<uint8_t>> narrow(const Field& field, size_t width, int64_t low, int64_t high,
                                      const std::string& label) {
  std::vector<uint8_t> bytes(static_cast<size_t>(field.size()) * width);
  for (int index = 0; index < field.size(); ++index) {
    const auto value = static_cast<int64_t>(field[index]);
    if (value < low || value > high) {
      return Status::invalid(fmt::format("tensor {} holds {}; allowed: {} to {}", in_quotes(label), value, low, high));
    }
    std::memcpy(bytes.data() + static_cast<size_t>(index) * width, &value, width);
  }
  return bytes;
}

template <typename Field>
std::vector<uint8_t> copy_field(const Field& field) {
  std::vector<uint8_t> bytes(static_cast<size_t>(field.size()) * sizeof(field[0]));
  if (!bytes.empty()) std::memcpy(bytes.data(), field.data(), bytes.size());
  return bytes;
}

Expected<std::vector<uint8_t>> typed_bytes(const TensorProto& tensor, const TypeRow& row, const std::string& label) {
  const auto limits = [&]<typename T>(T) {
    return narrow(tensor.int32_data(), sizeof(T), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), label);
  };
  switch (row.type) {
    case TensorProto::FLOAT:
      return copy_field(tensor.float_data());
    case TensorProto::DOUBLE:
      return copy_field(tensor.double_data());
    case TensorProto::INT32:
      return copy_field(tensor.int32_data());
    case TensorProto::INT64:
      return copy_field(tensor.int64_data());
    case TensorProto::UINT64:
      return copy_field(tensor.uint64_data());
    case TensorProto::INT8:
      return limits(int8_t{});
    case TensorProto::INT16:
      return limits(int16_t{});
    case TensorProto::BOOL:
      return narrow(tensor.int32_data(), 1, 0, 1, label);
    case TensorProto::UINT32:
      return narrow(tensor.uint64_data(), 4, 0, std::numeric_limits<uint32_t>::max(), label);
    case TensorProto::UINT8:
    case TensorProto::INT4:
    case TensorProto::UINT4:
      return limits(uint8_t{});
    default:
      return limits(uint16_t{});
  }
}

}  // namespace

std::string element_type_name(ElementType type) {
  const TypeRow* row = find_type(type);
  return row != nullptr ? row->name : fmt::format("element type {}", type);
}

std::optional<DType> to_dtype(ElementType type) {
  const TypeRow* row = find_type(type);
  return row != nullptr ? parse_dtype(row->name) : std::nullopt;
}

size_t element_bytes(ElementType type) {
  const TypeRow* row = find_type(type);
  return row != nullptr ? row->decoded_bytes : 0;
}

std::optional<int64_t> element_count(std::span<const int64_t> dims) {
  // Room for 16 bytes an element, the largest that there is.
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 16;
  int64_t count = 1;
  bool has_zero = false;
  for (const int64_t dim : dims) {
    if (dim == 0)
      has_zero = true;
    else if (dim > kMax / count)
      return std::nullopt;
    else
      count *= dim;
  }
  return has_zero ? 0 : count;
}

std::optional<size_t> sole_axis_from_end(std::span<const int64_t> dims) {
  std::optional<size_t> sole;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) continue;
    if (sole) return std::nullopt;
    sole = dims.size() - 1 - axis;
  }
  return sole;
}

Expected<std::vector<int64_t>> check_tensor(const TensorProto& tensor, const std::string& label) {
  if (static_cast<size_t>(tensor.dims_size()) > kMaxRank) {
    return Status::invalid(
        fmt::format("tensor {} has rank {}; allowed: up to {}", in_quotes(label), tensor.dims_size(), kMaxRank));
  }
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  for (const int64_t dim : dims) {
    if (dim < 0) {
      return Status::invalid(
          fmt::format("tensor {} has a dimension of {}; allowed: 0 and more", in_quotes(label), dim));
    }
  }
  const std::optional<int64_t> count = element_count(dims);
  if (!count) {
    return Status::invalid(
        fmt::format("tensor {} has shape [{}], too large to address", in_quotes(label), fmt::join(dims, ", ")));
  }
  if (tensor.has_segment()) {
    return Status::invalid(
        fmt::format("tensor {} is stored in segments, which ONNX does not define", in_quotes(label)));
  }
  if (const int fields = value_fields(tensor); fields > 1) {
    return Status::invalid(fmt::format("tensor {} holds values in {} fields; allowed: one", in_quotes(label), fields));
  }
  const TypeRow* row = find_type(tensor.data_type());
  if (row != nullptr && tensor.data_location() != TensorProto::EXTERNAL) {
    GEMMC_RETURN_IF_ERROR(check_inline_size(tensor, *row, *count, label));
  }
  return dims;
}

Expected<OnnxTensor> decode_tensor(const TensorProto& tensor, const std::string& label, ModelFiles& files) {
  Expected<std::vector<int64_t>> dims = check_tensor(tensor, label);
  if (!dims) return dims.status();
  const TypeRow* row = find_type(tensor.data_type());
  if (row == nullptr || row->decoded_bytes == 0) {
    return Status::unsupported(
        fmt::format("tensor {} holds {}", in_quotes(label), element_type_name(tensor.data_type())));
  }
  const int64_t count = *element_count(*dims);
  GEMMC_RETURN_IF_ERROR(tensor.data_location() == TensorProto::EXTERNAL
                            ? Status::ok()
                            : files.charge(static_cast<uint64_t>(count) * row->decoded_bytes, label));
  Expected<std::vector<uint8_t>> bytes = std::vector<uint8_t>();
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    bytes = external_bytes(tensor, stored_size(*row, count), label, files);
  } else if (tensor.has_raw_data()) {
    bytes = std::vector<uint8_t>(tensor.raw_data().begin(), tensor.raw_data().end());
  } else {
    bytes = typed_bytes(tensor, *row, label);
  }
  if (!bytes) return bytes.status();
  if (is_packed(*row)) {
    *bytes = unpack_4bit(*bytes, static_cast<size_t>(count), row->type == TensorProto::INT4);
  }
  if (row->type == TensorProto::BOOL) {
    for (uint8_t& byte : *bytes) byte = byte != 0;
  }
  return OnnxTensor{row->type, *std::move(dims), *std::move(bytes)};
}

}  // namespace gemmc
