// Files that appear in a directory together: written into a temporary directory inside it, then renamed into place.
// Whatever fails before commit() leaves the directory as it was. One thread at a time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace gemmc {

class StagedFiles {
 public:
  // Creates `directory`, with its parents, if it is missing.
  static Expected<StagedFiles> create(const std::filesystem::path& directory);
  StagedFiles(StagedFiles&& other) noexcept;
  StagedFiles& operator=(StagedFiles&&) = delete;
  // Removes what was not committed, and the directories that create() made if they are still empty.
  ~StagedFiles();

  Status write(const std::string& file_name, std::string_view bytes);
  // Where a program that writes a file itself has to put it; add() then takes it in. Both names are absolute.
  std::filesystem::path staging_path(const std::string& file_name) const { return staging_ / file_name; }
  void add(const std::string& file_name) { names_.push_back(file_name); }

  // Renames every file into the directory, in the order they were added. Existing files are replaced.
  Expected<std::vector<std::filesystem::path>> commit();

 private:
  StagedFiles() = default;

  std::filesystem::path directory_;                      // as the caller wrote it, for messages
  std::filesystem::path staging_;                        // empty after commit() and after a move
  std::vector<std::filesystem::path> made_directories_;  // outermost first
  std::vector<std::string> names_;
};

}  // namespace gemmc
