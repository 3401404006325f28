// The symbols of an object file, as `nm` lists them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace gemmc::testing {

struct ObjectSymbols {
  std::set<std::string> defined;  // those that other files see
  std::set<std::string> undefined;
};

// Fails the test, and lists nothing, where the bytes are no object file.
ObjectSymbols object_symbols(const std::vector<uint8_t>& object);

}  // namespace gemmc::testing
