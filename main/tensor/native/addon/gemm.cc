#include "gemm.h"

#include <algorithm>

#include "kernels.h"
#include "memory.h"
#include "panel.h"
#include "pool.h"

namespace braid {
namespace {

// Floats of a packed operand; what is larger goes in parts.
constexpr int64_t kPackedFloats = 1 << 22;
// Rows of A up to which B is better streamed than packed.
constexpr int kFewRows = 32;
// The same where B is too large to stay in a cache beside them, and A is not.
constexpr int kMoreRows = 256;
constexpr int64_t kLargeB = 1 << 18, kSmallA = 1 << 19;
// Floats of a row of A up to which it is read as it lies.
constexpr int kMostLyingRow = 512;
// Rows of A up to which each tile packs its columns of B itself.
constexpr int kMostColumnRows = 512;
// Rows of A that are too few to fill a panel.
constexpr int kFewestRows = 4;
// Multiplications below which waking other threads costs more than it brings.
constexpr int64_t kSerial = 1 << 18;

// Whether A's rows can be read as they lie: along K, and so near that a block's rows don't share places of the cache.
bool liesWell(const Product &p) { return p.aCol == 1 && p.aRow <= kMostLyingRow; }

// Whether each thread should pack the columns of B that it needs by itself, instead of all together before they start.
bool columnsPay(const Product &p) {
  return liesWell(p) && p.m <= kMostColumnRows && p.k <= kDepth && p.moreK <= kDepth &&
         static_cast<int64_t>(p.m) * p.n * p.k > kSerial && panels(p.n, kWidth) >= 3 * Pool::get().threads();
}

// Whether A's rows, packed, should stay in the cache while B streams past. Vectors of rows at most a quarter empty.
bool streamingPays(const Product &p) {
  if (p.m <= kFewRows) return true;
  const int64_t ofA = static_cast<int64_t>(p.m) * p.k, ofB = static_cast<int64_t>(p.n) * p.k;
  return p.m <= kMoreRows && ofA <= kSmallA && ofB >= kLargeB && 4 * panels(p.m, kLanes) * kLanes <= 5 * p.m;
}

// Up to a few hundred rows of A by columns of B that a tile packs, a panel at a time.
template <class Number>
void multiplyColumns(const Product &p) {
  const int bPanels = panels(p.n, kWidth), allK = p.k + p.moreK;
  const Number *const b = static_cast<const Number *>(p.b);
  // About 64 KiB of B a tile, but several tiles for every thread.
  const int each = std::max(1, std::min(bPanels / (4 * Pool::get().threads()), 16384 / (kWidth * allK)));
  Pool::get().run(panels(bPanels, each), [&](int tile) {
    float *const packed = scratch(1, static_cast<size_t>(kWidth) * allK);
    for (int panel = tile * each; panel < std::min((tile + 1) * each, bPanels); panel++) {
      const int64_t column = static_cast<int64_t>(panel) * kWidth;
      const int columns = std::min<int>(kWidth, p.n - column);
      float *const more = packed + static_cast<int64_t>(p.k) * kWidth;
      packPanel<kWidth>(b + column * p.bCol, p.bCol, p.bRow, columns, p.k, packed);
      if (p.moreK > 0) packPanel<kWidth>(p.moreB + column * p.moreBCol, p.moreBCol, p.moreBRow, columns, p.moreK, more);
      for (int row = 0; row < p.m; row += kHeight) {
        const int rows = std::min(kHeight, p.m - row);
        float *const c = p.c + row * p.cRow + column;
        blockRows<kHeight>(rows, p.k, p.a + row * p.aRow, p.aRow, 1, packed, kWidth, c, p.cRow, columns, p.alpha,
                           p.accumulate);
        if (p.moreK > 0)
          blockRows<kHeight>(rows, p.moreK, p.moreA + static_cast<int64_t>(row) * p.moreK, p.moreK, 1, more, kWidth, c,
                             p.cRow, columns, p.alpha, true);
      }
    }
  });
}

// A product whose packed operands fit. Packed: [part of K][panel][step][line of the panel]. The second pair of factors is
// one more part of K.
template <class Number>
void multiplyPacked(const Product &p) {
  Pool &pool = Pool::get();
  const int aPanels = panels(p.m, kHeight), bPanels = panels(p.n, kWidth);
  const int own = panels(p.k, kDepth), parts = own + (p.moreK > 0 ? 1 : 0), allK = p.k + p.moreK;
  const auto fromOf = [&](int part) { return part < own ? part * kDepth : p.k; };
  const auto depthOf = [&](int part) { return part < own ? std::min(kDepth, p.k - part * kDepth) : p.moreK; };
  const bool parallel = static_cast<int64_t>(p.m) * p.n * p.k > kSerial;
  const bool packsA = !liesWell(p);
  float *const packedA = packsA ? scratch(0, static_cast<size_t>(aPanels) * kHeight * allK) : nullptr;
  float *const packedB = scratch(1, static_cast<size_t>(bPanels) * kWidth * allK);
  const Number *const b = static_cast<const Number *>(p.b);
  const auto each = [&](int tiles, const auto &work) {
    if (parallel) pool.run(tiles, work);
    else
      for (int tile = 0; tile < tiles; tile++) work(tile);
  };
  // A tile packs a part of K of several panels.
  const int aGroup = std::max(1, 24 / parts), bGroup = std::max(1, 8 / parts);
  const int aTiles = packsA ? panels(aPanels, aGroup) * parts : 0;
  each(aTiles + panels(bPanels, bGroup) * parts, [&](int tile) {
    const bool ofA = tile < aTiles;
    if (!ofA) tile -= aTiles;
    const int part = tile % parts, from = fromOf(part), depth = depthOf(part);
    const int group = ofA ? aGroup : bGroup, first = tile / parts * group;
    for (int panel = first; panel < std::min(first + group, ofA ? aPanels : bPanels); panel++) {
      if (ofA) {
        const int64_t line = static_cast<int64_t>(panel) * kHeight;
        const int lines = std::min<int>(kHeight, p.m - line);
        float *const to = packedA + (static_cast<int64_t>(from) * aPanels + static_cast<int64_t>(panel) * depth) * kHeight;
        if (part < own) packPanel<kHeight>(p.a + line * p.aRow + from * p.aCol, p.aRow, p.aCol, lines, depth, to);
        else packPanel<kHeight>(p.moreA + line * p.moreK, p.moreK, 1, lines, depth, to);
      } else {
        const int64_t line = static_cast<int64_t>(panel) * kWidth;
        const int lines = std::min<int>(kWidth, p.n - line);
        float *const to = packedB + (static_cast<int64_t>(from) * bPanels + static_cast<int64_t>(panel) * depth) * kWidth;
        if (part < own) packPanel<kWidth>(b + line * p.bCol + from * p.bRow, p.bCol, p.bRow, lines, depth, to);
        else packPanel<kWidth>(p.moreB + line * p.moreBCol, p.moreBCol, p.moreBRow, lines, depth, to);
      }
    }
  });
  // Blocks small enough to give each thread several.
  int down = std::min(16, aPanels), across = std::min(12, bPanels);
  while (panels(aPanels, down) * panels(bPanels, across) < 4 * pool.threads() && (down > 4 || across > 2)) {
    if (down > 4 && down * kHeight >= across * kWidth / 2) down = (down + 1) / 2;
    else if (across > 2) across = (across + 1) / 2;
    else down = (down + 1) / 2;
  }
  const int blocksAcross = panels(bPanels, across);
  each(panels(aPanels, down) * blocksAcross, [&](int tile) {
    const int firstA = tile / blocksAcross * down, firstB = tile % blocksAcross * across;
    for (int part = 0; part < parts; part++) {
      const int from = fromOf(part), depth = depthOf(part);
      for (int j = firstB; j < std::min(firstB + across, bPanels); j++) {
        const float *const bPanel = packedB + (static_cast<int64_t>(from) * bPanels + static_cast<int64_t>(j) * depth) * kWidth;
        for (int i = firstA; i < std::min(firstA + down, aPanels); i++) {
          const int row = i * kHeight, column = j * kWidth, rows = std::min(kHeight, p.m - row);
          float *const c = p.c + row * p.cRow + column;
          const int columns = std::min(kWidth, p.n - column);
          const bool accumulate = p.accumulate || from > 0;
          if (packsA) {
            const float *const aPanel = packedA + (static_cast<int64_t>(from) * aPanels + static_cast<int64_t>(i) * depth) * kHeight;
            blockRows<kHeight>(rows, depth, aPanel, 1, kHeight, bPanel, kWidth, c, p.cRow, columns, p.alpha, accumulate);
          } else {
            const float *const a = part < own ? p.a + row * p.aRow + from : p.moreA + static_cast<int64_t>(row) * p.moreK;
            const int64_t aRow = part < own ? p.aRow : p.moreK;
            blockRows<kHeight>(rows, depth, a, aRow, 1, bPanel, kWidth, c, p.cRow, columns, p.alpha, accumulate);
          }
        }
      }
    }
  });
}

// Calls span(first, end) for all columns of C, in parts of a multiple of `each` where other threads are worth waking.
template <class Span>
void shareColumns(const Product &p, int each, const Span &span) {
  if (static_cast<int64_t>(p.m) * p.n * p.k <= kSerial) return span(0, p.n);
  Pool &pool = Pool::get();
  const int part = each * std::max(1, std::min(panels(p.n, 24 * pool.threads()), 98304 / p.k / each));
  pool.run(panels(p.n, part), [&](int tile) { span(tile * part, std::min(p.n, (tile + 1) * part)); });
}

// Sums of products of `rows` rows of A by `columns` rows of Bᵀ, all contiguous along K.
template <int rows, int columns, class Number>
inline void dots(const Product &p, int row, int column) {
  const float *a[rows];
  const Number *b[columns];
  for (int i = 0; i < rows; i++) a[i] = p.a + (row + i) * p.aRow;
  for (int j = 0; j < columns; j++) b[j] = static_cast<const Number *>(p.b) + (column + j) * p.bCol;
  Vec sums[rows][columns] = {};
  int k = 0;
  for (; k + kLanes <= p.k; k += kLanes) {
    Vec x[columns];
    for (int j = 0; j < columns; j++) {
      x[j] = vecAt(b[j] + k);
      // What comes after these columns, while they are at work for the first time.
      if (row == 0) __builtin_prefetch(b[j] + columns * p.bCol + k);
    }
    for (int i = 0; i < rows; i++) {
      const Vec y = load(a[i] + k);
      for (int j = 0; j < columns; j++) sums[i][j] += x[j] * y;
    }
  }
  int more = 0;
  for (; more + kLanes <= p.moreK; more += kLanes)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++)
        sums[i][j] += load(p.moreA + (row + i) * p.moreK + more) * load(p.moreB + (column + j) * p.moreK + more);
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      float sum = sumLanes(sums[i][j]);
      for (int rest = k; rest < p.k; rest++) sum += a[i][rest] * numberAt(b[j], rest);
      for (int rest = more; rest < p.moreK; rest++)
        sum += p.moreA[(row + i) * p.moreK + rest] * p.moreB[(column + j) * p.moreK + rest];
      float &c = p.c[(row + i) * p.cRow + column + j];
      c = p.accumulate ? c + p.alpha * sum : p.alpha * sum;
    }
  }
}

template <int columns, class Number>
void dotColumns(const Product &p, int column) {
  int row = 0;
  for (; row + 4 <= p.m; row += 4) dots<4, columns, Number>(p, row, column);
  for (; row < p.m; row++) dots<1, columns, Number>(p, row, column);
}

// The columns of C that belong to `lines` rows of Bᵀ, for the rows of A that a panel holds. The roles are exchanged:
// Bᵀ's rows are the lines, and Aᵀ is the panel.
template <int height, int vectors>
inline void blockColumns(const Product &p, int lines, const float *b, int64_t bCol, const float *panel, int row, int column) {
  if constexpr (height > 0) {
    if (lines < height) return blockColumns<height - 1, vectors>(p, lines, b, bCol, panel, row, column);
    constexpr int width = vectors * kLanes;
    float columns[height][width];
    // Parts of K as in other products: the same sums, however many rows there are.
    const auto add = [&](int from, int depth, const float *lines, int64_t stride, const float *ahead) {
      Vec sums[height][vectors] = {};
      block(depth, lines, stride, 1, panel + static_cast<int64_t>(from) * width, width, sums, ahead);
      for (int i = 0; i < height; i++) {
        for (int j = 0; j < vectors; j++) {
          float *const to = columns[i] + j * kLanes;
          store(to, from > 0 ? load(to) + sums[i][j] * p.alpha : sums[i][j] * p.alpha);
        }
      }
    };
    const bool fetches = row == 0 && !p.bHalf;
    for (int from = 0; from < p.k; from += kDepth)
      add(from, std::min(kDepth, p.k - from), b + from, bCol, fetches ? b + from + height * bCol : nullptr);
    if (p.moreK > 0) add(p.k, p.moreK, p.moreB + static_cast<int64_t>(column) * p.moreK, p.moreK, nullptr);
    for (int at = 0; at < std::min(width, p.m - row); at++) {
      float *const c = p.c + (row + at) * p.cRow + column;
      for (int i = 0; i < height; i++) c[i] = p.accumulate ? c[i] + columns[i][at] : columns[i][at];
    }
  }
}

// Rows of Bᵀ as float32: as they lie, or widened in a memory of this thread's.
inline const float *widened(const float *b, int64_t, int, int) { return b; }

inline const float *widened(const uint16_t *b, int64_t bCol, int lines, int k) {
  float *const wide = scratch(1, static_cast<size_t>(lines) * k);
  for (int line = 0; line < lines; line++) {
    int at = 0;
    for (; at + kLanes <= k; at += kLanes) store(wide + line * k + at, vecAt(b + line * bCol + at));
    for (; at < k; at++) wide[line * k + at] = numberAt(b + line * bCol, at);
  }
  return wide;
}

// A's rows, packed, stay in the cache, while B is read once and as it lies.
template <class Number>
void multiplyFewRows(const Product &p) {
  const int depth = p.k + p.moreK;
  float *const packed = scratch(0, static_cast<size_t>(panels(p.m, kLanes)) * kLanes * depth);
  for (int row = 0; row < p.m; row += kWidth) {
    float *const to = packed + static_cast<int64_t>(row) * depth;
    withVectors(p.m - row, [&](auto vectors) {
      constexpr int width = vectors * kLanes;
      const int rows = std::min<int>(width, p.m - row);
      packPanel<width>(p.a + row * p.aRow, p.aRow, 1, rows, p.k, to);
      if (p.moreK > 0)
        packPanel<width>(p.moreA + static_cast<int64_t>(row) * p.moreK, p.moreK, 1, rows, p.moreK, to + static_cast<int64_t>(width) * p.k);
    });
  }
  const auto span = [&](int first, int end) {
    for (int column = first; column < end; column += kHeight) {
      const int lines = std::min(kHeight, end - column);
      const Number *const from = static_cast<const Number *>(p.b) + column * p.bCol;
      const float *const b = widened(from, p.bCol, lines, p.k);
      const int64_t bCol = sizeof(Number) == sizeof(float) ? p.bCol : p.k;
      for (int row = 0; row < p.m; row += kWidth) {
        const float *const panel = packed + static_cast<int64_t>(row) * depth;
        withVectors(p.m - row, [&](auto vectors) { blockColumns<kHeight, vectors>(p, lines, b, bCol, panel, row, column); });
      }
    }
  };
  shareColumns(p, kHeight, span);
}

// A row or a few of A: B is read once, three of its rows at a time, against all rows of A as they lie.
template <class Number>
void multiplyFewest(const Product &p) {
  shareColumns(p, 3, [&](int first, int end) {
    int column = first;
    for (; column + 3 <= end; column += 3) dotColumns<3, Number>(p, column);
    for (; column < end; column++) dotColumns<1, Number>(p, column);
  });
}

// Columns of B that fill no more than a panel: packed, it stays in the cache, while A is read once and as it lies.
template <int vectors>
void multiplyNarrow(const Product &p) {
  constexpr int width = vectors * kLanes;
  float *const packed = scratch(1, static_cast<size_t>(width) * p.k);
  packPanel<width>(static_cast<const float *>(p.b), p.bCol, p.bRow, p.n, p.k, packed);
  const auto span = [&](int first, int end) {
    // Parts of K as in other products: the same sums.
    for (int from = 0; from < p.k; from += kDepth) {
      const int depth = std::min(kDepth, p.k - from);
      for (int row = first; row < end; row += kHeight)
        blockRows<kHeight, vectors>(std::min(kHeight, end - row), depth, p.a + row * p.aRow + from * p.aCol, p.aRow, p.aCol,
                                    packed + from * width, width, p.c + row * p.cRow, p.cRow, p.n, p.alpha,
                                    p.accumulate || from > 0);
    }
  };
  if (static_cast<int64_t>(p.m) * p.n * p.k <= kSerial) return span(0, p.m);
  const int each = kHeight * std::max(1, p.m / (kHeight * 8 * Pool::get().threads()));
  Pool::get().run(panels(p.m, each), [&](int tile) { span(tile * each, std::min(p.m, (tile + 1) * each)); });
}

template <class Number>
void multiplyInParts(const Product &p) {
  // K in even parts, then N, then M, so that packed operands stay within their limit.
  const int depth = panels(p.k, panels(p.k, 4096));
  const int lines = std::max<int64_t>(kHeight * kWidth, kPackedFloats / depth / (kHeight * kWidth) * (kHeight * kWidth));
  for (int fromK = 0; fromK < p.k; fromK += depth) {
    for (int fromN = 0; fromN < p.n; fromN += lines) {
      for (int fromM = 0; fromM < p.m; fromM += lines) {
        Product part = p;
        part.m = std::min(lines, p.m - fromM);
        part.n = std::min(lines, p.n - fromN);
        part.k = std::min(depth, p.k - fromK);
        part.a = p.a + fromM * p.aRow + fromK * p.aCol;
        part.b = static_cast<const Number *>(p.b) + fromK * p.bRow + fromN * p.bCol;
        part.c = p.c + fromM * p.cRow + fromN;
        part.accumulate = p.accumulate || fromK > 0;
        // With the last part of K: its sums are added to the same blocks while they are near.
        part.moreK = fromK + depth < p.k ? 0 : p.moreK;
        if (part.moreK > 0) {
          part.moreA = p.moreA + static_cast<int64_t>(fromM) * p.moreK;
          part.moreB = p.moreB + fromN * p.moreBCol;
        }
        multiplyPacked<Number>(part);
      }
    }
  }
}

}  // namespace

void multiply(const Product &p) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) {
    for (int row = 0; !p.accumulate && row < p.m; row++) std::fill_n(p.c + row * p.cRow, p.n, 0.0f);
    return;
  }
  if (p.rounds) return multiplyBfloat16(p);
  if (p.aCol == 1 && p.bRow == 1 && p.k >= kLanes && (p.moreK == 0 || p.moreBRow == 1)) {
    if (p.m <= kFewestRows) return p.bHalf ? multiplyFewest<uint16_t>(p) : multiplyFewest<float>(p);
    if (streamingPays(p)) return p.bHalf ? multiplyFewRows<uint16_t>(p) : multiplyFewRows<float>(p);
  }
  if (p.n <= kWidth && p.moreK == 0 && !p.bHalf && p.m > kFewRows)
    return withVectors(p.n, [&](auto vectors) { multiplyNarrow<vectors>(p); });
  if (columnsPay(p)) return p.bHalf ? multiplyColumns<uint16_t>(p) : multiplyColumns<float>(p);
  if (p.bHalf) multiplyInParts<uint16_t>(p);
  else multiplyInParts<float>(p);
}

void multiplyHere(const Product &p) {
  const float *const b = static_cast<const float *>(p.b);
  for (int column = 0; column < p.n; column += kWidth)
    withVectors(p.n - column, [&](auto vectors) {
      for (int row = 0; row < p.m; row += kHeight)
        blockRows<kHeight, vectors, true>(std::min(kHeight, p.m - row), p.k, p.a + row * p.aRow, p.aRow, p.aCol, b + column,
                                          p.bRow, p.c + row * p.cRow + column, p.cRow, vectors * kLanes, p.alpha, p.accumulate);
    });
}

// a [M, K], b [K, N], each transposed where that is said → out [M, N] = alpha·a·b. b may be bfloat16. With lowA [M, R]
// and lowB, alpha·lowA·lowB is added too, with lowB transposed as b is: [N, R] or [R, N]. bfloat16: a and b are rounded.
void product(const Call<args::product> &call) {
  const Matrix a = call.matrix(call.a), b = call.matrix(call.b);
  const bool transposeA = call.flag(call.transposeA), transposeB = call.flag(call.transposeB);
  Product p{};
  p.m = transposeA ? a.columns : a.rows;
  p.k = transposeA ? a.rows : a.columns;
  p.n = transposeB ? b.rows : b.columns;
  p.a = call.floats(call.a);
  p.b = transposeB ? call.floatsOrHalves(call.b, {p.n, p.k}) : call.floatsOrHalves(call.b, {p.k, p.n});
  p.c = call.floats(call.out, {p.m, p.n});
  p.aRow = transposeA ? 1 : a.columns;
  p.aCol = transposeA ? a.columns : 1;
  p.bRow = transposeB ? 1 : b.columns;
  p.bCol = transposeB ? b.columns : 1;
  p.cRow = p.n;
  p.alpha = call.number(call.alpha);
  p.bHalf = call.isHalf(call.b);
  p.rounds = call.flag(call.bfloat16);
  if (call.has(call.lowA)) {
    p.moreK = call.matrix(call.lowA).columns;
    p.moreA = call.floats(call.lowA, {p.m, p.moreK});
    p.moreB = transposeB ? call.floats(call.lowB, {p.n, p.moreK}) : call.floats(call.lowB, {p.moreK, p.n});
    p.moreBRow = transposeB ? 1 : p.n;
    p.moreBCol = transposeB ? p.moreK : 1;
  }
  multiply(p);
}

}  // namespace braid
