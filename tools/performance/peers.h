// The libraries that gemmc is measured against. Each is opened at run time, and found or skipped by name.
//
// All run one thread: find_peers() sets the environment they read before it opens them, and drops variables that would
// make one choose other code than it would for its users.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/performance/contender.h"

namespace gemmc {

class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  // Version and what it says about the code it chose for this CPU.
  virtual std::string version() const = 0;
  // float32; null where the library has nothing for this product.
  virtual std::unique_ptr<Contender> prepare(const Product& product, const Operands& operands) = 0;
};

struct PeerSearch {
  std::vector<std::unique_ptr<Peer>> found;
  std::vector<std::string> skipped;  // "BLIS: <why>"
};

// `python_prefix`: the virtual environment whose wheels hold OpenBLAS and oneDNN. `module_directory`: where the build
// puts the wrapper modules of the header-only and static libraries (Eigen, LIBXSMM).
PeerSearch find_peers(const std::filesystem::path& python_prefix, const std::filesystem::path& module_directory);

}  // namespace gemmc
