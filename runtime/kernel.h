// A Kernel: machine code in this process, ready to call. Owned through shared_ptr; any thread may call it.
#pragma once

#include <memory>
#include <utility>

#include "core/artifact.h"
#include "core/status.h"
#include "gemmc/gemmc.h"
#include "runtime/kernel_entries.h"

namespace gemmc {

class Kernel {
 public:
  virtual ~Kernel() = default;
  const Artifact& artifact() const { return artifact_; }
  gemmc_kernel_entry entry() const { return entries_.call; }
  const KernelEntries& entries() const { return entries_; }
  // The typed entry, see docs/kernel-abi.md for its type.
  void* typed_entry() const { return typed_; }

 protected:
  Kernel(Artifact artifact, KernelEntries entries, void* typed)
      : artifact_(std::move(artifact)), entries_(entries), typed_(typed) {}

 private:
  Artifact artifact_;
  KernelEntries entries_;
  void* typed_;
};

// Links the object into this process (ORC LLJIT with JITLink; no page is writable and executable at once). Refuses a
// kernel for a CPU that this machine is not. The code stays mapped until the last shared_ptr is gone.
Expected<std::shared_ptr<const Kernel>> load_kernel(Artifact artifact);

}  // namespace gemmc
