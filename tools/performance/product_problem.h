// Problem <-> Product: what of the language of problems can be timed, and the problem that gemmc compiles for a
// product.
#pragma once

#include "core/dtype.h"
#include "core/problem.h"
#include "core/status.h"
#include "tools/performance/product.h"

namespace gemmc {

// The product of a valid problem, made canonical first, so that leading dimensions of A fold into M. Refuses by name
// what cannot be timed yet: C, alpha, an epilogue, strides, narrower storage, order=k, run-time dimensions that are not
// bound, sizes of zero, operands whose batches broadcast in different directions. That B is constant does not matter.
Expected<Product> product_of(const Problem& problem);

enum class Sizes { kStatic, kRuntime };

// The problem of a product. Sizes::kRuntime leaves the sizes, called batch, m, n and k, as arguments of each call;
// refused for batches of transposed matrices, whose strides would then be none that a problem can name.
Expected<Problem> problem_of(DType dtype, const Product& product, Sizes sizes, bool has_constant_b);

}  // namespace gemmc
