// Interrupts that wait until files are in place or removed.
#pragma once

#include <csignal>

namespace gemmc {

// While one lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU wait for this thread; then they do what they always do.
// Programs that are started meanwhile do not inherit this: Ctrl-C ends a linker at once.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace gemmc
