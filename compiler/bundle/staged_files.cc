#include "compiler/bundle/staged_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace gemmc {
namespace {

namespace fs = std::filesystem;

Status failure(const char* what, const fs::path& path, int error) {
  return Status::environment(fmt::format("{} {}: {}", what, path.string(), std::generic_category().message(error)));
}

}  // namespace

Expected<StagedFiles> StagedFiles::create(const fs::path& directory) {
  StagedFiles files;
  files.directory_ = directory;
  std::error_code error;
  const fs::path absolute = fs::absolute(directory, error);
  if (error) return failure("cannot find directory", directory, error.value());
  fs::path partial;
  for (const fs::path& part : absolute) {
    partial /= part;
    if (fs::create_directory(partial, error)) files.made_directories_.push_back(partial);
    if (error) return failure("cannot create directory", directory, error.value());
  }
  std::string staging = (absolute / ".gemmc-XXXXXX").string();
  if (mkdtemp(staging.data()) == nullptr) return failure("cannot write into directory", directory, errno);
  files.staging_ = staging;
  return files;
}

StagedFiles::StagedFiles(StagedFiles&& other) noexcept
    : directory_(std::move(other.directory_)),
      staging_(std::exchange(other.staging_, {})),
      made_directories_(std::exchange(other.made_directories_, {})),
      names_(std::move(other.names_)) {}

StagedFiles::~StagedFiles() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
  while (!made_directories_.empty()) {
    fs::remove(made_directories_.back(), ignored);  // fails, as it should, if it is not empty
    made_directories_.pop_back();
  }
}

Status StagedFiles::write(const std::string& file_name, std::string_view bytes) {
  const fs::path final_path = directory_ / file_name;
  const int file = open(staging_path(file_name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return failure("cannot write", final_path, errno);
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      close(file);
      return failure("cannot write", final_path, error);
    }
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  // Some file systems report a full disk only here.
  if (close(file) != 0) return failure("cannot write", final_path, errno);
  add(file_name);
  return Status::ok();
}

Expected<std::vector<fs::path>> StagedFiles::commit() {
  std::error_code error;
  for (const std::string& name : names_) {
    if (fs::is_directory(directory_ / name, error)) return failure("cannot write", directory_ / name, EISDIR);
  }
  std::vector<fs::path> written;
  for (const std::string& name : names_) {
    fs::rename(staging_path(name), directory_ / name, error);
    if (error) return failure("cannot write", directory_ / name, error.value());
    written.push_back(directory_ / name);
  }
  fs::remove_all(staging_, error);
  staging_.clear();
  made_directories_.clear();
  return written;
}

}  // namespace gemmc
