// Objects -> the bytes of a static library, with a symbol table. The same objects give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/status.h"

namespace gemmc {

struct ObjectFile {
  std::string name;
  std::vector<uint8_t> bytes;
};

Expected<std::string> archive_bytes(const std::vector<ObjectFile>& objects);

}  // namespace gemmc
