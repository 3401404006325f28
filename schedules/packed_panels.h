// Where a kernel that wants its constant B packed finds an element: B's columns in panels of nr, one row of a panel
// after the other, so that a column of register tiles reads one stream.
//
//   (k, n) -> (n / nr * K + k) * nr + n % nr          zeros stand where the last panel has no columns
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/loop_form.h"
#include "schedules/schedule.h"

namespace gemmc {

struct PackedPanels {
  int64_t n, k, nr;

  int64_t count() const { return (n + nr - 1) / nr; }
  int64_t elements() const { return count() * k * nr; }
};

// `schedule` packs B, whose sizes are then static.
inline PackedPanels packed_panels(const LoopForm& form, const Schedule& schedule) {
  return {*form.n.static_value(), *form.k.static_value(), schedule.nr};
}

// Packs B, as NAME_pack_b of a kernel does: for weights that are known while compiling. Strides in elements.
std::vector<uint8_t> pack(const PackedPanels& panels, size_t element_bytes, const uint8_t* b, int64_t row_stride,
                          int64_t col_stride);

}  // namespace gemmc
