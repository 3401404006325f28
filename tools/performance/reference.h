// Test values and a plain check of sampled elements: nobody's time is published before the result was right.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "core/status.h"
#include "tools/performance/contender.h"
#include "tools/performance/product.h"

namespace gemmc {

// Fills `count` elements with reproducible values: floating point in (-2, 2), integers over their whole range.
void fill_values(DType dtype, void* values, int64_t count, uint64_t seed);

// Computes the corners and some elements between them one by one and compares: integers exactly, floating point within
// the documented bound (docs/numbers.md). The failure names the element, both values and the allowed difference.
Status check_result(DType dtype, const Product& product, const Operands& operands);

}  // namespace gemmc
