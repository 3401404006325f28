// The measured peak of one core: multiply-adds on registers only, so that nothing but arithmetic limits them.
//
// Every "% of peak" of the demo and of `gemmc bench` is against these figures, measured on the same machine minutes
// before. A calculated peak (clock x units x lanes) would need the clock, which virtual machines hide and turbo
// changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace gemmc {

struct Peak {
  DType dtype;            // float32, float64, int32, int64, or bfloat16 with instructions of its own
  std::string extension;  // what the code was compiled for: "sse4.2", "avx2,fma", "avx512f", "avx512bf16"
  int lanes;              // elements of one vector
  double gops;            // 1e9 operations a second; a multiply and an add count as two
};

// One Peak for each type and each extension among `features` (CpuFeature bits), which this CPU must have: kernels for a
// lesser target are measured against what that target can do. Takes about 20 ms per figure.
std::vector<Peak> measure_peaks(uint32_t features);

// The highest figure for `dtype`, or else for the type in which a product of such elements is summed (unsigned integers
// count as signed); nothing where no peak was measured. 64-bit integers are multiplied with what the extension has: one
// instruction from AVX-512 DQ on, three multiplications of halves before.
std::optional<double> peak_gops(const std::vector<Peak>& peaks, DType dtype);

}  // namespace gemmc
