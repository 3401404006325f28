// What tests of the C API share: handles that release themselves, and one small product.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gemmc/gemmc.h"
#include "tests/support/kernel_call.h"

namespace gemmc::testing {

// Released at the end of a test.
struct Session {
  gemmc_session* handle = nullptr;
  Session() { EXPECT_EQ(gemmc_session_create("host", &handle), GEMMC_OK) << gemmc_last_error(); }
  ~Session() { gemmc_session_free(handle); }
};

struct Kernel {
  gemmc_kernel* handle = nullptr;
  Kernel(const Session& session, const std::string& description) {
    EXPECT_EQ(gemmc_session_kernel(session.handle, description.c_str(), &handle), GEMMC_OK)
        << description << ": " << gemmc_last_error();
  }
  ~Kernel() { gemmc_kernel_release(handle); }
};

inline bool error_has(const std::string& part) {
  return std::string(gemmc_last_error()).find(part) != std::string::npos;
}

// gemm f32 m=2 n=2 k=3 c=n
constexpr float kA[] = {1, 2, 3, 4, 5, 6};
constexpr float kB[] = {1, 0, 0, 1, 1, 1};
constexpr float kC[] = {10, 20};
inline const std::vector<float> kY = {14, 25, 20, 31};

inline gemmc_call call_with(std::vector<float>& y, const int64_t* dims = nullptr) {
  gemmc_call call = make_call(kA, kB, kC, y.data());
  call.dims = dims;
  return call;
}

}  // namespace gemmc::testing
