// Can a replay fail? A small library for this machine's own level, right, and then with one thing wrong at a time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "core/problem_string.h"
#include "tests/conformance/replay/cpu_faults.h"
#include "tests/conformance/replay/recorder.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/value_or_throw.h"

namespace gemmc::testing {
namespace {

Target target_of(const std::string& level) { return value_or_throw(parse_target(level)); }

void record(Recorder& recorder, const std::string& problem, const std::string& shapes, uint64_t seed) {
  recorder.add("replay", value_or_throw(parse_problem(problem)), parse_shapes(shapes).value(), seed);
}

ProcessResult replay(const std::filesystem::path& library, const std::filesystem::path& recording) {
  return run_process({CONFORMANCE_REPLAY, library.string(), recording.string()});
}

class ReplayTest : public ::testing::Test {
 protected:
  ReplayTest() {
    Recorder recorder(target_of(kLevel));
    // `general` and `tiled`, then `general` with C, which can be in place too.
    record(recorder, "gemm f32 m=5 n=9 k=7", "5x7 7x9", 3);
    record(recorder, "gemm i64 m=? n=? k=? c=mn", "4x3 3x2 4x2", 4);
    files_ = recorder.write(folder_.path());
    recording_ = recorder.recording();
  }

  ProcessResult replay_changed() {
    const std::filesystem::path path = folder_.path() / "changed.jsonl";
    std::ofstream(path) << print_recording(recording_);
    return replay(files_.library, path);
  }
  void expect_no_replay(const ProcessResult& result, const std::string& reason) {
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_NE(result.err.find(reason), std::string::npos) << result.err;
  }

  static constexpr const char* kLevel = "x86-64-v2";
  TemporaryFolder folder_;
  Recorder::Written files_;
  Recording recording_;
};

TEST_F(ReplayTest, CountsTheRunsOfEveryKernel) {
  ASSERT_EQ(recording_.runs.size(), 4u);
  const ProcessResult result = replay(files_.library, files_.recording);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(result.out,
            "replay: this CPU has x86-64-v2; faults: none\n"
            "count replay float32 general 4 0\n"
            "count replay float32 rows 4 0\n"
            "count replay float32 tiled 4 0\n"
            "count replay int64 general 5 0\n"
            "replay: 17 runs right, 0 wrong; 0 results judged here, 0 runs with faults of the CPU\n");
}

TEST_F(ReplayTest, JudgesByTheOracleWhereNoResultIsKnown) {
  for (RecordedRun& run : recording_.runs) {
    run.right_result.reset();
    run.is_same_kernel = false;
  }
  const ProcessResult result = replay_changed();
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("17 runs right, 0 wrong; 4 results judged here"), std::string::npos) << result.out;
}

TEST_F(ReplayTest, ResultsOfAnotherCpuAreNotTheOnlyRightOnes) {
  recording_.runs[0].right_result = 1;
  recording_.runs[0].is_same_kernel = false;
  const ProcessResult result = replay_changed();
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("17 runs right, 0 wrong; 1 results judged here"), std::string::npos) << result.out;
}

TEST_F(ReplayTest, FailsWhereAKernelGivesOtherBitsThanBefore) {
  *recording_.runs[0].right_result ^= 1;
  const ProcessResult result = replay_changed();
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.out.find("other bits than where the run was recorded"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("replay: 13 runs right, 4 wrong"), std::string::npos) << result.out;
}

TEST_F(ReplayTest, FailsWhereAKernelIsWrong) {
  // Kernels that leave Y as it was: NaN, or -1.
  const std::filesystem::path source = folder_.path() / "wrong.c", library = folder_.path() / "wrong.so";
  std::ofstream file(source);
  for (RecordedRun& run : recording_.runs) {
    file << fmt::format("int {}_call(const void* call) {{ return call == 0; }}\n", run.symbol);
    run.right_result.reset();
    run.is_same_kernel = false;
  }
  file.close();
  const ProcessResult compiled = run_process({"cc", "-shared", "-o", library.string(), source.string()});
  ASSERT_EQ(compiled.status, 0) << compiled.err;
  std::ofstream(files_.recording) << print_recording(recording_);
  const ProcessResult result = replay(library, files_.recording);
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.out.find("replay: 0 runs right, 17 wrong"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("repeat: " + program_beside("conformance_levels_test") +
                            " --problem='gemm f32 m=5 n=9 k=7' --shapes='5x7 7x9' "
                            "--seed=3 --target=x86-64-v2"),
            std::string::npos)
      << result.out;
}

TEST_F(ReplayTest, CannotCallAKernelThatIsNotThere) {
  recording_.runs[1].symbol += "_not";
  expect_no_replay(replay_changed(), "the library has no kernel " + recording_.runs[1].symbol);
}

TEST_F(ReplayTest, CannotRunWithoutRunsOrFiles) {
  recording_.runs.clear();
  expect_no_replay(replay_changed(), "the recording has no runs");
  expect_no_replay(replay(folder_.path() / "none.so", files_.recording), "none.so");
  expect_no_replay(replay(files_.library, folder_.path() / "none"), "cannot read");
}

TEST_F(ReplayTest, RefusesARecordingThatIsCutOff) {
  const std::string text = print_recording(recording_);
  for (const std::string& part : {text.substr(0, text.rfind('{')), text.substr(0, text.size() / 2), std::string()}) {
    EXPECT_FALSE(parse_recording(part)) << part;
  }
  std::string unknown = text;
  unknown.insert(unknown.rfind('{') + 1, "\"more\":1,");
  EXPECT_FALSE(parse_recording(unknown));
  EXPECT_TRUE(parse_recording(text));
}

// The kernels for a level that a CPU lacks would stop with SIGILL at best.
TEST_F(ReplayTest, SaysWhatTheCpuLacks) {
  for (const std::string level : {"x86-64-v3", "x86-64-v4"}) {
    recording_.level = level;
    const ProcessResult result = replay_changed();
    const Status here = check_runs_here(target_of(level));
    if (here.is_ok()) {
      EXPECT_EQ(result.status, 0) << result.err;
      EXPECT_NE(result.out.find("this CPU has " + level), std::string::npos) << result.out;
    } else {
      expect_no_replay(result, here.message());
    }
  }
  recording_.level = "x86-64-v9";
  expect_no_replay(replay_changed(), "x86-64-v9");
}

// What an emulator's faults excuse, and nothing else.
TEST(CpuFaultsTest, HalvesAwayAreNextToAnEvenNumber) {
  const auto bytes = [](std::initializer_list<uint16_t> elements) {
    std::vector<uint8_t> result(elements.size() * 2);
    std::memcpy(result.data(), elements.begin(), result.size());
    return result;
  };
  const std::vector<uint8_t> right = bytes({0x6800, 0x3c01, 0xc000});
  EXPECT_TRUE(differ_by_halves_away(right, right));
  EXPECT_TRUE(differ_by_halves_away(bytes({0x6801, 0x3c01, 0xc001}), right));
  EXPECT_FALSE(differ_by_halves_away(bytes({0x6801, 0x3c02, 0xc000}), right));  // 0x3c01 is odd
  EXPECT_FALSE(differ_by_halves_away(bytes({0x67ff, 0x3c01, 0xc000}), right));
  EXPECT_FALSE(differ_by_halves_away(bytes({0x6802, 0x3c01, 0xc000}), right));
  EXPECT_FALSE(differ_by_halves_away(bytes({0x6800, 0x3c01}), right));
  EXPECT_FALSE(differ_by_halves_away({}, right));
}

TEST(CpuFaultsTest, SaturationAllowsNothingElse) {
  const auto bytes = [](const std::vector<uint64_t>& values) {
    std::vector<uint8_t> result(values.size() * sizeof(uint64_t));
    std::memcpy(result.data(), values.data(), result.size());
    return result;
  };
  constexpr uint64_t kAll = ~uint64_t{0}, kHalf = uint64_t{1} << 63;
  EXPECT_TRUE(differ_by_saturation(bytes({7, kHalf}), bytes({7, kHalf})));
  EXPECT_TRUE(differ_by_saturation(bytes({7, kAll}), bytes({7, kHalf})));
  EXPECT_FALSE(differ_by_saturation(bytes({7, kAll}), bytes({7, kHalf - 1})));
  EXPECT_FALSE(differ_by_saturation(bytes({7, kHalf + 1}), bytes({7, kHalf})));
  EXPECT_FALSE(differ_by_saturation(bytes({7}), bytes({7, kHalf})));
  EXPECT_FALSE(differ_by_saturation({}, bytes({7})));
}

TEST(CpuFaultsTest, StoresWithADisplacementAreFound) {
  const std::vector<uint8_t> displaced = {0x90, 0x62, 0x83, 0x7d, 0x08, 0x15, 0x54, 0x51, 0x01, 0x00};
  const std::vector<uint8_t> direct = {0x90, 0x62, 0x83, 0x7d, 0x08, 0x15, 0x14, 0x51, 0x00};
  const std::vector<uint8_t> vex = {0xc4, 0xe3, 0x79, 0x15, 0x4c, 0x7a, 0x02, 0x00};
  EXPECT_TRUE(has_misplaced_pextrw(displaced));
  EXPECT_FALSE(has_misplaced_pextrw(direct));
  EXPECT_FALSE(has_misplaced_pextrw(vex));
  EXPECT_FALSE(has_misplaced_pextrw({}));
}

TEST(CpuFaultsTest, OnlyTwoInstructionsMayReadTooMuch) {
  // As `as` writes them, from (%rdi).
  const uint8_t evex_128[] = {0x62, 0xe1, 0xff, 0x08, 0x12, 0x07}, evex_256[] = {0x62, 0xe1, 0xff, 0x28, 0x12, 0x07};
  const uint8_t vmovddup[] = {0xc5, 0xfb, 0x12, 0x07, 0x90, 0x90}, vmovlpd[] = {0x62, 0xe1, 0xfd, 0x00, 0x12, 0x07};
  EXPECT_TRUE(is_movddup_of_8_bytes(evex_128));
  EXPECT_FALSE(is_movddup_of_8_bytes(evex_256));
  EXPECT_FALSE(is_movddup_of_8_bytes(vmovddup));
  EXPECT_FALSE(is_movddup_of_8_bytes(vmovlpd));
  const uint8_t cvtdq2pd[] = {0xf3, 0x0f, 0xe6, 0x0f, 0x90}, with_rex[] = {0xf3, 0x41, 0x0f, 0xe6, 0x0f};
  const uint8_t cvtpd2dq[] = {0xf2, 0x0f, 0xe6, 0x0f, 0x90}, cvttps2dq[] = {0xf3, 0x0f, 0x5b, 0x0f, 0x90};
  const uint8_t vex_2[] = {0xc5, 0xfa, 0xe6, 0x0f}, vex_3[] = {0xc4, 0xc1, 0x7a, 0xe6, 0x0f};
  const uint8_t vex_256[] = {0xc5, 0xfe, 0xe6, 0x0f}, vcvttpd2dq[] = {0xc5, 0xf9, 0xe6, 0x0f};
  for (const uint8_t* instruction : {cvtdq2pd, with_rex, vex_2, vex_3})
    EXPECT_TRUE(is_cvtdq2pd_of_8_bytes(instruction));
  for (const uint8_t* instruction : {cvtpd2dq, cvttps2dq, vex_256, vcvttpd2dq, vmovddup})
    EXPECT_FALSE(is_cvtdq2pd_of_8_bytes(instruction));
}

// What the emulated machine must hold.
TEST(ReplayProgramTest, NeedsNeitherHalideNorLlvm) {
  const ProcessResult result = run_process({"ldd", CONFORMANCE_REPLAY});
  EXPECT_NE(result.out.find("libc.so"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("Halide"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("LLVM"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace gemmc::testing
