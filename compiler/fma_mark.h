// How Halide code tells our LLVM pass which multiply-adds are one fused operation.
//
// Halide 21 has no fused multiply-add. Its fast-math mode fuses, but also reorders sums; its strict mode never fuses;
// and LLVM's `contract` flag, set afterwards, could not tell the K loop (fused) from alpha * acc + c (two roundings).
// So the pipelines write a marked product, bits(a * b) ^ kMark, which no optimisation can look through, and
// fuse_marked_products() (fma_pass.h) turns add(t, marked(a * b)) into llvm.fma(a, b, t), or into a plain multiply and
// add where the CPU has none.
#pragma once

#include <cstdint>

namespace gemmc {

inline constexpr uint32_t kFmaMark32 = 0x67656d6du;
inline constexpr uint32_t kPairMark = 0x70616972u;  // see pair_pass.h
inline constexpr uint64_t kFmaMark64 = 0x67656d6d63666d61u;

}  // namespace gemmc
