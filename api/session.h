// A Session hands the compiler to the runtime: problem in, callable kernel out. Any thread may use it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "core/problem.h"
#include "core/status.h"
#include "core/target.h"
#include "runtime/kernel.h"
#include "runtime/memory_cache.h"

namespace gemmc {

class Session {
 public:
  explicit Session(Target target) : target_(std::move(target)) {}

  struct Result {
    std::shared_ptr<const Kernel> kernel;
    std::vector<std::string> dim_names;  // the problem's own names of the kernel's run-time dimensions
  };
  // Compiles while the caller waits, if the kernel is not in the cache.
  Expected<Result> kernel(const Problem& problem, const CompileOptions& options = {});

  const Target& target() const { return target_; }
  size_t compiled_count() const { return cache_.made_count(); }

 private:
  Target target_;
  MemoryCache cache_;
};

}  // namespace gemmc
