// The C entry points of include/gemmc/gemmc.h over Session. No exception leaves them.
#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <vector>

#include "api/overlap.h"
#include "api/session.h"
#include "api/thread_scratch.h"
#include "compiler/call_size.h"
#include "compiler/node_json.h"
#include "core/float_state.h"
#include "core/loop_form.h"
#include "core/problem_string.h"
#include "core/resolved_loops.h"
#include "core/text.h"
#include "gemmc/gemmc.h"
#include "runtime/parallel.h"

#define GEMMC_EXPORT __attribute__((visibility("default")))

struct gemmc_session {
  explicit gemmc_session(gemmc::Target target) : session(std::move(target)) {}
  gemmc::Session session;
};

struct gemmc_kernel {
  std::shared_ptr<const gemmc::Kernel> kernel;
  std::vector<std::string> dim_names;
  gemmc::LoopForm form;
  gemmc::ElementBytes element_bytes = {};
  int64_t packed_b_bytes = 0;  // 0: B is read where it is
  std::string note;
};

namespace {

using gemmc::Expected;
using gemmc::Problem;
using gemmc::Status;

thread_local std::string last_error;

gemmc_status report(gemmc_status status, const char* message) noexcept {
  try {
    last_error = message;
  } catch (...) {
    last_error.clear();
  }
  return status;
}

// Runs `body`, which returns a Status; whatever it throws becomes one.
template <typename Body>
gemmc_status guarded(Body body) noexcept {
  try {
    const Status status = body();
    return status.is_ok() ? GEMMC_OK : report(static_cast<gemmc_status>(status.code()), status.message().c_str());
  } catch (const std::bad_alloc&) {
    return report(GEMMC_ENVIRONMENT, "out of memory");
  } catch (const std::exception& error) {
    return report(GEMMC_INTERNAL, error.what());
  } catch (...) {
    return report(GEMMC_INTERNAL, "an exception of unknown type");
  }
}

struct Description {
  Problem problem;
  std::string node_name;  // this and the note are empty for problem strings
  std::string note;
};

Expected<Description> parse_description(const std::string& text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string::npos || text[start] != '{') {
    Expected<Problem> problem = gemmc::parse_problem(text);
    if (!problem) return problem.status();
    return Description{*std::move(problem), "", ""};
  }
  Expected<gemmc::Node> node = gemmc::parse_node_json(text, ".");
  if (!node) return node.status();
  Expected<Problem> problem = gemmc::node_to_problem(*node);
  if (!problem) return problem.status();
  return Description{*std::move(problem), node->name, gemmc::unbuilt_wishes(*node)};
}

size_t stride_count(const gemmc_kernel& kernel) { return static_cast<size_t>(kernel.form.stride_count); }

// What a kernel's uniform entry leaves unchecked because it costs time in every call, or refuses without a reason.
Status check_fields(const gemmc_kernel& kernel, const gemmc_call& call) {
  if (call.size_bytes < gemmc::least_call_bytes(kernel.form)) {
    return Status::invalid("size_bytes is " + std::to_string(call.size_bytes) + "; allowed: sizeof(gemmc_call), " +
                           std::to_string(sizeof call) + ", or more");
  }
  if (kernel.form.epilogue.size() > 0 && call.epilogue == nullptr) {
    return Status::invalid("epilogue is NULL; allowed: an array of " + std::to_string(kernel.form.epilogue.size()));
  }
  const bool packs_b = kernel.kernel->entries().pack_b != nullptr;
  if (packs_b && call.packed[1] == nullptr) {
    return Status::invalid("packed[1] is NULL; allowed: what gemmc_kernel_get_pack_b()'s function wrote");
  }
  const bool has_packed =
      call.packed[0] != nullptr || (!packs_b && call.packed[1] != nullptr) || call.packed[2] != nullptr;
  if (has_packed) return Status::invalid("packed is set; allowed: zero, it is reserved");
  if (call.parallel != nullptr &&
      (call.parallel->size_bytes < sizeof(gemmc_parallel) || call.parallel->run == nullptr)) {
    return Status::invalid("parallel has size_bytes " + std::to_string(call.parallel->size_bytes) + " and " +
                           (call.parallel->run == nullptr ? "no" : "a") +
                           " run; allowed: sizeof(gemmc_parallel), and a function");
  }
  constexpr uint64_t kMostBytes = std::numeric_limits<int64_t>::max();
  if ((call.scratch == nullptr) != (call.scratch_bytes == 0) || call.scratch_bytes > kMostBytes) {
    return Status::invalid("scratch is " + std::string(call.scratch == nullptr ? "" : "not ") +
                           "NULL and scratch_bytes is " + std::to_string(call.scratch_bytes) +
                           "; allowed: both zero, or memory and its size, up to " + std::to_string(kMostBytes));
  }
  for (const auto& [name, list, count] :
       {std::tuple{"dims", call.dims, kernel.dim_names.size()}, {"strides", call.strides, stride_count(kernel)}}) {
    if (list != nullptr || count == 0) continue;
    return Status::invalid(std::string(name) + " is NULL; allowed: an array of " + std::to_string(count));
  }
  for (size_t i = 0; i < kernel.dim_names.size(); ++i) {
    if (call.dims[i] >= 0) continue;
    return Status::invalid("dims[" + std::to_string(i) + "], " + gemmc::in_quotes(kernel.dim_names[i]) + ", is " +
                           std::to_string(call.dims[i]) + "; allowed: 0 and more");
  }
  return Status::ok();
}

}  // namespace

extern "C" {

GEMMC_EXPORT const char* gemmc_version(void) { return GEMMC_VERSION; }

GEMMC_EXPORT const char* gemmc_last_error(void) { return last_error.c_str(); }

GEMMC_EXPORT gemmc_status gemmc_session_create(const char* target, gemmc_session** session) {
  return guarded([&] {
    if (session == nullptr) return Status::invalid("session is NULL; allowed: a place for the session");
    *session = nullptr;
    Expected<gemmc::Target> parsed = gemmc::parse_target(target == nullptr ? "host" : target);
    if (!parsed) return parsed.status();
    GEMMC_RETURN_IF_ERROR(gemmc::check_runs_here(*parsed));
    *session = new gemmc_session(*std::move(parsed));
    return Status::ok();
  });
}

GEMMC_EXPORT void gemmc_session_free(gemmc_session* session) { delete session; }

GEMMC_EXPORT gemmc_status gemmc_session_kernel(gemmc_session* session, const char* description, gemmc_kernel** kernel) {
  return guarded([&] {
    const gemmc::DefaultFloatState state;
    if (kernel != nullptr) *kernel = nullptr;
    if (session == nullptr || description == nullptr || kernel == nullptr) {
      return Status::invalid("session, description or kernel is NULL; allowed: none of them");
    }
    Expected<Description> parsed = parse_description(description);
    if (!parsed) return parsed.status();
    Expected<gemmc::Session::Result> result = session->session.kernel(parsed->problem);
    if (!result) return result.status().with_node(parsed->node_name);
    const Problem& problem = result->kernel->artifact().problem;
    gemmc::LoopForm form = gemmc::loop_form(problem);
    const gemmc::ElementBytes bytes{static_cast<int64_t>(gemmc::size_bytes(gemmc::b_dtype(problem))),
                                    static_cast<int64_t>(gemmc::size_bytes(problem.dtype))};
    const gemmc_pack_entry pack_b = result->kernel->entries().pack_b;
    const int64_t packed_b_bytes = pack_b == nullptr ? 0 : pack_b(nullptr, nullptr);
    *kernel = new gemmc_kernel{
        std::move(result->kernel), std::move(result->dim_names), std::move(form), bytes, packed_b_bytes,
        std::move(parsed->note)};
    return Status::ok();
  });
}

GEMMC_EXPORT void gemmc_kernel_release(gemmc_kernel* kernel) { delete kernel; }

GEMMC_EXPORT gemmc_status gemmc_kernel_call(const gemmc_kernel* kernel, const gemmc_call* call) {
  return guarded([&] {
    if (kernel == nullptr || call == nullptr) return Status::invalid("kernel or call is NULL; allowed: neither");
    GEMMC_RETURN_IF_ERROR(check_fields(*kernel, *call));
    const gemmc::Expected<gemmc::ResolvedLoops> loops =
        gemmc::resolve(kernel->form, {call->dims, kernel->dim_names.size()}, {call->strides, stride_count(*kernel)});
    if (!loops) return loops.status();
    GEMMC_RETURN_IF_ERROR(
        gemmc::check_buffers(kernel->form, *loops, *call, kernel->element_bytes, kernel->packed_b_bytes));
    gemmc_call with_scratch = {};
    const int64_t scratch_bytes = kernel->kernel->entries().scratch_bytes;
    if (scratch_bytes > 0 && call->scratch == nullptr) {
      const size_t known_bytes = std::min<size_t>(call->size_bytes, sizeof with_scratch);
      std::memcpy(&with_scratch, call, known_bytes);
      with_scratch.size_bytes = known_bytes;
      gemmc::lend_thread_scratch(scratch_bytes, with_scratch);
      call = &with_scratch;
    }
    if (kernel->kernel->entry()(call) == GEMMC_OK) return Status::ok();
    return Status::internal("the kernel refuses a call that has passed every check");
  });
}

GEMMC_EXPORT gemmc_status gemmc_parallel_create(int32_t threads, const gemmc_parallel** parallel) {
  return guarded([&] {
    if (parallel == nullptr) return Status::invalid("parallel is NULL; allowed: a place for the threads");
    *parallel = nullptr;
    Expected<std::unique_ptr<gemmc::TbbParallel>> created = gemmc::TbbParallel::create(threads);
    if (!created) return created.status();
    *parallel = &(*created).release()->hook();
    return Status::ok();
  });
}

GEMMC_EXPORT void gemmc_parallel_free(const gemmc_parallel* parallel) {
  if (parallel != nullptr) delete gemmc::TbbParallel::of(*parallel);
}

GEMMC_EXPORT gemmc_kernel_entry gemmc_kernel_get_entry(const gemmc_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->kernel->entry();
}

GEMMC_EXPORT gemmc_pack_entry gemmc_kernel_get_pack_b(const gemmc_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->kernel->entries().pack_b;
}

GEMMC_EXPORT const char* gemmc_kernel_symbol(const gemmc_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->kernel->artifact().symbol.c_str();
}

GEMMC_EXPORT size_t gemmc_kernel_scratch_bytes(const gemmc_kernel* kernel) {
  return kernel == nullptr ? 0 : static_cast<size_t>(kernel->kernel->entries().scratch_bytes);
}

GEMMC_EXPORT size_t gemmc_kernel_dim_count(const gemmc_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->dim_names.size();
}

GEMMC_EXPORT const char* gemmc_kernel_dim_name(const gemmc_kernel* kernel, size_t index) {
  return index < gemmc_kernel_dim_count(kernel) ? kernel->dim_names[index].c_str() : nullptr;
}

GEMMC_EXPORT size_t gemmc_kernel_stride_count(const gemmc_kernel* kernel) {
  return kernel == nullptr ? 0 : stride_count(*kernel);
}

GEMMC_EXPORT size_t gemmc_kernel_epilogue_count(const gemmc_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->form.epilogue.size();
}

GEMMC_EXPORT const char* gemmc_kernel_note(const gemmc_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->note.c_str();
}

}  // extern "C"
