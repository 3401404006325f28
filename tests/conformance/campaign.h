// Instances through every way a kernel can be had: each family that accepts the problem, compiled in the process and
// ahead of time, operands ending and starting at unreadable pages, in place where that is allowed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/session.h"
#include "core/target.h"
#include "tests/support/instance.h"
#include "tests/support/kernel_run.h"

namespace gemmc::testing {

struct CampaignOptions {
  Check check;          // empty: the oracle's bounds
  bool b_is_a = false;  // see Placement
  int offset_bytes = 0;
  std::optional<Schedule> schedule;  // instead of each family's own choice
};

class Campaign {
 public:
  // `kind` is for the table of counts and for messages.
  Campaign(std::string kind, Target target);

  using MakeInstance = std::function<Instance()>;
  // Failures are GoogleTest failures whose message ends with the line that repeats them. Returns whether all was right.
  bool run(const MakeInstance& make, const CampaignOptions& options = {});

  // Everything again, from one shared library: the same bits.
  void run_ahead_of_time();

  Session& session() { return session_; }
  // After this many failures further runs are left out: they would say the same.
  bool has_failed_enough() const { return failures_ >= 20; }

 private:
  // One right run of a compiled kernel, to be done again ahead of time.
  struct Record {
    MakeInstance make;
    Placement placement;
    Schedule schedule;
    std::string symbol;
    uint64_t y_hash;
  };
  void run_family(const Instance& instance, const MakeInstance& make, const CampaignOptions& options,
                  const Schedule& schedule, std::set<uint64_t>& right_results);
  void expect_level(const std::filesystem::path& library) const;
  // `how`: what distinguishes the run from others of the same instance.
  void fail(const Instance& instance, const std::string& how, const std::string& what, const std::string& schedule);

  std::string kind_;
  Session session_;
  KernelRun kernel_run_;
  std::vector<Record> records_;
  std::map<std::string, std::shared_ptr<const Kernel>> kernels_;  // by symbol
  int failures_ = 0;
};

}  // namespace gemmc::testing
