// Threads for calls, on oneTBB: what gemmc_parallel is where the host brings none of its own.
#pragma once

#include <cstdint>
#include <memory>

#include "core/status.h"
#include "gemmc/gemmc.h"

namespace gemmc {

// Any number of calls may use it at once; each has `threads` threads, its own among them. Workers are oneTBB's, shared
// by the process. Invalid argument: fewer than 1 or more than kMostThreads.
class TbbParallel {
 public:
  static constexpr int32_t kMostThreads = 4096;
  static Expected<std::unique_ptr<TbbParallel>> create(int32_t threads);
  ~TbbParallel();
  TbbParallel(const TbbParallel&) = delete;
  TbbParallel& operator=(const TbbParallel&) = delete;

  // Valid as long as this.
  const gemmc_parallel& hook() const { return hook_; }
  // The one whose hook() this is.
  static TbbParallel* of(const gemmc_parallel& hook);

 private:
  struct Arena;
  explicit TbbParallel(int32_t threads);
  std::unique_ptr<Arena> arena_;  // the hook's context
  gemmc_parallel hook_;
};

}  // namespace gemmc
