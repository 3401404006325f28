#include "compiler/onnx_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <system_error>

#include "core/text.h"
#include "onnx.pb.h"

namespace gemmc {
namespace {

// A subgraph is three messages inside each other: node, attribute, graph.
constexpr int kMaxMessageDepth = 3 * kMaxSubgraphDepth + 32;
constexpr uint64_t kMaxMessageBytes = std::numeric_limits<int>::max();  // protobuf's own limit

// 4-bit weights that are unpacked, cast to float64 and scaled need some 50 times their size along the way.
constexpr uint64_t kBytesPerStoredByte = 64;
constexpr uint64_t kMaxStoredBytes = uint64_t{1} << 56;  // keeps the product in range
constexpr uint64_t kBytesAlways = 64 << 20;
constexpr uint64_t kBytesPerCharge = 1024;  // each costs time however small it is

// An empty message of two bytes takes some 200 in memory. Honest models need 2 to 6 times their file's size.
constexpr uint64_t kParsedBytesPerByte = 32;
constexpr uint64_t kMaxParsedBytes = uint64_t{8} << 30;

// What parsing on this thread may still allocate. The allocator of an arena gets no argument that could carry it.
thread_local uint64_t parse_budget = 0;

void* allocate_block(size_t bytes) {
  if (bytes > parse_budget) throw std::bad_alloc();
  parse_budget -= bytes;
  return ::operator new(bytes);
}
void free_block(void* block, size_t bytes) { ::operator delete(block, bytes); }

std::string error_text(int error) { return std::error_code(error, std::generic_category()).message(); }

class RegularFile {
 public:
  static Expected<RegularFile> open(const std::filesystem::path& path) {
    // Non-blocking, since opening a pipe would wait for its writer.
    RegularFile file;
    file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file.descriptor_ < 0) {
      return Status::environment(fmt::format("cannot read {}: {}", in_quotes(path.native()), error_text(errno)));
    }
    struct stat info {};
    if (::fstat(file.descriptor_, &info) != 0) {
      return Status::environment(fmt::format("cannot read {}: {}", in_quotes(path.native()), error_text(errno)));
    }
    if (!S_ISREG(info.st_mode)) {
      return Status::environment(fmt::format("cannot read {}: not a regular file", in_quotes(path.native())));
    }
    file.size_ = static_cast<uint64_t>(info.st_size);
    // Holes hold nothing: a sparse file must not raise the limits.
    file.stored_bytes_ = std::min<uint64_t>(file.size_, static_cast<uint64_t>(info.st_blocks) * 512);
    return file;
  }

  RegularFile(RegularFile&& other) noexcept { *this = std::move(other); }
  RegularFile& operator=(RegularFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    size_ = other.size_;
    stored_bytes_ = other.stored_bytes_;
    return *this;
  }
  ~RegularFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor() const { return descriptor_; }
  uint64_t size() const { return size_; }
  uint64_t stored_bytes() const { return stored_bytes_; }

  // 0, or the error's number; a file that ends early is EIO.
  int read(uint64_t offset, std::vector<uint8_t>& bytes) const {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t count =
          ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return count < 0 ? errno : EIO;
      done += static_cast<size_t>(count);
    }
    return 0;
  }

 private:
  RegularFile() = default;

  int descriptor_ = -1;
  uint64_t size_ = 0;
  uint64_t stored_bytes_ = 0;
};

// Whether `path` is inside `folder`; both canonical.
bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace

ModelFiles::ModelFiles(const std::filesystem::path& model) : path_(model) {}
ModelFiles::~ModelFiles() = default;

Expected<const ::onnx::ModelProto*> ModelFiles::read_model() {
  Expected<RegularFile> file = RegularFile::open(path_);
  if (!file) return file.status();
  if (file->size() > kMaxMessageBytes) {
    return Status::invalid(
        fmt::format("the file has {} bytes; an ONNX model has at most {} and keeps larger weights in external data",
                    file->size(), kMaxMessageBytes));
  }
  stored_bytes_ += file->stored_bytes();

  const google::protobuf::LogSilencer silencer;  // the Status says it
  google::protobuf::io::FileInputStream stream(file->descriptor());
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMaxMessageDepth);
  parse_budget = std::min(file->size() * kParsedBytesPerByte + kBytesAlways, kMaxParsedBytes);
  ::onnx::ModelProto* model = nullptr;
  bool is_parsed = false;
  try {
    google::protobuf::ArenaOptions options;
    options.start_block_size = 64 << 10;
    options.max_block_size = 1 << 20;
    options.block_alloc = allocate_block;
    options.block_dealloc = free_block;
    arena_ = std::make_unique<google::protobuf::Arena>(options);
    model = google::protobuf::Arena::CreateMessage<::onnx::ModelProto>(arena_.get());
    is_parsed = model->ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
  } catch (const std::bad_alloc&) {
    return Status::invalid(
        fmt::format("the file's {} bytes make more than {} times as many in memory, or more than there "
                    "are",
                    file->size(), kParsedBytesPerByte));
  }
  if (stream.GetErrno() != 0) {
    return Status::environment(fmt::format("cannot read the file: {}", error_text(stream.GetErrno())));
  }
  if (!is_parsed) {
    return Status::invalid(
        fmt::format("not an ONNX model: cut short, malformed, or subgraphs nested deeper than {}", kMaxSubgraphDepth));
  }
  if (!model->has_graph()) return Status::invalid("not an ONNX model: it has no graph");
  return model;
}

Expected<std::vector<uint8_t>> ModelFiles::read_external(const std::string& location, uint64_t offset, uint64_t size,
                                                         const std::string& label) {
  const auto refused = [&](const char* reason) {
    return Status::invalid(
        fmt::format("external data of tensor {} is in {}: {}", in_quotes(label), in_quotes(location), reason));
  };
  const std::filesystem::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos) return refused("not a file name");
  if (relative.is_absolute()) return refused("an absolute path, but only files in the model's folder are read");
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) {
    return refused("a path with '..', but only files in the model's folder are read");
  }

  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  std::error_code error;
  const std::filesystem::path real_folder = std::filesystem::canonical(folder, error);
  if (error) return Status::environment(fmt::format("cannot read {}: {}", in_quotes(folder.native()), error.message()));
  const std::filesystem::path real_path = std::filesystem::canonical(folder / relative, error);
  if (error) {
    return Status::environment(fmt::format("cannot read the external data of tensor {}, {}: {}", in_quotes(label),
                                           in_quotes((folder / relative).native()), error.message()));
  }
  if (!is_inside(real_path, real_folder)) {
    return refused("a symbolic link that leaves the model's folder, but only files inside are read");
  }

  Expected<RegularFile> file = RegularFile::open(real_path);
  if (!file) return file.status();
  if (offset > file->size() || size > file->size() - offset) {
    return Status::invalid(fmt::format("external data of tensor {}: {} bytes at offset {} of {}, which has {}",
                                       in_quotes(label), size, offset, in_quotes(location), file->size()));
  }
  if (external_files_.insert(real_path.native()).second) stored_bytes_ += file->stored_bytes();
  GEMMC_RETURN_IF_ERROR(charge(size, label));
  std::vector<uint8_t> bytes(size);
  if (const int failure = file->read(offset, bytes); failure != 0) {
    return Status::environment(fmt::format("cannot read {}: {}", in_quotes(real_path.native()), error_text(failure)));
  }
  return bytes;
}

Status ModelFiles::charge(uint64_t bytes, const std::string& label) {
  const uint64_t allowed = std::min(stored_bytes_, kMaxStoredBytes) * kBytesPerStoredByte + kBytesAlways;
  if (bytes > allowed || charged_bytes_ > allowed - bytes) {
    return Status::invalid(fmt::format(
        "the constants and nodes take more than {} bytes, {} times what the model's files hold and {} more, from {} on",
        allowed, kBytesPerStoredByte, kBytesAlways, in_quotes(label)));
  }
  charged_bytes_ += bytes + kBytesPerCharge;
  return Status::ok();
}

}  // namespace gemmc
