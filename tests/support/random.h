// Random choices that are the same on every machine: tests print a seed, and the seed repeats the test.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace gemmc::testing {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // The next 64 bits of splitmix64; the standard library's distributions differ between implementations.
  uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }
  // Both ends included.
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(bits() % (static_cast<uint64_t>(high - low) + 1));
  }
  bool one_in(int64_t count) { return between(1, count) == 1; }
  // In [0, 1), with 53 random bits.
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[between(0, static_cast<int64_t>(choices.size()) - 1)];
  }

 private:
  uint64_t state_;
};

}  // namespace gemmc::testing
