// Runs code that may touch memory it should not, and comes back to tell.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace gemmc::testing {

struct Fault {
  int signal;                  // SIGSEGV, SIGBUS, SIGILL or SIGFPE
  const void* address;         // the memory that was touched, or the instruction
  const uint8_t* instruction;  // the one that did it
};

// What stopped `body`, if a fault did. `body` must own nothing that would leak: its frames are left without unwinding.
// Any thread; faults outside of `body` stay fatal.
std::optional<Fault> run_trapping_faults(const std::function<void()>& body);

}  // namespace gemmc::testing
