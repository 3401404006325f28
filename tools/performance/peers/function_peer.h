// Peers that are one function call per matrix product: batches are a loop of calls, and nothing can be packed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "tools/performance/peers/peer.h"

namespace gemmc {

// `call(product, a, b, y)` makes one product of T; inlined into the loop.
template <typename T, typename Call>
class CallContender : public Contender {
 public:
  CallContender(const PeerTask& task, Call call)
      : product_(task.product),
        a_(static_cast<const T*>(task.operands.a)),
        b_(static_cast<const T*>(task.operands.b)),
        y_(static_cast<T*>(task.operands.y)),
        call_(std::move(call)) {}
  void run(int64_t calls) override {
    if (product_.batch == 1) {
      for (int64_t i = 0; i < calls; ++i) call_(product_, a_, b_, y_);
      return;
    }
    for (int64_t i = 0; i < calls; ++i) {
      for (int64_t item = 0; item < product_.batch; ++item) {
        call_(product_, a_ + item * product_.a_step(), b_ + item * product_.b_step(), y_ + item * product_.y_step());
      }
    }
  }

 private:
  Product product_;
  const T *a_, *b_;
  T* y_;
  Call call_;
};

template <typename T, typename Call>
std::unique_ptr<Contender> prepare_call(const PeerTask& task, Call call) {
  return std::make_unique<CallContender<T, Call>>(task, std::move(call));
}

class FunctionPeer : public Peer {
 public:
  using Prepare = std::function<std::unique_ptr<Contender>(const PeerTask&)>;
  FunctionPeer(std::string name, std::string version, Prepare prepare)
      : name_(std::move(name)), version_(std::move(version)), prepare_(std::move(prepare)) {}
  std::string name() const override { return name_; }
  std::string version() const override { return version_; }
  std::unique_ptr<Contender> prepare(const PeerTask& task) override {
    return task.has_packed_b ? nullptr : prepare_(task);
  }

 private:
  std::string name_, version_;
  Prepare prepare_;
};

// For libraries whose sizes are 32-bit integers.
inline bool fits_int(const Product& product) {
  return std::max({product.m, product.n, product.k}) <= std::numeric_limits<int>::max();
}

}  // namespace gemmc
