#pragma once

#include <algorithm>
#include <cstdint>

#include "pool.h"

namespace braid {

// Numbers that a tile of elementwise work takes; two of them stay on the calling thread.
constexpr int kTileNumbers = 16384;

// Calls work(first, end) for ranges of rows, on all threads where there is enough to do.
template <class Work>
inline void eachRange(int rows, int width, const Work &work) {
  const int each = std::max(1, kTileNumbers / std::max(1, width));
  const auto range = [&](int64_t first) {
    work(static_cast<int>(first), static_cast<int>(std::min<int64_t>(rows, first + each)));
  };
  const int tiles = static_cast<int>((static_cast<int64_t>(rows) + each - 1) / each);
  if (tiles <= 2) {
    for (int tile = 0; tile < tiles; tile++) range(static_cast<int64_t>(tile) * each);
    return;
  }
  Pool::get().run(tiles, [&](int tile) { range(static_cast<int64_t>(tile) * each); });
}

}  // namespace braid
