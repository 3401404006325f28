// Emitted headers are compiled, alone and with the public header, as C99 and as C++, with every warning an error.
#include <gtest/gtest.h>

#include <fstream>

#include "compiler/bundle/header_text.h"
#include "core/problem_string.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace gemmc {
namespace {

using testing::ProcessResult;
using testing::run_process;
using testing::TemporaryFolder;

constexpr char kLongName[] =
    "*/ #error \"from a model\"\n// \\\n?"
    "?/ /* \xc3\xa4";

Bundle bundle(const std::string& name, const std::vector<std::string>& problems) {
  Bundle result;
  result.name = name;
  for (size_t i = 0; i < problems.size(); ++i) {
    const auto parsed = parse_problem(problems[i]);
    EXPECT_TRUE(parsed) << problems[i] << ": " << parsed.status().message();
    CanonicalProblem made = canonical(*parsed);
    // Names that are keywords, macros of common compilers, or no names at all.
    for (const char* dim : {"int", "linux", "a b", "", kLongName}) {
      if (!made.dim_names.empty()) made.dim_names[made.dim_names.size() - 1] = dim;
      result.nodes.push_back({kLongName, kLongName, problems[i], kLongName, i, made.dim_names, {}});
    }
    result.artifacts.push_back(
        {name + std::to_string(i), made.problem, {"x86-64-v3", "generic", kAvx2}, "general", "", {}});
  }
  return result;
}

// Every type, and every form of argument.
Bundle every_kind() {
  return bundle("kinds", {"gemm f32 m=7 n=9 k=5 tb c=n alpha=0.5", "gemm f64 m=?m n=?n k=?k ta c=* beta=3",
                          "matmul f16 a=?bx12x?sx64 b=?bx12x64x?t", "matmul bf16 a=* b=*", "matmul i32 a=* b=3x4",
                          "matmul i64 a=?px2x3 b=?qx3x4", "gemm u32 m=2 n=3 k=4 sa=?x? sb=?x1 sy=?x?",
                          "matmul u64 a=3 b=3", "matmul f32 a=99999999999x0 b=0x5"});
}

class Program {
 public:
  Program() {
    add_header(every_kind());
    add_header(bundle("other", {"gemm f32 m=1 n=2 k=3"}));
  }
  // The compiler's messages for a source of these lines; empty: it took them.
  std::string compile(const std::vector<std::string>& compiler, const std::string& source) {
    std::ofstream(folder_.path() / "source.c") << source;
    std::vector<std::string> argv = compiler;
    for (const char* option : {"-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"}) argv.push_back(option);
    argv.push_back("-I" + folder_.path().string());
    argv.push_back("-I" GEMMC_SOURCE_DIR "/include");
    argv.push_back((folder_.path() / "source.c").string());
    const ProcessResult result = run_process(argv);
    return result.status == 0 ? result.err : "failed: " + result.err;
  }

 private:
  void add_header(const Bundle& made) { std::ofstream(folder_.path() / (made.name + ".h")) << header_text(made); }

  TemporaryFolder folder_;
};

const std::vector<std::string> kC99 = {"cc", "-std=c99", "-x", "c"};
const std::vector<std::string> kGnuC = {"cc", "-std=gnu11", "-x", "c"};  // predefines macros such as `linux`
const std::vector<std::string> kCxx = {"c++", "-std=c++11", "-x", "c++"};

TEST(HeaderTest, CompilesAloneAndBesideOthers) {
  Program program;
  for (const auto& compiler : {kC99, kGnuC, kCxx}) {
    for (const char* includes : {"#include \"kinds.h\"\n", "#include \"kinds.h\"\n#include \"kinds.h\"\n",
                                 "#include \"kinds.h\"\n#include \"other.h\"\n#include <gemmc/gemmc.h>\n",
                                 "#include <gemmc/gemmc.h>\n#include \"other.h\"\n#include \"kinds.h\"\n"}) {
      EXPECT_EQ(program.compile(compiler, std::string(includes) + "int unused;\n"), "") << compiler[1] << "\n"
                                                                                        << includes;
    }
  }
}

TEST(HeaderTest, DeclaresTypedAndUniformEntriesAndMacros) {
  Program program;
  const std::string use =
      "#include \"kinds.h\"\n"
      "int32_t use(const float* f, float* y, const uint16_t* h, uint16_t* hy, const gemmc_call* call);\n"
      "int32_t use(const float* f, float* y, const uint16_t* h, uint16_t* hy, const gemmc_call* call) {\n"
      "  gemmc_kernel_entry entry = kinds0_call;\n"
      "  char m[kinds0_M == 7 && kinds0_N == 9 && kinds0_K == 5 ? 1 : -1];\n"
      "  (void)m;\n"
      "  return kinds0(f, f, f, y) + kinds2(h, h, hy, 1, 2, 3) + kinds3(h, h, hy, 1, 2, 3, 4, 5, 6) + entry(call) - "
      "GEMMC_OK;\n"
      "}\n";
  EXPECT_EQ(program.compile(kC99, use), "");
  EXPECT_EQ(program.compile(kCxx, use), "");
}

TEST(HeaderTest, TheCompilerIsAbleToRefuse) {
  Program program;
  EXPECT_NE(program.compile(kC99, "#include \"kinds.h\"\nint32_t use(void);\nint32_t use(void) { return kinds0(); }\n"),
            "");
}

}  // namespace
}  // namespace gemmc
