// Values for an operand, chosen to find faults: exact small ones, full random ones, extremes and special values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/oracle_number.h"
#include "tests/support/random.h"

namespace gemmc::testing {

// The number of elements; 0 where any extent is 0, whatever the others are.
size_t element_count(const std::vector<int64_t>& shape);

// `count` elements, dense.
std::vector<uint8_t> random_values(oracle::Type type, size_t count, Random& random);

}  // namespace gemmc::testing
