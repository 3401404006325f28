#include "compiler/own_stack.h"

#include <fmt/format.h>
#include <pthread.h>

#include <exception>
#include <system_error>

#include "core/float_state.h"

namespace gemmc {
namespace {

// What a main thread usually has. Only the pages that are touched cost memory.
constexpr size_t kStackBytes = size_t{8} << 20;

struct Run {
  const std::function<void()>& body;
  std::exception_ptr thrown;
};

void* run(void* argument) {
  Run& run = *static_cast<Run*>(argument);
  const DefaultFloatState state;  // a new thread has its maker's
  try {
    run.body();
  } catch (...) {
    run.thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

Status run_on_own_stack(const std::function<void()>& body) {
  Run task{body, nullptr};
  pthread_t thread;
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attributes, kStackBytes);
    if (error == 0) error = pthread_create(&thread, &attributes, run, &task);
    pthread_attr_destroy(&attributes);
  }
  if (error != 0) {
    return Status::environment(
        fmt::format("cannot start a thread to compile on: {}", std::generic_category().message(error)));
  }
  pthread_join(thread, nullptr);
  if (task.thrown) std::rethrow_exception(task.thrown);
  return Status::ok();
}

}  // namespace gemmc
