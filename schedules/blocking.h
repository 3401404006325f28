// What a schedule means for the loops around a kernel's register tile: heights of tiles, number of K blocks.
//
// Shared by those who write the loops, in Halide and in LLVM. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dtype.h"
#include "core/loop_form.h"
#include "core/target.h"
#include "schedules/schedule.h"

namespace gemmc {

// The heights of register tiles that some M can need of a kTiled schedule, tallest first. M rows are split evenly over
// T = ceil(M / mr) tiles: M - T * (h - 1) of them have h = ceil(M / T) rows, which lie first, the others one less.
std::vector<int> tile_heights(const SizeExpr& m, const Schedule& schedule);

// Whether vectors of a row of B can be loaded from where it is.
bool reads_b_in_place(const LoopForm& form);

// Rows of B of so few bytes are a few neighbouring lines of the cache: as good as packed.
constexpr int64_t kMostNarrowBytes = 256;
// Above this K the rows of an unpacked B that one column of tiles walks through, one page or cache set apart, are no
// longer in the cache when the next tile asks for them.
constexpr int64_t kLongestUnpackedK = 320;

// Whether a B that is read in place is so small that any number of rows may pass by without packing or K blocks. N, K
// and B's strides are static.
bool is_unpacked_b_near(const LoopForm& form, DType b_dtype, const Target& target);

// Whether rows of at most `lanes` columns can be masked vectors: all that have columns are read and written in vectors.
// N and all strides are static.
bool may_mask_columns(const Problem& problem, const LoopForm& form, int lanes);

// Whether B's rows are whole pages apart, so that all of them want the same sets of the cache.
bool is_b_in_pages(const LoopForm& form, DType b_dtype);

// The most rows of A for which reading a large B in place, in K blocks, is likely faster than packing it.
constexpr int64_t kMostUnpackedRows = 96;

// Indices inside a block are 32-bit: along a dimension with a longer stride, a block of so many elements shrinks to
// one.
constexpr int64_t longest_stride(int block) { return (int64_t{1} << 30) / block; }

// Whether a kGeneral schedule may need more than one block of products.
bool may_need_many_blocks(const LoopForm& form, const Schedule& schedule);

// What the columns of some block of a kGeneral schedule can be cut into: panels of nr, vectors, less than a vector.
struct ColumnPieces {
  bool panels = true, vectors = true, rest = true;
  bool operator==(const ColumnPieces&) const = default;
};
// All of them unless N and the strides along it are known.
ColumnPieces column_pieces(const LoopForm& form, const Schedule& schedule);

// Whether an operand that is read at the end may be Y's buffer: then its elements must be read before Y's are written.
bool may_run_in_place(const LoopForm& form);

// Whether sums may wait in Y: it has their type, and nothing that is read at the end may be its buffer.
bool can_keep_sums_in_y(const Problem& problem, const LoopForm& form);

// The first product of the last K block of a kTiled schedule; 0 where there is one block. K is static.
int64_t last_k_block(const LoopForm& form, const Schedule& schedule);

// Whether one function serves all K blocks of a schedule that lets sums wait in Y: nothing more is done to the last
// sums, and kTiled, whose functions know how many products they make, has blocks of one length.
bool has_equal_k_blocks(const Problem& problem, const LoopForm& form, const Schedule& schedule);

// Blocks in lent memory start at a multiple of so many bytes: a line of the cache.
constexpr int kScratchAlignment = 64;

// The most columns of a block of a kGeneral schedule.
int widest_block(const Schedule& schedule);

// The scratch memory, in bytes, that a caller may lend to a kernel of this schedule, at any address; 0: it uses none.
int64_t scratch_bytes(const Schedule& schedule, DType dtype);

// The products that one instruction of a pair makes.
constexpr int kProductsPerPair = 2;
// The fewest sums that such an instruction has.
constexpr int kFewestPairLanes = 4;

// Whether the target adds up pairs of products of the type: VDPBF16PS, which takes factors and sums below 2^-126 for 0.
bool has_pair_products(DType dtype, const Target& target);

// Whether a problem's products may be added up in pairs.
bool may_pair_products(const Problem& problem, const Target& target);

// What one product's factor takes in a packed block of kGeneral: an accumulator, or half of a pair.
int64_t factor_bytes(const Schedule& schedule, DType dtype);

// The elements that so many products' factors take along K of a packed block of kGeneral.
int64_t packed_factors(const Schedule& schedule, int64_t products);

// Whether a block of a kGeneral schedule may have an odd number of products.
bool may_have_odd_block(const LoopForm& form, const Schedule& schedule);

// Whether elements are narrower than what sums are made in.
bool has_wider_sums(DType dtype);

// Whether a kGeneral schedule keeps copies of blocks of A, as accumulators or pairs, beside those of B.
bool copies_a(const Schedule& schedule, DType dtype);

// The strides of such a copy, in its elements: neighbours are what are neighbours in A.
struct CopiedAStrides {
  int k, m;
};
CopiedAStrides copied_a_strides(const LoopForm& form, const Schedule& schedule);

}  // namespace gemmc
