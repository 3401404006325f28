#include "runtime/memory_cache.h"

#include <exception>
#include <future>
#include <mutex>
#include <unordered_map>

namespace gemmc {

using Outcome = Expected<std::shared_ptr<const Kernel>>;

struct MemoryCache::State {
  mutable std::mutex mutex;
  std::unordered_map<std::string, std::shared_future<Outcome>> kernels;
  size_t made_count = 0;
};

MemoryCache::MemoryCache() : state_(std::make_unique<State>()) {}
MemoryCache::~MemoryCache() = default;

Outcome MemoryCache::get_or_make(const std::string& key_text, const Make& make) {
  std::promise<Outcome> promise;
  {
    std::unique_lock lock(state_->mutex);
    if (const auto found = state_->kernels.find(key_text); found != state_->kernels.end()) {
      const std::shared_future<Outcome> future = found->second;
      lock.unlock();
      return future.get();
    }
    state_->kernels.emplace(key_text, promise.get_future().share());
    ++state_->made_count;
  }
  const auto forget = [&] {
    const std::lock_guard lock(state_->mutex);
    state_->kernels.erase(key_text);
  };
  try {
    Outcome outcome = make();
    if (!outcome) forget();
    promise.set_value(outcome);
    return outcome;
  } catch (...) {
    forget();
    promise.set_exception(std::current_exception());
    throw;
  }
}

size_t MemoryCache::made_count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->made_count;
}

}  // namespace gemmc
