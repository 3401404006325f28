// Vectors of rows that have fewer columns than lanes (schedules with mask=n): what they load and store past a row's
// last column is masked.
//
// Halide masks more than that, also the elements of A that a vector meets, which costs a shuffle for each product
// (Halide 21, predicated vector loops). So the pipeline loads and stores whole vectors, and this pass, before anything
// can run, makes them masked ones.
#pragma once

#include <llvm/IR/Function.h>

#include "core/status.h"

namespace gemmc {

// Masks loads and stores of `lanes` elements through every buffer argument of a pipeline's function but the first, A,
// so that they touch the first `columns` only; the other lanes of a load are 0. Internal error where one has another
// number of lanes, and is no scalar: it could reach outside the operands.
Status mask_columns(llvm::Function& function, unsigned lanes, unsigned columns);

}  // namespace gemmc
