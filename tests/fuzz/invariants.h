// What holds whatever a user writes. A violation prints what it is about and aborts, which libFuzzer reports as a
// finding with the input. Called by every fuzz target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/problem.h"
#include "core/status.h"

namespace gemmc::testing {

// Prints `what` and `detail`, and aborts, unless `holds`.
void require(bool holds, std::string_view what, std::string_view detail = {});

// A failure is the user's (invalid argument or unsupported), and its message one line of bounded length. Readers of
// files may also blame the environment.
void check_refusal(const Status& status, bool may_be_environment = false);

// A problem that was accepted: it is valid, survives its text, has a canonical form with the same properties, and from
// there loops, a schedule for every target and a key.
void check_problem(const Problem& problem);

inline std::string_view as_text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace gemmc::testing
