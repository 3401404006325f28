// The signature of a kernel: everything that changes its code, as text and as a hash.
//
// Text: one field a line, `name length:value`, so that no value can imitate a field. Fields and why they are in:
//   format    version of this text
//   problem   the canonical problem string, with the likely values for which the kernel has bodies of their own: what
//             those are follows from them, the target and the compiler
//   target    level, tuning and extensions: other CPU, other code
//   schedule  the schedule line: other tiling, other code
//   compiler  Halide, LLVM and gemmc identities: other compiler, other code
// Out: node and output names, ranges, other likely values, `constant` of A and C, training keys (they do not change the
// forward kernel), paths, time.
#pragma once

#include <string>

#include "core/problem.h"
#include "core/target.h"

namespace gemmc {

// `problem` is canonical.
std::string key_text(const Problem& problem, const Target& target, const std::string& schedule,
                     const std::string& compiler_identity);

// 16 hexadecimal digits: XXH3, 64 bits, of the text. Compare texts after hashes match.
std::string key_digits(const std::string& text);

// "gemmc_" + key_digits(): the default symbol of a kernel.
std::string kernel_symbol(const std::string& text);

}  // namespace gemmc
