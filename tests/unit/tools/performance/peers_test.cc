#include "tools/performance/peers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tools/performance/reference.h"

namespace gemmc {
namespace {

const PeerPlaces kHere = {GEMMC_SOURCE_DIR "/.venv", GEMMC_PEER_MODULES};

TEST(Peers, WhatIsNotInstalledIsSkippedByName) {
  const auto search = find_peers({"all"}, {"no/such/prefix", "no/such/modules"});
  ASSERT_TRUE(search) << search.status().message();
  for (const char* name : {"OpenBLAS", "oneDNN", "oneDNN matmul", "MKL", "Eigen", "LIBXSMM", "ONNX Runtime"}) {
    EXPECT_TRUE(std::any_of(search->skipped.begin(), search->skipped.end(), [&](const std::string& line) {
      return line == std::string(name) + ": not installed";
    })) << name;
  }
}

TEST(Peers, OnlyThoseThatAreAskedForAreOpened) {
  const auto none = find_peers({"none"}, kHere);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->found.size() + none->skipped.size(), 0u);
  const auto two = find_peers({"eigen", "mkl"}, kHere);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->found.size() + two->skipped.size(), 2u);
}

TEST(Peers, OtherWordsAreRefusedWithThoseAllowed) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"atlas"}, {"openblas", "all"}, {""}}) {
    const auto search = find_peers(words, kHere);
    ASSERT_FALSE(search);
    EXPECT_EQ(search.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(search.status().message().find("openblas, onednn, onednn-matmul, mkl"), std::string::npos)
        << search.status().message();
  }
}

// Products in every storage order, and batches.
std::vector<Product> products() {
  std::vector<Product> list;
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) {
      for (const int64_t batch : {1, 3}) {
        list.push_back({9, 20, 31, trans_a, trans_b});
        list.back().batch = batch;
        if (batch == 1) continue;
        list.push_back(list.back());
        list.back().shares_a = true;
        list.push_back(list.back());
        list.back().shares_a = false;
        list.back().shares_b = true;
      }
    }
  }
  return list;
}

template <typename T>
void expect_right_results(Peer& peer, DType dtype, bool has_packed_b) {
  for (const Product& product : products()) {
    std::vector<T> a(product.a_count()), b(product.b_count()), y(product.y_count());
    fill_values(dtype, a.data(), product.a_count(), 1);
    fill_values(dtype, b.data(), product.b_count(), 2);
    const Operands operands = {a.data(), b.data(), y.data()};
    const auto contender = peer.prepare({dtype, product, operands, has_packed_b});
    if (contender == nullptr) continue;
    std::memset(y.data(), 0xff, y.size() * sizeof(T));
    contender->run(2);
    const Status status = check_result(dtype, product, operands);
    EXPECT_TRUE(status.is_ok()) << peer.name() << " " << name(dtype) << " " << product.to_string() << ": "
                                << status.message();
  }
}

// Whatever is installed here computes row-major products of every type that it takes.
TEST(Peers, FoundOnesAreCalledRightly) {
  const auto search = find_peers({"all"}, kHere);
  ASSERT_TRUE(search) << search.status().message();
  EXPECT_EQ(search->found.size() + search->skipped.size(), peer_words().size());
  if (search->found.empty()) GTEST_SKIP() << fmt::format("no peer: {}", fmt::join(search->skipped, "; "));
  for (const auto& peer : search->found) {
    EXPECT_NE(peer->version(), "");
    for (const bool has_packed_b : {false, true}) {
      expect_right_results<float>(*peer, DType::kFloat32, has_packed_b);
      expect_right_results<double>(*peer, DType::kFloat64, has_packed_b);
    }
  }
}

}  // namespace
}  // namespace gemmc
