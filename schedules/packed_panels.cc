#include "schedules/packed_panels.h"

#include <algorithm>
#include <cstring>

namespace gemmc {

std::vector<uint8_t> pack(const PackedPanels& panels, size_t element_bytes, const uint8_t* b, int64_t row_stride,
                          int64_t col_stride) {
  const auto size = static_cast<int64_t>(element_bytes);
  std::vector<uint8_t> packed(static_cast<size_t>(panels.elements() * size));
  uint8_t* row = packed.data();
  for (int64_t first = 0; first < panels.n; first += panels.nr) {
    const int64_t columns = std::min(panels.nr, panels.n - first);
    for (int64_t k = 0; k < panels.k; ++k, row += panels.nr * size) {
      for (int64_t x = 0; x < columns; ++x) {
        std::memcpy(row + x * size, b + (k * row_stride + (first + x) * col_stride) * size, element_bytes);
      }
    }
  }
  return packed;
}

}  // namespace gemmc
