#include "compiler/own_stack.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <stdexcept>
#include <thread>

namespace gemmc {
namespace {

TEST(OwnStack, HoldsWhatTheCallersMayNot) {
  size_t stack_bytes = 0;
  std::thread::id ran_on;
  const Status status = run_on_own_stack([&] {
    ran_on = std::this_thread::get_id();
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
    pthread_attr_getstacksize(&attributes, &stack_bytes);
    pthread_attr_destroy(&attributes);
  });
  EXPECT_TRUE(status.is_ok()) << status.message();
  EXPECT_NE(ran_on, std::this_thread::get_id());
  EXPECT_GE(stack_bytes, size_t{8} << 20);
}

TEST(OwnStack, ExceptionsComeBack) {
  EXPECT_THROW((void)run_on_own_stack([] { throw std::runtime_error("thrown"); }), std::runtime_error);
}

}  // namespace
}  // namespace gemmc
