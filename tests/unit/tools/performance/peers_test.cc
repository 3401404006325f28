#include "tools/performance/peers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tools/performance/reference.h"

namespace gemmc {
namespace {

TEST(Peers, WhatIsNotInstalledIsSkippedByName) {
  const PeerSearch search = find_peers("no/such/prefix", "no/such/modules");
  for (const char* name : {"OpenBLAS", "oneDNN", "Eigen", "LIBXSMM"}) {
    EXPECT_TRUE(std::any_of(search.skipped.begin(), search.skipped.end(), [&](const std::string& line) {
      return line == std::string(name) + ": not installed";
    })) << name;
  }
}

// Whatever is installed here computes row-major products in every storage order that it takes.
TEST(Peers, FoundOnesAreCalledRightly) {
  const PeerSearch search = find_peers(GEMMC_SOURCE_DIR "/.venv", GEMMC_PEER_MODULES);
  EXPECT_EQ(search.found.size() + search.skipped.size(), 5u);
  if (search.found.empty()) GTEST_SKIP() << fmt::format("no peer: {}", fmt::join(search.skipped, "; "));
  for (const auto& peer : search.found) {
    EXPECT_NE(peer->version(), "");
    for (bool trans_a : {false, true}) {
      for (bool trans_b : {false, true}) {
        const Product product = {9, 20, 31, trans_a, trans_b};
        std::vector<float> a(9 * 31), b(31 * 20), y(9 * 20, 1e9f);
        fill_values(DType::kFloat32, a.data(), 9 * 31, 1);
        fill_values(DType::kFloat32, b.data(), 31 * 20, 2);
        const Operands operands = {a.data(), b.data(), y.data()};
        const auto contender = peer->prepare(product, operands);
        if (contender == nullptr) continue;
        contender->run(2);
        const Status status = check_result(DType::kFloat32, product, operands);
        EXPECT_TRUE(status.is_ok()) << peer->name() << " " << product.to_string() << ": " << status.message();
      }
    }
  }
}

}  // namespace
}  // namespace gemmc
