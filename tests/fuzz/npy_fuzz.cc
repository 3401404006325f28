// Any bytes as a .npy file.
#include <fstream>

#include "compiler/npy.h"
#include "tests/fuzz/invariants.h"
#include "tests/support/temporary_folder.h"

namespace {

using namespace gemmc;

Expected<Tensor> read_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return read_npy(path);
}

void check_tensor(const Tensor& tensor, size_t file_bytes, const std::filesystem::path& path) {
  size_t bytes = size_bytes(tensor.dtype);
  for (const int64_t extent : tensor.shape) {
    testing::require(extent >= 0, "an extent is not negative");
    bytes *= static_cast<size_t>(extent);
  }
  testing::require(tensor.bytes.size() == bytes, "the bytes fit the shape");
  testing::require(bytes <= file_bytes, "the values come from the file");
  if (tensor.shape.size() > 1000) return;  // what read_npy() takes and write_npy() does not
  const Status written = write_npy(path, tensor);
  testing::require(written.is_ok(), "an array that was read can be written", written.message());
  const Expected<Tensor> again = read_npy(path);
  testing::require(again.is_ok(), "what was written can be read", again.status().message());
  testing::require(again->dtype == tensor.dtype && again->shape == tensor.shape && again->bytes == tensor.bytes,
                   "an array survives its file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const testing::TemporaryFolder folder;
  const Expected<Tensor> tensor = read_bytes(folder.path() / "in.npy", testing::as_text(data, size));
  if (tensor) {
    check_tensor(*tensor, size, folder.path() / "out.npy");
  } else {
    testing::check_refusal(tensor.status());
  }
  return 0;
}
