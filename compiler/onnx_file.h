// The files of a model: the protobuf message, and the external data beside it.
//
// What is read and evaluated is charged here, so that a small file cannot ask for unbounded memory or time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace google::protobuf {
class Arena;
}
namespace onnx {
class ModelProto;
}

namespace gemmc {

// If, Loop and Scan bodies inside each other.
inline constexpr int kMaxSubgraphDepth = 32;

class ModelFiles {
 public:
  explicit ModelFiles(const std::filesystem::path& model);
  ~ModelFiles();

  // The message, which lives as long as this object. Errors: environment (cannot be read), invalid argument (no ONNX
  // model, or one that is out of proportion in memory).
  Expected<const ::onnx::ModelProto*> read_model();

  // `size` bytes at `offset` of the file that the tensor `label` names, for which only files inside the model's folder
  // are opened: no absolute path, no "..", no symbolic link that leaves it.
  // Charges the bytes.
  Expected<std::vector<uint8_t>> read_external(const std::string& location, uint64_t offset, uint64_t size,
                                               const std::string& label);

  // Counts bytes that reading, evaluating or describing `label` is about to make, and refuses what is out of proportion
  // to the bytes that the model's files hold.
  Status charge(uint64_t bytes, const std::string& label);

 private:
  std::filesystem::path path_;
  std::unique_ptr<google::protobuf::Arena> arena_;
  uint64_t stored_bytes_ = 0;
  uint64_t charged_bytes_ = 0;
  std::set<std::string> external_files_;
};

}  // namespace gemmc
