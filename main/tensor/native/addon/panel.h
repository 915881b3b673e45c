// The inside of a product: packed operands, and blocks of C that stay in registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simd.h"

namespace braid {

// A block of C in registers: kHeight rows of kWidth columns.
constexpr int kHeight = kLanes == 16 ? 12 : 6;
constexpr int kWidth = 2 * kLanes;
// Floats of a line of the cache.
constexpr int kCacheLine = 16;

// Packs `lines` lines of an operand into one panel [depth, width]; missing lines are zeros.
template <int width, class Number>
void packPanel(const Number *from, int64_t lineStride, int64_t depthStride, int lines, int depth, float *to) {
  if (lines < width) std::fill(to, to + static_cast<int64_t>(width) * depth, 0.0f);
  if (lineStride == 1 && lines == width && width % kLanes == 0) {
    for (int k = 0; k < depth; k++)
      for (int i = 0; i < width; i += kLanes) store(to + k * width + i, vecAt(from + k * depthStride + i));
    return;
  }
  if constexpr (std::is_same_v<Number, float>) {
    if (lineStride == 1 && lines == width) {
      for (int k = 0; k < depth; k++) std::memcpy(to + k * width, from + k * depthStride, width * sizeof(float));
      return;
    }
  }
  int k = 0;
  if (depthStride == 1 && lines == width && width % kLanes == 0) {
    for (; k + kLanes <= depth; k += kLanes) {
      for (int first = 0; first < width; first += kLanes) {
        Vec rows[kLanes];
        for (int i = 0; i < kLanes; i++) rows[i] = vecAt(from + (first + i) * lineStride + k);
        transpose(rows);
        for (int i = 0; i < kLanes; i++) store(to + (k + i) * width + first, rows[i]);
      }
    }
  }
  for (; k < depth; k++)
    for (int i = 0; i < lines; i++) to[k * width + i] = numberAt(from, i * lineStride + k * depthStride);
}

// A block of C, added to its sums, from `height` lines of A and a panel of B. `ahead`: where the lines after these
// begin, if they come from memory, so that they are on their way while these are at work.
template <int height, int vectors>
__attribute__((always_inline)) inline void block(int k, const float *a, int64_t aRow, int64_t aCol, const float *b, int64_t bRow,
                                                 Vec (&sums)[height][vectors], const float *ahead = nullptr) {
  for (int step = 0; step < k; step++) {
    if (ahead != nullptr && step % kCacheLine == 0) {
      BRAID_UNROLL
      for (int i = 0; i < height; i++) __builtin_prefetch(ahead + i * aRow + step);
    }
    Vec line[vectors];
    BRAID_UNROLL
    for (int j = 0; j < vectors; j++) line[j] = load(b + j * kLanes);
    BRAID_UNROLL
    for (int i = 0; i < height; i++) {
      const Vec x = splat(a[i * aRow]);
      BRAID_UNROLL
      for (int j = 0; j < vectors; j++) sums[i][j] += x * line[j];
    }
    a += aCol;
    b += bRow;
  }
}

inline void finish(float *c, Vec sum, int lanes, float alpha, bool accumulate) {
  const Vec scaled = sum * alpha;
  storeUpTo(c, accumulate ? loadUpTo(c, lanes) + scaled : scaled, lanes);
}

// The last rows of a matrix, fewer than kHeight. `whole`: the columns are known to fill their vectors.
template <int height, int vectors = 2, bool whole = false>
inline void blockRows(int rows, int k, const float *a, int64_t aRow, int64_t aCol, const float *b, int64_t bRow, float *c,
                      int64_t cRow, int columns, float alpha, bool accumulate) {
  if constexpr (height > 0) {
    if (rows < height)
      return blockRows<height - 1, vectors, whole>(rows, k, a, aRow, aCol, b, bRow, c, cRow, columns, alpha, accumulate);
    Vec sums[height][vectors] = {};
    block(k, a, aRow, aCol, b, bRow, sums);
    for (int i = 0; i < height; i++) {
      for (int j = 0; j < vectors && columns > j * kLanes; j++) {
        float *const to = c + i * cRow + j * kLanes;
        if constexpr (whole) store(to, accumulate ? load(to) + sums[i][j] * alpha : sums[i][j] * alpha);
        else finish(to, sums[i][j], std::min(columns - j * kLanes, kLanes), alpha, accumulate);
      }
    }
  }
}

// Calls work with the vectors of a panel for `width` lines, as a constant: one where they fill no more.
template <class Work>
inline void withVectors(int width, const Work &work) {
  if (width <= kLanes) work(std::integral_constant<int, 1>());
  else work(std::integral_constant<int, 2>());
}

inline int panels(int length, int width) { return (length + width - 1) / width; }

}  // namespace braid
