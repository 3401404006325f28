#include "compiler/compile.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/key.h"
#include "core/problem_string.h"
#include "schedules/family_table.h"
#include "tests/support/compiled.h"
#include "tests/unit/compiler/object_symbols.h"

namespace gemmc {
namespace {

constexpr char kStatic[] = "gemm f32 m=5 n=17 k=7 c=n";
constexpr char kRunTime[] = "gemm f32 m=?rows n=?cols k=?depth c=n";

Problem problem(const std::string& text) {
  Expected<Problem> parsed = parse_problem(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.status().message();
  return parsed ? *parsed : Problem{};
}

Target target(std::string_view word) { return *parse_target(word); }

Artifact compiled(const std::string& text, const CompileOptions& options = {}, Explanation* explanation = nullptr) {
  Expected<Artifact> artifact = testing::compile_problem(problem(text), target("x86-64-v3"), options, explanation);
  EXPECT_TRUE(artifact) << text << ": " << artifact.status().message();
  return artifact ? *std::move(artifact) : Artifact{};
}

Status refusal(const Problem& refused, const CompileOptions& options = {}, std::string_view target_word = "x86-64-v3") {
  const Status planned = plan(refused, target(target_word), options).status();
  EXPECT_FALSE(planned.is_ok());
  return planned;
}

CompileOptions forced(std::string_view line) {
  CompileOptions options;
  options.schedule = *parse_schedule(line);
  return options;
}

CompileOptions called(const std::string& symbol) {
  CompileOptions options;
  options.symbol = symbol;
  return options;
}

TEST(Compile, IdentityNamesEveryCompiler) {
  EXPECT_EQ(compiler_identity().find("halide 21."), 0u) << compiler_identity();
  EXPECT_NE(compiler_identity().find("; llvm 22."), std::string::npos) << compiler_identity();
  const size_t build = compiler_identity().find("; gemmc ");
  ASSERT_NE(build, std::string::npos) << compiler_identity();
  EXPECT_GE(compiler_identity().size() - build, 16u) << "no build id: " << compiler_identity();
}

TEST(Compile, PlanIsWhatCompileDoes) {
  for (const char* text : {kStatic, kRunTime}) {
    const Expected<KernelPlan> planned = plan(problem(text), target("x86-64-v3"));
    ASSERT_TRUE(planned) << planned.status().message();
    const Artifact artifact = compiled(text);
    EXPECT_EQ(artifact.symbol, planned->symbol);
    EXPECT_EQ(artifact.key_text, planned->key_text);
    EXPECT_EQ(artifact.schedule, print_schedule(planned->schedule));
    EXPECT_TRUE(artifact.problem == planned->canonical.problem);
    EXPECT_EQ(artifact.target, target("x86-64-v3"));
    EXPECT_EQ(planned->symbol, kernel_symbol(planned->key_text));
    EXPECT_EQ(planned->key_text,
              key_text(planned->canonical.problem, target("x86-64-v3"), artifact.schedule, compiler_identity()));
  }
  EXPECT_EQ(plan(problem(kRunTime), target("x86-64-v3"))->canonical.dim_names,
            (std::vector<std::string>{"rows", "depth", "cols"}));
}

TEST(Compile, RefusesWhatIsWrongUnbuiltOrImpossible) {
  Problem wrong = problem(kStatic);
  wrong.b.shape[0] = Dim::fixed(8);
  EXPECT_EQ(refusal(wrong).code(), StatusCode::kInvalidArgument);
  Problem unbuilt = problem(kStatic);
  unbuilt.a.storage = DType::kBFloat16;
  EXPECT_EQ(refusal(unbuilt).code(), StatusCode::kUnsupported);
  const Status no_fma = refusal(problem("gemm f32 m=5 n=17 k=7 order=k"), {}, "x86-64-v2");
  EXPECT_EQ(no_fma.code(), StatusCode::kUnsupported);
  EXPECT_NE(no_fma.message().find("fused multiply-adds"), std::string::npos) << no_fma.message();
}

TEST(Compile, TakesTheScheduleThatIsAskedFor) {
  EXPECT_EQ(compiled(kStatic).schedule.find("tiled"), 0u);
  EXPECT_EQ(compiled(kStatic, forced("tiled mr=3 nr=8 lanes=4 mc=3")).schedule, "tiled mr=3 nr=8 lanes=4 mc=3");
  const std::string general = "general mr=4 nr=16 lanes=8 mc=12 nc=32 kc=5";
  const Artifact artifact = compiled(kStatic, forced(general));
  EXPECT_EQ(artifact.schedule, general);
  EXPECT_NE(artifact.symbol, compiled(kStatic).symbol) << "other schedule, other key";
}

TEST(Compile, RefusesASchedule) {
  const Status family = refusal(problem(kRunTime), forced("tiled mr=6 nr=16 lanes=8 mc=6"));
  EXPECT_EQ(family.code(), StatusCode::kUnsupported);
  EXPECT_EQ(family.message(), "schedule family tiled: N or K is known only at the call");
  const Status registers = refusal(problem(kStatic), forced("tiled mr=8 nr=16 lanes=8 mc=8"));
  EXPECT_EQ(registers.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(registers.message().find("accumulators 16; allowed: 1 to 15"), std::string::npos) << registers.message();
  EXPECT_EQ(refusal(problem(kStatic), forced("tiled mr=6 nr=16 lanes=8 mc=6"), "x86-64-v2").code(),
            StatusCode::kInvalidArgument);
}

TEST(Compile, SymbolIsTheNameThatIsAskedFor) {
  // The last ones are the names that the compiler's own functions have.
  for (const char* name : {"fc1", "a", "tiled", "finish"}) {
    const Artifact artifact = compiled(kStatic, called(name));
    EXPECT_EQ(artifact.symbol, name);
    EXPECT_EQ(artifact.key_text, compiled(kStatic).key_text) << "a name changes no key";
    EXPECT_EQ(testing::object_symbols(artifact.object).defined,
              (std::set<std::string>{name, std::string(name) + "_call"}));
  }
  for (const char* name : {"1st", "fc-1", "fc 1", "memset", "int", "gemmc_x", "a\nb", "größe"}) {
    EXPECT_EQ(refusal(problem(kStatic), called(name)).code(), StatusCode::kInvalidArgument) << name;
  }
}

TEST(Compile, SameProblemSameBytes) {
  for (const char* text : {kStatic, kRunTime, "gemm f16 m=?rows n=3 k=4"}) {
    const Artifact first = compiled(text);
    EXPECT_FALSE(first.object.empty());
    std::vector<Artifact> again(3);
    {
      std::vector<std::jthread> threads;
      for (Artifact& artifact : again) threads.emplace_back([&artifact, text] { artifact = compiled(text); });
    }
    for (const Artifact& artifact : again) EXPECT_TRUE(artifact.object == first.object) << text;
  }
}

// Run-time dimensions are numbered: their names, and what else a call does not need, are not in the object.
TEST(Compile, NamesOfDimensionsAreNotInTheObject) {
  EXPECT_TRUE(compiled(kRunTime).object == compiled("gemm f32 m=?r n=?s k=?t c=n const=b").object);
}

TEST(Compile, ExplanationHoldsEachText) {
  Explanation texts;
  const Artifact with_texts = compiled(kStatic, {}, &texts);
  EXPECT_NE(texts.loop_nest.find("for "), std::string::npos) << texts.loop_nest;
  EXPECT_NE(texts.loop_nest.find("tiled"), std::string::npos) << texts.loop_nest;
  EXPECT_NE(texts.llvm_ir.find("define i32 @" + with_texts.symbol + "("), std::string::npos) << texts.llvm_ir;
  EXPECT_NE(texts.llvm_ir.find("@" + with_texts.symbol + "_call("), std::string::npos) << texts.llvm_ir;
  EXPECT_NE(texts.assembly.find("vfmadd"), std::string::npos) << texts.assembly;
  EXPECT_TRUE(with_texts.object == compiled(kStatic).object) << "explaining changes the object";
  const size_t length = texts.loop_nest.size();
  compiled(kStatic, {}, &texts);
  EXPECT_LT(texts.loop_nest.size(), 2 * length) << "texts of an earlier kernel are still there";

  compiled(kRunTime, {}, &texts);
  for (const char* function : {"pack_b", "finish"}) {
    EXPECT_NE(texts.loop_nest.find(function), std::string::npos) << function;
  }
}

// 12 sums in a tile of 6 x 16, and 4 products added to each in a turn of the loop over K.
TEST(Compile, LoopsOverKAreUnrolled) {
  Explanation texts;
  compiled("gemm f32 m=6 n=16 k=64", {}, &texts);
  const std::string fma = "call <8 x float> @llvm.fma.v8f32(";
  size_t count = 0;
  for (size_t at = texts.llvm_ir.find(fma); at != std::string::npos; at = texts.llvm_ir.find(fma, at + 1)) ++count;
  EXPECT_EQ(count, 4u * 12u);
}

TEST(Compile, ObjectHoldsNothingOfThisMachine) {
  const Artifact artifact = compiled(kRunTime);
  const std::string bytes(artifact.object.begin(), artifact.object.end());
  for (const char* word : {"/proc/", "/home", "/tmp", "halide", "Halide", "pipeline.", "rows", "clang"}) {
    EXPECT_EQ(bytes.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace gemmc
