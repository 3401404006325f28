// One line of text that names a problem everywhere: command line, tests, benchmarks, logs, keys, bug reports.
//
// Grammar: docs/problem-string.md. Examples:
//   gemm f32 m=?seq n=384 k=384 tb c=n alpha=0.5 epi=bias:n,gelu order=k
//   matmul bf16 a=?bx12x?sx64 b=?bx12x64x?t
// Every field of a Problem has a word. print_problem() is canonical (defaults left out, fixed order) and
// parse_problem(print_problem(p)) == p for every valid p.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/problem.h"
#include "core/status.h"

namespace gemmc {

// Parses and validates. Unknown or repeated words are refused, with the word.
Expected<Problem> parse_problem(std::string_view text);
std::string print_problem(const Problem& problem);
// The value of epi=, and the name of an operand as it stands there.
std::string print_epilogue(std::span<const EpilogueStep> steps);
std::string print_epilogue_name(std::string_view name);

}  // namespace gemmc
