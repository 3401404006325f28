// Every case file that expects a result, through every family, compiled in the process and ahead of time: as it is, and
// on the machine's best level also with all sizes left to the call and with unknown ranks. The files that expect a
// refusal are the front end's tests.
#include "tests/support/cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compiler/node.h"
#include "tests/conformance/campaign.h"
#include "tests/conformance/drawn_problem.h"
#include "tests/conformance/levels.h"
#include "tests/conformance/settings.h"
#include "tests/support/case_run.h"
#include "tests/support/random_problem.h"

namespace gemmc::testing {
namespace {

void run_case(const Case& test_case, Campaign& campaign) {
  SCOPED_TRACE(test_case.id + ": " + test_case.why);
  const Expected<Problem> problem = node_to_problem(to_node(test_case));
  ASSERT_TRUE(problem) << problem.status().message();
  const Target& target = campaign.session().target();
  if (!has_own_code(target.level_word(), problem->dtype)) return;
  CampaignOptions options;
  options.check = meets(test_case.expect);
  options.b_is_a = test_case.hints.b_is_a;
  options.offset_bytes = test_case.hints.misalign_bytes;
  options.schedule = asked_schedule();
  std::vector<Problem> variants = {*problem};
  // How arguments reach a kernel does not depend on the CPU: the machine's best level for the type is enough for it.
  const Expected<Target> best = host_target();
  if (best && best->level == target.level &&
      (best->level_word() == target.level_word() || !has_own_code(best->level_word(), problem->dtype))) {
    variants.push_back(runtime_problem(*problem));
    if (const auto unknown = unknown_rank_problem(*problem)) variants.push_back(*unknown);
  }
  for (const Problem& variant : variants) {
    const auto make = [&test_case, variant] { return instance_of(test_case, variant); };
    const bool c_is_known = !variant.c || variant.c->has_known_rank;
    EXPECT_TRUE(!test_case.hints.y_is_c || !c_is_known || make().in_place_operand() != nullptr);
    for (int i = 0; i < test_case.hints.repeat; ++i) {
      if (!campaign.run(make, options)) break;
    }
  }
}

bool is_chosen(const Case& test_case) {
  const std::string& only = conformance_settings().test_case;
  return test_case.expect.is_ok && (only.empty() || only == test_case.id);
}

class CasesTest : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(CasesTest, GiveTheExpectedResult) {
  const auto& [level, folder] = GetParam();
  if (const std::string reason = reason_to_skip(level); !reason.empty()) GTEST_SKIP() << reason;
  const std::vector<Case> cases = read_cases(folder);
  Campaign campaign(folder, target_of(level));
  for (const Case& test_case : cases) {
    if (is_chosen(test_case)) run_case(test_case, campaign);
  }
  campaign.run_ahead_of_time();
}

INSTANTIATE_TEST_SUITE_P(Levels, CasesTest,
                         ::testing::Combine(::testing::ValuesIn(all_levels()), ::testing::Values("worked", "reported")),
                         [](const auto& info) { return test_name(std::get<0>(info.param), std::get<1>(info.param)); });

// The members of a group differ in one thing that a careless cache key would miss. CasesTest runs them one after the
// other in one session; here they come in the opposite order.
TEST(CaseGroupsTest, MembersDoNotServeEachOther) {
  std::map<std::string, std::vector<Case>> groups;
  for (const Case& test_case : read_cases("reported")) {
    if (!test_case.group.empty()) groups[test_case.group].push_back(test_case);
  }
  EXPECT_EQ(groups.size(), 5u);
  const Expected<Target> host = host_target();
  ASSERT_TRUE(host) << host.status().message();
  for (auto& [group, members] : groups) {
    EXPECT_GT(members.size(), 1u) << group;
    std::reverse(members.begin(), members.end());
    Campaign campaign("groups", *host);
    for (const Case& member : members) {
      EXPECT_TRUE(member.expect.is_ok) << member.id;
      run_case(member, campaign);
    }
  }
}

// No file is left out by accident: a new one must be counted here.
TEST(CaseFilesTest, AreAllCounted) {
  const auto count = [](const std::vector<Case>& cases, bool is_ok) {
    return std::count_if(cases.begin(), cases.end(), [&](const Case& c) { return c.expect.is_ok == is_ok; });
  };
  const std::vector<Case> worked = read_cases("worked"), reported = read_cases("reported");
  EXPECT_EQ(count(worked, true), 21);
  EXPECT_EQ(count(worked, false), 0);
  EXPECT_EQ(count(reported, true), 125);
  EXPECT_EQ(count(reported, false), 18);
}

}  // namespace
}  // namespace gemmc::testing
