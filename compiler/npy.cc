#include "compiler/npy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <system_error>

#include "compiler/held_signals.h"
#include "core/text.h"

namespace gemmc {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors hold little-endian values");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;  // of the values in the file, as the format asks

struct TypeRow {
  DType dtype;
  std::string_view descr;
};
// In the order of DType.
constexpr TypeRow kTypes[] = {
    {DType::kBFloat16, "<u2"}, {DType::kFloat16, "<f2"}, {DType::kFloat32, "<f4"},
    {DType::kFloat64, "<f8"},  {DType::kInt32, "<i4"},   {DType::kInt64, "<i8"},
    {DType::kUInt32, "<u4"},   {DType::kUInt64, "<u8"},  {DType::kInt8, "|i1"},
};

// The header's text: a Python dictionary with the three keys of the format, each once and in any order.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  // Fills dtype and shape.
  Status parse(Tensor& tensor) {
    bool has_descr = false, has_order = false, has_shape = false;
    if (!accept("{")) return malformed("'{'");
    while (!accept("}")) {
      const std::optional<std::string_view> key = quoted_word();
      if (!key || !accept(":")) return malformed("a key and ':'");
      bool* seen = *key == "descr"           ? &has_descr
                   : *key == "fortran_order" ? &has_order
                   : *key == "shape"         ? &has_shape
                                             : nullptr;
      if (seen == nullptr || *seen) {
        return Status::invalid("unknown or repeated key " + in_quotes(*key) +
                               " in the header; allowed: descr, fortran_order, shape, each once");
      }
      *seen = true;
      GEMMC_RETURN_IF_ERROR(*key == "descr"   ? read_descr(tensor.dtype)
                            : *key == "shape" ? read_shape(tensor.shape)
                                              : read_order());
      if (!accept(",") && !is_next('}')) return malformed("',' or '}'");
    }
    if (!text_.empty()) return malformed("nothing after '}'");
    if (has_descr && has_order && has_shape) return Status::ok();
    return Status::invalid("the header lacks a key; needed: descr, fortran_order, shape");
  }

 private:
  Status malformed(std::string_view expected) const {
    return Status::invalid(fmt::format("malformed header: expected {}, found {}", expected, in_quotes(text_)));
  }

  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }
  bool is_next(char c) const { return text_.starts_with(c); }
  // A token and the space around it.
  bool accept(std::string_view token) {
    skip_space();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    skip_space();
    return true;
  }

  std::optional<std::string_view> quoted_word() {
    skip_space();
    if (!is_next('\'') && !is_next('"')) return std::nullopt;
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view word = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return word;
  }

  Status read_descr(DType& dtype) {
    const std::optional<std::string_view> descr = quoted_word();
    if (!descr) return malformed("one element type in quotes");
    for (const TypeRow& row : kTypes) {
      if (row.descr != *descr) continue;
      dtype = row.dtype;
      return Status::ok();
    }
    return Status::invalid("element type " + in_quotes(*descr) +
                           "; allowed: <f2, <f4, <f8, <i4, <i8, <u4, <u8, |i1, and <u2 for the bits of bfloat16");
  }

  Status read_order() {
    if (accept("False")) return Status::ok();
    if (accept("True"))
      return Status::invalid("the array is in Fortran order; allowed: C order (numpy.ascontiguousarray makes it)");
    return malformed("False or True");
  }

  Status read_shape(std::vector<int64_t>& shape) {
    if (!accept("(")) return malformed("'('");
    bool had_comma = true;  // before the first entry
    while (!accept(")")) {
      const size_t length = std::min(text_.find_first_not_of("0123456789"), text_.size());
      const std::optional<int64_t> extent = parse_int64(text_.substr(0, length));
      if (!had_comma || !extent) return malformed("a dimension of up to 2^63-1, or ')'");
      text_.remove_prefix(length);
      shape.push_back(*extent);
      had_comma = accept(",");
    }
    if (shape.size() == 1 && !had_comma) return malformed("a tuple such as (3,)");
    return Status::ok();
  }

  std::string_view text_;
};

// Nothing where the bytes would be 2^63 or more.
std::optional<int64_t> byte_count(const Tensor& tensor) {
  for (int64_t extent : tensor.shape) {
    if (extent == 0) return 0;
  }
  int64_t bytes = static_cast<int64_t>(size_bytes(tensor.dtype));
  for (int64_t extent : tensor.shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

// Reads `size` bytes that the file's size says are there.
template <typename Buffer>
bool read_bytes(std::istream& stream, Buffer& buffer, size_t size) {
  buffer.resize(size);
  return static_cast<bool>(stream.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(size)));
}

Status read_stream(std::istream& stream, int64_t file_bytes, Tensor& tensor) {
  const Status truncated = Status::invalid("the file ends within the header; allowed: a whole .npy file");
  const Status unreadable = Status::environment("the file cannot be read to its end");
  std::string start;
  if (file_bytes < 10) return truncated;
  if (!read_bytes(stream, start, 8)) return unreadable;
  if (!start.starts_with(kMagic)) return Status::invalid("not a .npy file: it does not begin with \\x93NUMPY");
  const int major = static_cast<uint8_t>(start[6]);
  const int minor = static_cast<uint8_t>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return Status::invalid(fmt::format("version {}.{} of the .npy format; allowed: 1.0, 2.0, 3.0", major, minor));
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  std::string length_text;
  if (file_bytes < static_cast<int64_t>(8 + length_bytes)) return truncated;
  if (!read_bytes(stream, length_text, length_bytes)) return unreadable;
  uint32_t header_bytes = 0;
  std::memcpy(&header_bytes, length_text.data(), length_bytes);
  const int64_t value_bytes = file_bytes - static_cast<int64_t>(8 + length_bytes) - header_bytes;
  if (value_bytes < 0) return truncated;
  std::string header;
  if (!read_bytes(stream, header, header_bytes)) return unreadable;
  GEMMC_RETURN_IF_ERROR(HeaderParser(header).parse(tensor));
  const std::optional<int64_t> expected_bytes = byte_count(tensor);
  if (expected_bytes != value_bytes) {
    return Status::invalid(fmt::format("the file has {} bytes of values; allowed: {} for its shape and type",
                                       value_bytes,
                                       expected_bytes ? std::to_string(*expected_bytes) : "fewer than 2^63"));
  }
  return read_bytes(stream, tensor.bytes, static_cast<size_t>(value_bytes)) ? Status::ok() : unreadable;
}

Status about_file(const Status& status, const std::filesystem::path& path) {
  return {status.code(), path.string() + ": " + status.message()};
}

std::string header_text(const Tensor& tensor) {
  std::string shape;
  for (int64_t extent : tensor.shape) shape += std::to_string(extent) + (tensor.shape.size() == 1 ? "," : ", ");
  if (tensor.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 kTypes[static_cast<size_t>(tensor.dtype)].descr, shape);
  const size_t length_before = kMagic.size() + 4;
  text.append(kAlignment - 1 - (length_before + text.size()) % kAlignment, ' ');
  return text + '\n';
}

Status write_file(const std::filesystem::path& path, const Tensor& tensor) {
  std::ofstream stream(path, std::ios::binary);
  const std::string header = header_text(tensor);
  const uint16_t header_bytes = static_cast<uint16_t>(header.size());
  stream << kMagic << '\x01' << '\0';
  stream.write(reinterpret_cast<const char*>(&header_bytes), sizeof(header_bytes));
  stream << header;
  stream.write(reinterpret_cast<const char*>(tensor.bytes.data()), static_cast<std::streamsize>(tensor.bytes.size()));
  stream.close();
  return stream ? Status::ok() : Status::environment(std::string("cannot be written: ") + std::strerror(errno));
}

// Removes its file, unless that has got another name.
struct TemporaryFile {
  explicit TemporaryFile(std::filesystem::path path) : name(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(name, ignored);
  }
  const std::filesystem::path name;
};

}  // namespace

Expected<Tensor> read_npy(const std::filesystem::path& path) {
  try {
    std::error_code error;
    // Anything but a file might have no end.
    if (!std::filesystem::is_regular_file(path, error)) {
      const std::string reason = error                           ? error.message()
                                 : std::filesystem::exists(path) ? "not a file"
                                                                 : "no such file";
      return about_file(Status::environment("cannot be read: " + reason), path);
    }
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return about_file(Status::environment(std::string("cannot be read: ") + std::strerror(errno)), path);
    Tensor tensor;
    const Status status = read_stream(stream, static_cast<int64_t>(std::filesystem::file_size(path)), tensor);
    if (!status.is_ok()) return about_file(status, path);
    return tensor;
  } catch (const std::exception& error) {  // the file system, or no memory
    return about_file(Status::environment(std::string("cannot be read: ") + error.what()), path);
  }
}

Status write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  if (byte_count(tensor) != static_cast<int64_t>(tensor.bytes.size()) || tensor.shape.size() > 1000) {
    return Status::internal("write_npy: the tensor's bytes do not fit its shape");
  }
  static std::atomic<int> counter = 0;
  try {
    // A device or a pipe is not replaced by a file. A link is followed, so that it stays one.
    const bool exists = std::filesystem::exists(path);
    if (exists && !std::filesystem::is_regular_file(path)) {
      return about_file(Status::environment("cannot be written: not a file"), path);
    }
    const std::filesystem::path target = exists ? std::filesystem::canonical(path) : path;
    const HeldSignals held;  // until the temporary file has got its name or is removed
    const TemporaryFile temporary(target.parent_path() / fmt::format(".gemmc-{}-{}.tmp", getpid(), counter++));
    const Status status = write_file(temporary.name, tensor);
    if (!status.is_ok()) return about_file(status, path);
    std::filesystem::rename(temporary.name, target);
    return status;
  } catch (const std::exception& error) {
    return about_file(Status::environment(std::string("cannot be written: ") + error.what()), path);
  }
}

}  // namespace gemmc
