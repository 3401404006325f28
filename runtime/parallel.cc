#include "runtime/parallel.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace gemmc {

struct TbbParallel::Arena {
  Arena(int32_t threads, TbbParallel* whole) : arena(threads), owner(whole) {}
  tbb::task_arena arena;
  TbbParallel* owner;

  static void run(void* context, int32_t parts, void (*body)(void*, int32_t), void* body_context) {
    static_cast<Arena*>(context)->arena.execute([&] {
      tbb::parallel_for(
          int32_t{0}, parts, [&](int32_t part) { body(body_context, part); }, tbb::simple_partitioner());
    });
  }
};

Expected<std::unique_ptr<TbbParallel>> TbbParallel::create(int32_t threads) {
  if (threads < 1 || threads > kMostThreads) {
    return Status::invalid(fmt::format("threads is {}; allowed: 1 to {}", threads, kMostThreads));
  }
  return std::unique_ptr<TbbParallel>(new TbbParallel(threads));
}

TbbParallel::TbbParallel(int32_t threads) : arena_(std::make_unique<Arena>(threads, this)), hook_{} {
  hook_.size_bytes = sizeof hook_;
  hook_.threads = threads;
  hook_.run = Arena::run;
  hook_.context = arena_.get();
}

TbbParallel::~TbbParallel() = default;

TbbParallel* TbbParallel::of(const gemmc_parallel& hook) { return static_cast<Arena*>(hook.context)->owner; }

}  // namespace gemmc
