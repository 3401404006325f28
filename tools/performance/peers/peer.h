// A library that gemmc is measured against: opened at run time, found or skipped by name.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/dtype.h"
#include "tools/performance/contender.h"
#include "tools/performance/product.h"

namespace gemmc {

// Where peers may be installed.
struct PeerPlaces {
  std::filesystem::path python_prefix;     // the virtual environment whose wheels hold OpenBLAS, oneDNN and others
  std::filesystem::path module_directory;  // where the build puts the wrapper modules, see peers/module.h
};

struct PeerTask {
  DType dtype;
  Product product;
  Operands operands;
  // B is the same in every call: the library may lay it out as it likes before the first one.
  bool has_packed_b = false;
};

class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  // Version and what it says about the code it chose for this CPU.
  virtual std::string version() const = 0;
  // Null where the library has nothing for this: the type, the sizes, or a packed B.
  virtual std::unique_ptr<Contender> prepare(const PeerTask& task) = 0;
};

}  // namespace gemmc
