// What a linker sees of a kernel: the two entries, no other global name, and nothing undefined that is not documented.
// (generated_code_test reads the symbols of every CPU level, of fewer forms.) And its bytes: the same from the JIT,
// ahead of time, and in every process.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "api/session.h"
#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "schedules/heuristic_schedule.h"
#include "tests/support/compiled.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace gemmc {
namespace {

using testing::ProcessResult;
using testing::run_process;
using testing::TemporaryFolder;

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The names in backquotes of the paragraph in docs/kernel-abi.md that lists them.
std::set<std::string> documented_undefined() {
  const std::string document = read(GEMMC_SOURCE_DIR "/docs/kernel-abi.md");
  const size_t begin = document.find("* **Undefined symbols**");
  if (begin == std::string::npos) return {};
  const std::string paragraph = document.substr(begin, document.find("\n\n", begin) - begin);
  std::set<std::string> found;
  for (size_t open = paragraph.find('`'); open != std::string::npos;) {
    const size_t close = paragraph.find('`', open + 1);
    found.insert(paragraph.substr(open + 1, close - open - 1));
    open = close == std::string::npos ? close : paragraph.find('`', close + 1);
  }
  return found;
}

Target v3() { return *parse_target("x86-64-v3"); }

Problem problem(const std::string& text) {
  const auto parsed = parse_problem(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.status().message();
  return *parsed;
}

// The last word of each line of `nm -g OPTION FILE`.
std::set<std::string> names(const char* option, const std::vector<uint8_t>& object) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "kernel.o";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(object.data()), static_cast<long>(object.size()));
  const ProcessResult result = run_process({"nm", "-g", option, path.string()});
  EXPECT_EQ(result.status, 0) << result.err;
  std::set<std::string> found;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) found.insert(line.substr(line.rfind(' ') + 1));
  return found;
}

struct Form {
  const char* text;  // with {} for the type
  Family family;
};
constexpr Form kForms[] = {
    {"gemm {} m=17 n=19 k=23 tb c=n alpha=2 beta=3", Family::kDots},
    {"gemm {} m=3 n=70 k=23 c=n alpha=2 beta=3", Family::kRows},
    {"gemm {} m=17 n=19 k=2300 c=n", Family::kTiled},
    {"gemm {} m=?m n=100 k=2300", Family::kTiled},
    {"matmul {} a=2x7x8 b=2x8x32", Family::kTiled},
    {"matmul {} a=?bx7x8 b=8x33 const=b", Family::kTiled},
    {"gemm {} m=?m n=?n k=?k ta c=*", Family::kGeneral},
    {"matmul {} a=?bx?sx64 b=?bx64x?t", Family::kGeneral},
    {"matmul {} a=* b=*", Family::kGeneral},
    {"gemm {} m=512 n=512 k=512 sa=?x? sy=?x1", Family::kGeneral},
};

std::set<std::string> entries_of(const std::string& symbol, bool packs_b) {
  std::set<std::string> entries = {symbol, symbol + "_call"};
  if (packs_b) entries.insert(symbol + "_pack_b");
  return entries;
}

class ObjectTest : public ::testing::TestWithParam<std::tuple<Form, DType>> {};

TEST_P(ObjectTest, HasItsEntriesAndNothingElseToLink) {
  const auto& [form, dtype] = GetParam();
  const Problem p = problem(fmt::format(fmt::runtime(form.text), short_name(dtype)));
  const Target target = v3();
  CompileOptions options;
  options.symbol = "kernel_under_test";
  // The family may refuse a form for a type; that every family is met at all is checked below.
  for (const FamilyVerdict& verdict : judge_families(canonical(p).problem, target)) {
    if (verdict.family == form.family && !verdict.refusal) {
      options.schedule = heuristic_schedule(form.family, canonical(p).problem, target);
    }
  }
  const auto artifact = testing::compile_problem(p, target, options);
  ASSERT_TRUE(artifact) << artifact.status().message();
  EXPECT_EQ(names("--defined-only", artifact->object),
            entries_of("kernel_under_test", parse_schedule(artifact->schedule)->packs_b));
  static const std::set<std::string> kDocumented = documented_undefined();
  for (const std::string& name : names("--undefined-only", artifact->object)) {
    EXPECT_TRUE(kDocumented.contains(name)) << "undefined: " << name << " in " << print_problem(p);
  }
}

INSTANTIATE_TEST_SUITE_P(FormsAndTypes, ObjectTest,
                         ::testing::Combine(::testing::ValuesIn(kForms), ::testing::ValuesIn(kAllDTypes)),
                         [](const auto& info) {
                           return fmt::format("{}_{}", short_name(std::get<1>(info.param)), info.index);
                         });

TEST(ObjectTest, TheDocumentedNamesAreRead) {
  EXPECT_EQ(documented_undefined(), (std::set<std::string>{"memcpy", "memmove", "memset"}));
}

TEST(ObjectTest, EveryFamilyTakesAFormOfTheTestAbove) {
  std::set<Family> met, table;
  for (const Form& form : kForms) {
    for (const DType dtype : kAllDTypes) {
      const Problem p = canonical(problem(fmt::format(fmt::runtime(form.text), short_name(dtype)))).problem;
      for (const FamilyVerdict& verdict : judge_families(p, v3())) {
        table.insert(verdict.family);
        if (verdict.family == form.family && !verdict.refusal) met.insert(form.family);
      }
    }
  }
  EXPECT_EQ(met, table);
}

TEST(ObjectBytes, TheJitAndAheadOfTimeGiveTheSame) {
  const auto host = host_target();
  ASSERT_TRUE(host) << host.status().message();
  for (const char* text :
       {"gemm f32 m=64 n=64 k=64 c=n", "matmul f16 a=?bx?sx64 b=64x32", "gemm i64 m=?m n=5 k=7 tb"}) {
    const TemporaryFolder folder;
    const ProcessResult built =
        run_process({GEMMC_COMMAND, "build", text, "--target", "host", "-o", folder.path().string()});
    ASSERT_EQ(built.status, 0) << built.err;
    Session session(*host);
    const auto found = session.kernel(problem(text));
    ASSERT_TRUE(found) << found.status().message();
    const Artifact& artifact = found->kernel->artifact();
    const std::string object = read(folder.path() / (artifact.symbol + ".o"));
    EXPECT_EQ(object, std::string(artifact.object.begin(), artifact.object.end())) << text;
  }
}

TEST(ObjectBytes, DoNotDependOnWhatWasCompiledBefore) {
  const auto first = testing::compile_problem(problem("gemm f32 m=20 n=24 k=8"), v3());
  ASSERT_TRUE(first) << first.status().message();
  ASSERT_TRUE(testing::compile_problem(problem("gemm f64 m=?m n=24 k=8 c=mn"), v3()));
  const auto again = testing::compile_problem(problem("gemm f32 m=20 n=24 k=8"), v3());
  ASSERT_TRUE(again);
  EXPECT_EQ(first->object, again->object);
}

}  // namespace
}  // namespace gemmc
