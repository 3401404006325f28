#include "core/status.h"

#include <gtest/gtest.h>

#include <memory>

#include "gemmc/gemmc.h"

namespace gemmc {
namespace {

TEST(Status, CodesAreThoseOfThePublicHeader) {
  EXPECT_EQ(static_cast<int>(StatusCode::kOk), GEMMC_OK);
  EXPECT_EQ(static_cast<int>(StatusCode::kInvalidArgument), GEMMC_INVALID_ARGUMENT);
  EXPECT_EQ(static_cast<int>(StatusCode::kUnsupported), GEMMC_UNSUPPORTED);
  EXPECT_EQ(static_cast<int>(StatusCode::kEnvironment), GEMMC_ENVIRONMENT);
  EXPECT_EQ(static_cast<int>(StatusCode::kInternal), GEMMC_INTERNAL);
}

TEST(Status, EachKindHasItsCode) {
  EXPECT_TRUE(Status().is_ok());
  EXPECT_TRUE(Status::ok().is_ok());
  EXPECT_EQ(Status::invalid("x").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Status::unsupported("x").code(), StatusCode::kUnsupported);
  EXPECT_EQ(Status::environment("x").code(), StatusCode::kEnvironment);
  EXPECT_EQ(Status::internal("x").code(), StatusCode::kInternal);
  EXPECT_FALSE(Status::invalid("x").is_ok());
  EXPECT_EQ(Status::invalid("what is wrong").message(), "what is wrong");
}

TEST(Expected, HoldsAValueOrAStatus) {
  const Expected<int> value = 3;
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 3);
  EXPECT_TRUE(value.status().is_ok());
  const Expected<int> failure = Status::environment("no disk");
  EXPECT_FALSE(failure);
  EXPECT_FALSE(failure.is_ok());
  EXPECT_EQ(failure.status().message(), "no disk");
}

TEST(Expected, MovesWhatCannotBeCopied) {
  Expected<std::unique_ptr<int>> made = std::make_unique<int>(7);
  ASSERT_TRUE(made);
  const std::unique_ptr<int> taken = *std::move(made);
  EXPECT_EQ(*taken, 7);
}

Status second_step_fails(int& steps) {
  ++steps;
  GEMMC_RETURN_IF_ERROR(Status::ok());
  ++steps;
  GEMMC_RETURN_IF_ERROR(Status::invalid("second"));
  ++steps;
  return Status::ok();
}

TEST(Status, TheFirstFailureLeavesTheFunction) {
  int steps = 0;
  EXPECT_EQ(second_step_fails(steps).message(), "second");
  EXPECT_EQ(steps, 2);
}

}  // namespace
}  // namespace gemmc
