#pragma once

#include <algorithm>

#include "pool.h"

namespace braid {

// Numbers that a tile of elementwise work takes; two of them stay on the calling thread.
constexpr int kTileNumbers = 16384;

// Calls work(first, end) for ranges of rows, on all threads where there is enough to do.
template <class Work>
inline void eachRange(int rows, int width, const Work &work) {
  const int each = std::max(1, kTileNumbers / std::max(1, width));
  if (rows <= 2 * each) {
    for (int first = 0; first < rows; first += each) work(first, std::min(rows, first + each));
    return;
  }
  Pool::get().run((rows + each - 1) / each, [&](int tile) { work(tile * each, std::min(rows, (tile + 1) * each)); });
}

}  // namespace braid
