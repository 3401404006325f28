#include "tests/support/fault_trap.h"

#include <ucontext.h>

#include <csetjmp>
#include <csignal>
#include <mutex>

namespace gemmc::testing {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

thread_local sigjmp_buf* return_point = nullptr;
thread_local Fault last_fault = {};

// QEMU 7.2 calls it with a stack that is not aligned as the ABI says.
__attribute__((force_align_arg_pointer)) void on_fault(int signal, siginfo_t* info, void* context) {
  if (return_point == nullptr) {
    // Not ours: let it happen again with the default, fatal action.
    std::signal(signal, SIG_DFL);
    return;
  }
  const auto instruction = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  last_fault = {signal, info->si_addr, reinterpret_cast<const uint8_t*>(instruction)};
  siglongjmp(*return_point, 1);
}

void install_handlers() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace

std::optional<Fault> run_trapping_faults(const std::function<void()>& body) {
  static std::once_flag once;
  std::call_once(once, install_handlers);
  sigjmp_buf here;
  if (sigsetjmp(here, 1) != 0) {
    return_point = nullptr;
    return last_fault;
  }
  return_point = &here;
  body();
  return_point = nullptr;
  return std::nullopt;
}

}  // namespace gemmc::testing
