// Products of numbers that are rounded to bfloat16, by the processor's own dot products of pairs; sums stay float32.
#include <algorithm>

#include "call.h"
#include "gemm.h"
#include "memory.h"
#include "panel.h"
#include "pool.h"

#ifdef __AVX512BF16__

#include <immintrin.h>

namespace braid {
namespace {

// Two numbers that follow each other along K, as the processor multiplies them; a vector of them serves as a Vec, too.
using Pair = int32_t;
// Steps of K that are summed at a time, so that a panel of B stays in the second cache.
constexpr int kMostDepth = 4096;
// Pairs of A that are in memory at a time: 16 MiB.
constexpr int64_t kMostPairs = 1 << 22;
// Pairs of B that a tile packs: 256 KiB, and rows of A that are worth it.
constexpr int kTilePairs = 1 << 16, kTileRows = 96;
// Rows of A up to which B is read as it lies.
constexpr int kFewRows = 2 * kLanes;

inline Vec asVec(__m512i x) { return reinterpret_cast<Vec &>(x); }
inline __m512bh asPairs(Vec x) { return reinterpret_cast<__m512bh &>(x); }
inline Vec splatPair(Pair x) { return asVec(_mm512_set1_epi32(x)); }
inline Vec addProducts(Vec sum, Vec a, Vec b) { return _mm512_dpbf16_ps(sum, asPairs(a), asPairs(b)); }

inline int pairsOf(int k) { return (k + 1) / 2; }

// The first `count` numbers from here on (up to 32, or 16) rounded, zeros after them.
inline Vec pairsAt(const uint16_t *from, int count) {
  return asVec(_mm512_maskz_loadu_epi16(count >= 32 ? ~0u : (1u << count) - 1, from));
}
inline Vec pairsAt(const float *from, int count) {
  const uint32_t mask = count >= 32 ? ~0u : (1u << count) - 1;
  const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from);
  const __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), from + 16);
  return asVec((__m512i)_mm512_cvtne2ps_pbh(high, low));
}
inline __m512i halvesAt(const uint16_t *from, int count) {
  return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), from));
}
inline __m512i halvesAt(const float *from, int count) {
  return _mm512_cvtepu16_epi32(
      (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from)));
}

// A square of 16 lines of an operand by 16 pairs of K, one of its strides being 1: out[line][pair], or out[pair][line].
template <bool byLine, class Number>
inline void square(const Number *from, int64_t lineStride, int64_t depthStride, int lines, int depth, Vec (&out)[kLanes]) {
  lines = std::min(lines, kLanes);
  depth = std::min(depth, 2 * kLanes);
  if (depthStride == 1) {
    for (int line = 0; line < kLanes; line++) out[line] = line < lines ? pairsAt(from + line * lineStride, depth) : Vec{};
  } else {
    for (int pair = 0; pair < kLanes; pair++) {
      const Number *const first = from + 2 * pair * depthStride;
      const __m512i low = halvesAt(first, 2 * pair < depth ? lines : 0);
      const __m512i high = halvesAt(first + depthStride, 2 * pair + 1 < depth ? lines : 0);
      out[pair] = asVec(_mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
  }
  if (byLine != (depthStride == 1)) transpose(out);
}

// Packs up to `width` lines into a panel [pairs, width]; missing lines are zeros.
template <int width, class Number>
void packPairs(const Number *from, int64_t lineStride, int64_t depthStride, int lines, int depth, Pair *to) {
  const int pairs = pairsOf(depth);
  for (int first = 0; first < width; first += kLanes) {
    for (int pair = 0; pair < pairs; pair += kLanes) {
      Vec part[kLanes];
      square<false>(from + first * lineStride + 2 * pair * depthStride, lineStride, depthStride, std::max(0, lines - first),
                    depth - 2 * pair, part);
      for (int i = 0; i < std::min(kLanes, pairs - pair); i++)
        _mm512_storeu_ps(to + static_cast<int64_t>(pair + i) * width + first, part[i]);
    }
  }
}

// A block of C, added to its sums, from lines of pairs that lie `aRow` apart and a panel of as many. `ahead` as in block,
// but into the second cache: on their way to the first they would hold up what this block reads.
template <int height, int vectors>
__attribute__((always_inline)) inline void blockPairs(int pairs, const Pair *a, int64_t aRow, const Pair *b,
                                                      Vec (&sums)[height][vectors], const Pair *ahead = nullptr) {
  // Every fourth line's pointer, which moves along: with one for each line, some would be fetched from memory in every
  // step, which only two vectors of a panel leave time for.
  constexpr bool moves = vectors == 1;
  constexpr int pointers = (height + 3) / 4;
  const Pair *from[pointers];
  BRAID_UNROLL
  for (int i = 0; i < pointers; i++) from[i] = a + 4 * i * aRow;
  for (int step = 0; step < pairs; step++) {
    if constexpr (moves) {
      // Compilers would undo it.
      BRAID_UNROLL
      for (int i = 0; i < pointers; i++) asm("" : "+r"(from[i]));
    }
    if (ahead != nullptr && step % kCacheLine == 0) {
      BRAID_UNROLL
      for (int i = 0; i < height; i++) __builtin_prefetch(ahead + i * aRow + step, 0, 2);
    }
    Vec line[vectors];
    BRAID_UNROLL
    for (int j = 0; j < vectors; j++) line[j] = _mm512_loadu_ps(b + (static_cast<int64_t>(step) * vectors + j) * kLanes);
    BRAID_UNROLL
    for (int i = 0; i < height; i++) {
      const Vec x = splatPair(moves ? from[i / 4][i % 4 * aRow] : a[i * aRow + step]);
      BRAID_UNROLL
      for (int j = 0; j < vectors; j++) sums[i][j] = addProducts(sums[i][j], x, line[j]);
    }
    if constexpr (moves) {
      BRAID_UNROLL
      for (int i = 0; i < pointers; i++) from[i]++;
    }
  }
}

// Up to kHeight rows of A by a panel of B, and what the second pair of factors adds.
template <int height>
inline void blockRows(const Product &p, int rows, int row, const Pair *a, int64_t aRow, const Pair *panel, const float *more,
                      int column) {
  if constexpr (height > 0) {
    if (rows < height) return blockRows<height - 1>(p, rows, row, a, aRow, panel, more, column);
    Vec sums[height][2] = {};
    blockPairs(pairsOf(p.k), a, aRow, panel, sums);
    if (p.moreK > 0) block(p.moreK, p.moreA + static_cast<int64_t>(row) * p.moreK, p.moreK, 1, more, kWidth, sums);
    for (int i = 0; i < height; i++)
      for (int j = 0; j < 2 && p.n - column > j * kLanes; j++)
        finish(p.c + (row + i) * p.cRow + column + j * kLanes, sums[i][j], std::min(p.n - column - j * kLanes, kLanes),
               p.alpha, p.accumulate);
  }
}

// A's rows are rounded once; then each tile packs some panels of B for some rows of A.
template <class Number>
void multiplyTiles(const Product &p) {
  Pool &pool = Pool::get();
  const int pairs = pairsOf(p.k), bPanels = panels(p.n, kWidth);
  const int64_t stride = padded(pairs);
  Pair *const a = reinterpret_cast<Pair *>(scratch(0, static_cast<size_t>(p.m) * stride));
  pool.run(panels(p.m, kLanes), [&](int tile) {
    const int row = tile * kLanes, rows = std::min(kLanes, p.m - row);
    for (int pair = 0; pair < pairs; pair += kLanes) {
      Vec lines[kLanes];
      square<true>(p.a + row * p.aRow + 2 * pair * p.aCol, p.aRow, p.aCol, rows, p.k - 2 * pair, lines);
      for (int i = 0; i < rows; i++) _mm512_storeu_ps(a + (row + i) * stride + pair, lines[i]);
    }
  });
  const int64_t panelPairs = static_cast<int64_t>(kWidth) * pairs, panelFloats = static_cast<int64_t>(kWidth) * p.moreK;
  // Several tiles for every thread: fewer panels in each, then fewer rows.
  const int wanted = 4 * pool.threads();
  const int group = std::clamp<int64_t>(kTilePairs / panelPairs, 1, std::max(1, bPanels / wanted));
  const int groups = panels(bPanels, group);
  const int parts = std::clamp(wanted / groups, 1, std::max(1, p.m / kTileRows));
  const int each = panels(panels(p.m, parts), kHeight) * kHeight;
  pool.run(groups * panels(p.m, each), [&](int tile) {
    const int firstPanel = tile % groups * group, count = std::min(group, bPanels - firstPanel);
    const int firstRow = tile / groups * each, end = std::min(p.m, firstRow + each);
    float *const memory = scratch(1, static_cast<size_t>(group) * (panelPairs + panelFloats));
    Pair *const packed = reinterpret_cast<Pair *>(memory);
    float *const more = memory + group * panelPairs;
    for (int j = 0; j < count; j++) {
      const int64_t column = static_cast<int64_t>(firstPanel + j) * kWidth;
      const int columns = std::min<int64_t>(kWidth, p.n - column);
      packPairs<kWidth>(static_cast<const Number *>(p.b) + column * p.bCol, p.bCol, p.bRow, columns, p.k, packed + j * panelPairs);
      if (p.moreK > 0)
        packPanel<kWidth>(p.moreB + column * p.moreBCol, p.moreBCol, p.moreBRow, columns, p.moreK, more + j * panelFloats);
    }
    for (int row = firstRow; row < end; row += kHeight)
      for (int j = 0; j < count; j++)
        blockRows<kHeight>(p, std::min(kHeight, end - row), row, a + row * stride, stride, packed + j * panelPairs,
                           more + j * panelFloats, (firstPanel + j) * kWidth);
  });
}

// The columns of C that belong to `lines` rows of Bᵀ: the roles are exchanged, and Aᵀ is the panel.
template <int height, int vectors>
inline void blockColumns(const Product &p, int lines, const Pair *b, int64_t bCol, const Pair *panel, const float *more, int column) {
  if constexpr (height > 0) {
    if (lines < height) return blockColumns<height - 1, vectors>(p, lines, b, bCol, panel, more, column);
    constexpr int width = vectors * kLanes;
    Vec sums[height][vectors] = {};
    blockPairs(p.k / 2, b, bCol, panel, sums, p.bHalf ? b + height * bCol : nullptr);
    if (p.moreK > 0) block(p.moreK, p.moreB + static_cast<int64_t>(column) * p.moreK, p.moreK, 1, more, width, sums);
    float columns[height][width];
    for (int i = 0; i < height; i++)
      for (int j = 0; j < vectors; j++) store(columns[i] + j * kLanes, sums[i][j] * p.alpha);
    for (int row = 0; row < p.m; row++) {
      float *const c = p.c + row * p.cRow + column;
      for (int i = 0; i < height; i++) c[i] = p.accumulate ? c[i] + columns[i][row] : columns[i][row];
    }
  }
}

// Rows of Bᵀ in pairs: as they lie, or rounded in a memory of this thread's.
inline const Pair *pairedLines(const uint16_t *b, int64_t, int, int) { return reinterpret_cast<const Pair *>(b); }

inline const Pair *pairedLines(const float *b, int64_t bCol, int lines, int k) {
  Pair *const to = reinterpret_cast<Pair *>(scratch(1, static_cast<size_t>(lines) * k / 2 + kLanes));
  for (int line = 0; line < lines; line++)
    for (int at = 0; at < k; at += 2 * kLanes)
      _mm512_storeu_ps(to + (static_cast<int64_t>(line) * k + at) / 2, pairsAt(b + line * bCol + at, std::min(k - at, 2 * kLanes)));
  return to;
}

// Few rows of A: packed, they stay in the cache, while B is read once.
template <int vectors, class Number>
void multiplyFewRows(const Product &p) {
  constexpr int width = vectors * kLanes;
  float *const memory = scratch(0, static_cast<size_t>(width) * (p.k / 2 + p.moreK));
  Pair *const packed = reinterpret_cast<Pair *>(memory);
  float *const more = memory + static_cast<int64_t>(width) * (p.k / 2);
  packPairs<width>(p.a, p.aRow, p.aCol, p.m, p.k, packed);
  if (p.moreK > 0) packPanel<width>(p.moreA, p.moreK, 1, p.m, p.moreK, more);
  const int64_t bCol = (sizeof(Number) == sizeof(float) ? p.k : p.bCol) / 2;
  // About 64 KiB of B a tile.
  const int each = kHeight * std::max(1, std::min(panels(p.n, kHeight) / (4 * Pool::get().threads()), 32768 / p.k / kHeight));
  Pool::get().run(panels(p.n, each), [&](int tile) {
    for (int column = tile * each; column < std::min(p.n, (tile + 1) * each); column += kHeight) {
      const int lines = std::min(kHeight, p.n - column);
      const Pair *const b = pairedLines(static_cast<const Number *>(p.b) + column * p.bCol, p.bCol, lines, p.k);
      blockColumns<kHeight, vectors>(p, lines, b, bCol, packed, more, column);
    }
  });
}

template <class Number>
void multiplyRounded(const Product &p) {
  const bool byColumns = p.m <= kFewRows && p.bRow == 1 && p.k % 2 == 0 && p.bCol % 2 == 0 && (p.moreK == 0 || p.moreBRow == 1);
  if (byColumns) return withVectors(p.m, [&](auto vectors) { multiplyFewRows<vectors, Number>(p); });
  for (int fromK = 0; fromK < p.k; fromK += kMostDepth) {
    const int depth = std::min(kMostDepth, p.k - fromK);
    const int rows = std::max<int64_t>(kLanes, kMostPairs / padded(pairsOf(depth)) / kLanes * kLanes);
    for (int fromM = 0; fromM < p.m; fromM += rows) {
      Product part = p;
      part.m = std::min(rows, p.m - fromM);
      part.k = depth;
      part.a = p.a + fromM * p.aRow + fromK * p.aCol;
      part.b = static_cast<const Number *>(p.b) + fromK * p.bRow;
      part.c = p.c + fromM * p.cRow;
      part.accumulate = p.accumulate || fromK > 0;
      part.moreK = fromK > 0 ? 0 : p.moreK;
      part.moreA = p.moreA + static_cast<int64_t>(fromM) * p.moreK;
      multiplyTiles<Number>(part);
    }
  }
}

}  // namespace

bool hasBfloat16() { return true; }

void multiplyBfloat16(const Product &p) {
  if (p.bHalf) multiplyRounded<uint16_t>(p);
  else multiplyRounded<float>(p);
}

}  // namespace braid

#else

namespace braid {

bool hasBfloat16() { return false; }

void multiplyBfloat16(const Product &) {
  throw ArgumentError("Expected a processor with bfloat16 products (AVX-512 BF16), got one without");
}

}  // namespace braid

#endif
