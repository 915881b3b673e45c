// Causal attention over a packed batch. A segment's tokens see all of their prefix, which other segments may share, and
// of their own segment themselves and what comes before.
//
// H query heads, K key/value heads, R = H / K; "rows" are tokens times the R heads that share keys.
#include <algorithm>
#include <vector>

#include "gemm.h"
#include "kernels.h"
#include "pool.h"
#include "simd.h"

namespace braid {
namespace {

// Rows whose scores are computed at a time.
constexpr int kRows = 48;

struct Segment {
  int start, length, prefix, prefixLength;
};

struct Shape {
  int heads, kvHeads, headDim, group;
  float scale;
  int queryWidth() const { return heads * headDim; }
  int keyWidth() const { return kvHeads * headDim; }
};

Shape shapeOf(const Call &call, int first) {
  const int heads = call.integer(first), kvHeads = call.integer(first + 1);
  return {heads, kvHeads, call.integer(first + 2), heads / kvHeads, call.number(first + 3)};
}

std::vector<Segment> segmentsOf(const int32_t *table, int count) {
  std::vector<Segment> segments;
  for (int i = 0; i < count; i++) {
    const Segment segment{table[4 * i], table[4 * i + 1], table[4 * i + 2], table[4 * i + 3]};
    if (segment.length > 0) segments.push_back(segment);
  }
  return segments;
}

// The token of a segment's i-th key: its prefix's first, then its own.
int keyToken(const Segment &s, int i) { return i < s.prefixLength ? s.prefix + i : s.start + i - s.prefixLength; }

// One head's keys of a segment, turned: [d, padded keys].
void gatherTurned(const float *x, const Segment &s, const Shape &shape, int kvHead, float *to) {
  const int keys = s.prefixLength + s.length, stride = padded(keys);
  std::fill(to, to + static_cast<int64_t>(shape.headDim) * stride, 0.0f);
  for (int i = 0; i < keys; i++) {
    const float *const from = x + static_cast<int64_t>(keyToken(s, i)) * shape.keyWidth() + kvHead * shape.headDim;
    for (int d = 0; d < shape.headDim; d++) to[static_cast<int64_t>(d) * stride + i] = from[d];
  }
}

// The same as they lie: [keys, padded d].
void gatherKeys(const float *x, const Segment &s, const Shape &shape, int kvHead, float *to) {
  const int keys = s.prefixLength + s.length, stride = padded(shape.headDim);
  for (int i = 0; i < keys; i++) {
    const float *const from = x + static_cast<int64_t>(keyToken(s, i)) * shape.keyWidth() + kvHead * shape.headDim;
    std::memcpy(to + static_cast<int64_t>(i) * stride, from, shape.headDim * sizeof(float));
    std::fill(to + static_cast<int64_t>(i) * stride + shape.headDim, to + static_cast<int64_t>(i + 1) * stride, 0.0f);
  }
}

int64_t queryAt(const Segment &s, const Shape &shape, int kvHead, int row) {
  return static_cast<int64_t>(s.start + row / shape.group) * shape.queryWidth() +
         (kvHead * shape.group + row % shape.group) * shape.headDim;
}

// Rows first … end-1 of a segment's queries for one key/value head: [rows, padded d].
void gatherQueries(const float *x, const Segment &s, const Shape &shape, int kvHead, int first, int end, float *to) {
  const int stride = padded(shape.headDim);
  for (int row = first; row < end; row++, to += stride) {
    std::memcpy(to, x + queryAt(s, shape, kvHead, row), shape.headDim * sizeof(float));
    std::fill(to + shape.headDim, to + stride, 0.0f);
  }
}

// Keys that a row sees.
int visible(const Segment &s, const Shape &shape, int row) { return s.prefixLength + row / shape.group + 1; }

// Overwrites a row of scores by exp(score·scale − shift); what the row doesn't see becomes 0. Returns the sum.
float weigh(float *row, int seen, int stride, float scale, float shift) {
  Vec sums{};
  eachVec(stride, [&](int at, int lanes) {
    const int count = std::min(lanes, std::max(0, seen - at));
    if (count == 0) return storeUpTo(row + at, Vec{}, lanes);
    const Vec weight = exp(loadUpTo(row + at, count, -INFINITY) * scale - shift);
    sums += weight;
    storeUpTo(row + at, weight, lanes);
  });
  return sumLanes(sums);
}

float largest(const float *row, int seen) {
  Vec most = splat(-INFINITY);
  eachVec(seen, [&](int at, int lanes) { most = larger(most, loadUpTo(row + at, lanes, -INFINITY)); });
  return maxLanes(most);
}

// Segments that share keys with each other stand under the same number.
std::vector<std::vector<Segment>> connected(const std::vector<Segment> &segments) {
  std::vector<int> group(segments.size());
  for (size_t i = 0; i < segments.size(); i++) group[i] = static_cast<int>(i);
  const auto root = [&](int i) {
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
  };
  std::vector<std::pair<int, int>> starts;
  for (size_t i = 0; i < segments.size(); i++) starts.push_back({segments[i].start, static_cast<int>(i)});
  std::sort(starts.begin(), starts.end());
  for (size_t i = 0; i < segments.size(); i++) {
    const Segment &s = segments[i];
    if (s.prefixLength == 0) continue;
    auto owner = std::upper_bound(starts.begin(), starts.end(), std::make_pair(s.prefix, INT32_MAX));
    if (owner != starts.begin()) --owner;
    for (; owner != starts.end() && owner->first < s.prefix + s.prefixLength; ++owner) {
      const int a = root(static_cast<int>(i)), b = root(owner->second);
      group[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<std::vector<Segment>> groups(segments.size());
  for (size_t i = 0; i < segments.size(); i++) groups[root(static_cast<int>(i))].push_back(segments[i]);
  groups.erase(std::remove_if(groups.begin(), groups.end(), [](const auto &g) { return g.empty(); }), groups.end());
  return groups;
}

void attendSegment(const Call &call, const Shape &shape, const Segment &s, int kvHead) {
  const int keys = s.prefixLength + s.length, stride = padded(keys), width = padded(shape.headDim);
  float *const turnedK = scratch(2, static_cast<size_t>(shape.headDim) * stride);
  float *const v = scratch(3, static_cast<size_t>(keys) * width);
  float *const scores = scratch(4, static_cast<size_t>(kRows) * stride);
  float *const q = scratch(5, 2 * static_cast<size_t>(kRows) * width), *const out = q + kRows * width;
  gatherTurned(call.floats(1), s, shape, kvHead, turnedK);
  gatherKeys(call.floats(2), s, shape, kvHead, v);
  const int all = s.length * shape.group;
  for (int first = 0; first < all; first += kRows) {
    const int rows = std::min(kRows, all - first), seen = visible(s, shape, first + rows - 1);
    gatherQueries(call.floats(0), s, shape, kvHead, first, first + rows, q);
    multiplyHere({rows, seen, shape.headDim, q, width, 1, turnedK, stride, 1, scores, stride});
    float totals[kRows];
    for (int i = 0; i < rows; i++) {
      float *const row = scores + static_cast<int64_t>(i) * stride;
      const int own = visible(s, shape, first + i);
      const float most = largest(row, own) * shape.scale;
      totals[i] = weigh(row, own, padded(seen), shape.scale, most);
      const int token = s.start + (first + i) / shape.group, head = kvHead * shape.group + (first + i) % shape.group;
      call.floats(5)[static_cast<int64_t>(token) * shape.heads + head] = most + std::log(totals[i]);
    }
    multiplyHere({rows, shape.headDim, seen, scores, stride, 1, v, width, 1, out, width});
    for (int i = 0; i < rows; i++) {
      float *const to = call.floats(4) + queryAt(s, shape, kvHead, first + i);
      const float factor = 1 / totals[i];
      for (int d = 0; d < shape.headDim; d++) to[d] = out[i * width + d] * factor;
    }
  }
}

}  // namespace

// q [N, H*d], k, v [N, K*d], segments [S, 4] → out [N, H*d], lse [N, H]; S, H, K, d, scale.
void attention(const Call &call) {
  const Shape shape = shapeOf(call, 1);
  const std::vector<Segment> segments = segmentsOf(call.ints(3), call.integer(0));
  Pool::get().run(static_cast<int>(segments.size()) * shape.kvHeads, [&](int tile) {
    attendSegment(call, shape, segments[tile / shape.kvHeads], tile % shape.kvHeads);
  });
}

namespace {

// Adds rows [keys, padded d] to the gradient of a segment's keys.
void scatterAdd(const float *from, const Segment &s, const Shape &shape, int kvHead, float *to) {
  const int stride = padded(shape.headDim);
  for (int i = 0; i < s.prefixLength + s.length; i++) {
    float *const row = to + static_cast<int64_t>(keyToken(s, i)) * shape.keyWidth() + kvHead * shape.headDim;
    for (int d = 0; d < shape.headDim; d++) row[d] += from[static_cast<int64_t>(i) * stride + d];
  }
}

// dS = P ∘ (dO·Vᵀ − rowsum(dO ∘ O)) (as FlashAttention's backward pass, Dao et al. 2022); then dQ = dS·K·scale,
// dK = dSᵀ·Q·scale, dV = Pᵀ·dO.
void gradSegment(const Call &call, const Shape &shape, const Segment &s, int kvHead) {
  const int keys = s.prefixLength + s.length, stride = padded(keys), width = padded(shape.headDim);
  const size_t turned = static_cast<size_t>(shape.headDim) * stride, straight = static_cast<size_t>(keys) * width;
  float *const turnedK = scratch(2, 2 * turned), *const turnedV = turnedK + turned;
  float *const k = scratch(3, 3 * straight), *const dk = k + straight, *const dv = dk + straight;
  float *const p = scratch(4, 2 * static_cast<size_t>(kRows) * stride), *const dS = p + kRows * stride;
  float *const q = scratch(5, 3 * static_cast<size_t>(kRows) * width), *const dOut = q + kRows * width;
  float *const dq = dOut + kRows * width;
  gatherTurned(call.floats(2), s, shape, kvHead, turnedK);
  gatherTurned(call.floats(3), s, shape, kvHead, turnedV);
  gatherKeys(call.floats(2), s, shape, kvHead, k);
  std::fill(dk, dk + 2 * straight, 0.0f);
  const int all = s.length * shape.group;
  for (int first = 0; first < all; first += kRows) {
    const int rows = std::min(kRows, all - first), seen = visible(s, shape, first + rows - 1), columns = padded(seen);
    gatherQueries(call.floats(1), s, shape, kvHead, first, first + rows, q);
    gatherQueries(call.floats(0), s, shape, kvHead, first, first + rows, dOut);
    multiplyHere({rows, seen, shape.headDim, q, width, 1, turnedK, stride, 1, p, stride});
    multiplyHere({rows, seen, shape.headDim, dOut, width, 1, turnedV, stride, 1, dS, stride});
    for (int i = 0; i < rows; i++) {
      float *const row = p + static_cast<int64_t>(i) * stride, *const slopes = dS + static_cast<int64_t>(i) * stride;
      const int64_t at = queryAt(s, shape, kvHead, first + i);
      const int token = s.start + (first + i) / shape.group, head = kvHead * shape.group + (first + i) % shape.group;
      weigh(row, visible(s, shape, first + i), columns, shape.scale,
            call.floats(5)[static_cast<int64_t>(token) * shape.heads + head]);
      const float delta = dot(call.floats(0) + at, call.floats(4) + at, shape.headDim);
      eachVec(columns, [&](int column, int lanes) {
        storeUpTo(slopes + column, loadUpTo(row + column, lanes) * (loadUpTo(slopes + column, lanes) - delta), lanes);
      });
    }
    multiplyHere({rows, shape.headDim, seen, dS, stride, 1, k, width, 1, dq, width, shape.scale});
    for (int i = 0; i < rows; i++)
      std::memcpy(call.floats(6) + queryAt(s, shape, kvHead, first + i), dq + i * width, shape.headDim * sizeof(float));
    multiplyHere({seen, shape.headDim, rows, dS, 1, stride, q, width, 1, dk, width, shape.scale, true});
    multiplyHere({seen, shape.headDim, rows, p, 1, stride, dOut, width, 1, dv, width, 1, true});
  }
  scatterAdd(dk, s, shape, kvHead, call.floats(7));
  scatterAdd(dv, s, shape, kvHead, call.floats(8));
}

}  // namespace

// dy [N, H*d], q [N, H*d], k, v [N, K*d], out [N, H*d], lse [N, H] → dq, dk, dv; segments [S, 4] comes last;
// S, N, H, K, d, scale. A tile takes all segments that share keys, one after the other.
void attentionGrad(const Call &call) {
  const Shape shape = shapeOf(call, 2);
  const auto groups = connected(segmentsOf(call.ints(9), call.integer(0)));
  const size_t size = static_cast<size_t>(call.integer(1)) * shape.keyWidth();
  std::fill_n(call.floats(7), size, 0.0f);
  std::fill_n(call.floats(8), size, 0.0f);
  Pool::get().run(static_cast<int>(groups.size()) * shape.kvHeads, [&](int tile) {
    for (const Segment &s : groups[tile / shape.kvHeads]) gradSegment(call, shape, s, tile % shape.kvHeads);
  });
}

}  // namespace braid
