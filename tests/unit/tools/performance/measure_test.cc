#include "tools/performance/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "core/target.h"

namespace gemmc {
namespace {

// A peer for float32: plain loops, whose result may be made wrong.
class LoopsPeer : public Peer {
 public:
  LoopsPeer(std::string name, float wrong_by, bool can_pack)
      : name_(std::move(name)), wrong_by_(wrong_by), can_pack_(can_pack) {}
  std::string name() const override { return name_; }
  std::string version() const override { return "1"; }
  std::unique_ptr<Contender> prepare(const PeerTask& task) override {
    if (task.dtype != DType::kFloat32 || (task.has_packed_b && !can_pack_)) return nullptr;
    return std::make_unique<Loops>(task, wrong_by_);
  }

 private:
  class Loops : public Contender {
   public:
    Loops(const PeerTask& task, float wrong_by) : task_(task), wrong_by_(wrong_by) {}
    void run(int64_t calls) override {
      const Product& p = task_.product;
      const auto *a = static_cast<const float*>(task_.operands.a), *b = static_cast<const float*>(task_.operands.b);
      auto* y = static_cast<float*>(task_.operands.y);
      for (int64_t call = 0; call < calls; ++call) {
        for (int64_t m = 0; m < p.m; ++m) {
          for (int64_t n = 0; n < p.n; ++n) {
            float sum = wrong_by_;
            for (int64_t k = 0; k < p.k; ++k) sum += a[m * p.k + k] * b[k * p.n + n];
            y[m * p.n + n] = sum;
          }
        }
      }
    }

   private:
    PeerTask task_;
    float wrong_by_;
  };

  std::string name_;
  float wrong_by_;
  bool can_pack_;
};

class MeasureTest : public ::testing::Test {
 protected:
  MeasureTest() {
    peers_.found.push_back(std::make_unique<LoopsPeer>("Right", 0.0f, /*can_pack=*/true));
    peers_.found.push_back(std::make_unique<LoopsPeer>("Wrong", 1.0f, /*can_pack=*/false));
    options_.race = {.rounds = 2, .sample_ns = 1e3};
  }
  Measurement measured(DType dtype) {
    static Session session(*host_target());
    Expected<Measurement> result = measure(session, {"class", dtype, {3, 5, 4}}, peers_, options_);
    EXPECT_TRUE(result) << result.status().message();
    return result ? *std::move(result) : Measurement();
  }
  static const Entrant& named(const Measurement& measurement, const std::string& name) {
    static const Entrant nobody;
    const auto found = std::find_if(measurement.entrants.begin(), measurement.entrants.end(),
                                    [&](const Entrant& entrant) { return entrant.name == name; });
    EXPECT_NE(found, measurement.entrants.end()) << name;
    return found == measurement.entrants.end() ? nobody : *found;
  }

  PeerSearch peers_;
  MeasureOptions options_;
};

TEST_F(MeasureTest, AWrongResultDoesNotCountAndIsNamed) {
  const Measurement m = measured(DType::kFloat32);
  EXPECT_EQ(m.problem, "gemm f32 m=3 n=5 k=4");
  EXPECT_EQ(named(m, "gemmc").ns.size(), 2u);
  EXPECT_EQ(named(m, "Right").ns.size(), 2u);
  EXPECT_TRUE(named(m, "Wrong").ns.empty());
  EXPECT_TRUE(named(m, "Wrong").left_out.starts_with("wrong result at Y[")) << named(m, "Wrong").left_out;
}

TEST_F(MeasureTest, WhoDoesNotTakeAProductSaysSo) {
  const Measurement m = measured(DType::kInt32);
  EXPECT_EQ(named(m, "Right").left_out, kNotTaken);
  EXPECT_EQ(named(m, "Wrong").left_out, kNotTaken);
  EXPECT_EQ(m.find(Role::kPeer, false), nullptr);
}

TEST_F(MeasureTest, EveryoneAskedForTakesPart) {
  options_.with_runtime_sizes = options_.with_packed_b = true;
  options_.schedules = {*parse_schedule("tiled mr=1 nr=4 lanes=4 mc=4"),
                        *parse_schedule("tiled mr=1 nr=4 lanes=4 mc=4 pack=b")};
  const Measurement m = measured(DType::kFloat32);
  ASSERT_NE(m.find(Role::kGemmc, false), nullptr);
  EXPECT_EQ(m.find(Role::kGemmc, false)->name, "gemmc");
  ASSERT_NE(m.find(Role::kGemmc, true), nullptr);
  ASSERT_NE(m.find(Role::kRuntime, false), nullptr);
  ASSERT_NE(m.find(Role::kPeer, true), nullptr);
  EXPECT_EQ(m.find(Role::kPeer, true)->name, "Right packed");
  EXPECT_EQ(m.find(Role::kSchedule, false)->schedule, "tiled mr=1 nr=4 lanes=4 mc=4");
  EXPECT_EQ(m.find(Role::kSchedule, true)->schedule, "tiled mr=1 nr=4 lanes=4 mc=4 pack=b");
  EXPECT_EQ(m.entrants.size(), 8u) << "a peer that cannot pack has no second line";
}

TEST_F(MeasureTest, AScheduleThatDoesNotSuitIsLeftOut) {
  options_.schedules = {*parse_schedule("tiled mr=1 nr=64 lanes=64 mc=4")};
  const Measurement m = measured(DType::kFloat32);
  const Entrant& entrant = named(m, "gemmc tiled mr=1 nr=64 lanes=64 mc=4");
  EXPECT_TRUE(entrant.ns.empty());
  EXPECT_NE(entrant.left_out, "");
}

}  // namespace
}  // namespace gemmc
