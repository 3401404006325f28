// The floating-point state of the thread that compiles.
#pragma once

#include <cfenv>

namespace gemmc {

// While one lives, this thread computes in the default state: rounding to nearest, subnormal numbers kept, no traps. A
// host may have set another one (-ffast-math flushes subnormals to zero), and what is read and computed while compiling
// must not depend on it. The caller's state, its exception flags among it, comes back at the end.
class DefaultFloatState {
 public:
  DefaultFloatState() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  DefaultFloatState(const DefaultFloatState&) = delete;
  DefaultFloatState& operator=(const DefaultFloatState&) = delete;
  ~DefaultFloatState() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
};

}  // namespace gemmc
