// Causal attention over a packed batch. A segment's tokens see all of their prefix, which other segments may share, and
// of their own segment themselves and what comes before. A segment that is its own prefix sees all of itself.
//
// N tokens, S segments, H query heads, K key/value heads, R = H / K, d head_dim; "rows" are tokens times the R heads that
// share keys.
#include "attention.h"

#include <algorithm>
#include <vector>

#include "gemm.h"
#include "kernels.h"
#include "memory.h"
#include "pool.h"
#include "simd.h"

namespace braid {
namespace {

// Rows whose scores are computed at a time.
constexpr int kRows = 48;

struct Segment {
  int start, length, prefix, prefixLength;

  bool isWhole() const { return prefixLength > 0 && prefix == start && prefixLength == length; }
  int keys() const { return isWhole() ? length : prefixLength + length; }
};

std::string span(int64_t start, int64_t length) {
  return std::to_string(start) + ".." + std::to_string(start + length);
}

// The segments of a table [S, 4] of (start, length, prefix, prefix length), but for empty ones. They cover all tokens,
// each once, in any order, and a prefix lies outside its segment or is it.
template <class Args>
std::vector<Segment> segmentsOf(const Call<Args> &call, int tokens) {
  const int count = call.matrix(call.segments).rows;
  const int32_t *const table = call.ints(call.segments, {count, 4});
  std::vector<Segment> segments;
  for (int i = 0; i < count; i++) {
    const Segment segment{table[4 * i], table[4 * i + 1], table[4 * i + 2], table[4 * i + 3]};
    if (segment.length > 0) segments.push_back(segment);
  }
  std::vector<Segment> sorted = segments;
  std::sort(sorted.begin(), sorted.end(), [](const Segment &a, const Segment &b) { return a.start < b.start; });
  int64_t covered = 0;
  for (const Segment &s : sorted) {
    if (s.start != covered)
      call.reject(call.segments, "to have one that starts at token " + std::to_string(covered), std::to_string(s.start));
    covered += s.length;
    if (s.prefixLength == 0 || s.isWhole()) continue;
    const int64_t prefixEnd = static_cast<int64_t>(s.prefix) + s.prefixLength;
    const bool inside = s.prefix >= 0 && s.prefixLength > 0 && prefixEnd <= tokens;
    if (inside && (prefixEnd <= s.start || s.prefix >= covered)) continue;
    call.reject(call.segments, "to have a prefix within " + span(0, tokens) + " outside " + span(s.start, s.length),
                span(s.prefix, s.prefixLength));
  }
  if (covered != tokens)
    call.reject(call.segments, "to cover " + std::to_string(tokens) + " tokens", std::to_string(covered));
  return segments;
}

// The token of a segment's i-th key: its prefix's first, then its own.
int keyToken(const Segment &s, int i) { return i < s.prefixLength ? s.prefix + i : s.start + i - s.prefixLength; }

// One head's keys of a segment, transposed: [d, padded keys].
void gatherTransposed(const float *x, const Segment &s, const Heads &heads, int kvHead, float *to) {
  const int keys = s.keys(), stride = padded(keys);
  for (int first = 0; first < keys; first += kLanes) {
    const int lanes = std::min(kLanes, keys - first);
    const float *from[kLanes];
    for (int i = 0; i < lanes; i++)
      from[i] = x + static_cast<int64_t>(keyToken(s, first + i)) * heads.keyWidth() + kvHead * heads.headDim;
    for (int d = 0; d < heads.headDim; d += kLanes) {
      const int numbers = std::min(kLanes, heads.headDim - d);
      Vec rows[kLanes] = {};
      for (int i = 0; i < lanes; i++) rows[i] = loadUpTo(from[i] + d, numbers);
      transpose(rows);
      for (int i = 0; i < numbers; i++) store(to + static_cast<int64_t>(d + i) * stride + first, rows[i]);
    }
  }
}

// The same as they lie: [keys, padded d].
void gatherKeys(const float *x, const Segment &s, const Heads &heads, int kvHead, float *to) {
  const int keys = s.keys(), stride = padded(heads.headDim);
  for (int i = 0; i < keys; i++) {
    const float *const from = x + static_cast<int64_t>(keyToken(s, i)) * heads.keyWidth() + kvHead * heads.headDim;
    copyPadded(from, heads.headDim, to + static_cast<int64_t>(i) * stride);
  }
}

int64_t queryAt(const Segment &s, const Heads &heads, int kvHead, int row) {
  return static_cast<int64_t>(s.start + row / heads.group) * heads.queryWidth() +
         (kvHead * heads.group + row % heads.group) * heads.headDim;
}

// Rows first … end-1 of a segment's queries for one key/value head: [rows, padded d].
void gatherQueries(const float *x, const Segment &s, const Heads &heads, int kvHead, int first, int end, float *to) {
  const int stride = padded(heads.headDim);
  for (int row = first; row < end; row++, to += stride) copyPadded(x + queryAt(s, heads, kvHead, row), heads.headDim, to);
}

// Keys that a row sees.
int visible(const Segment &s, const Heads &heads, int row) {
  return s.isWhole() ? s.length : s.prefixLength + row / heads.group + 1;
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

struct Forward {
  const float *q, *k, *v;
  float *out, *lse;
};

void attendSegment(const Forward &x, const Heads &heads, const Segment &s, int kvHead) {
  const int keys = s.keys(), stride = padded(keys), width = padded(heads.headDim);
  float *const transposedK = scratch(2, static_cast<size_t>(heads.headDim) * stride);
  float *const v = scratch(3, static_cast<size_t>(keys) * width);
  float *const scores = scratch(4, static_cast<size_t>(kRows) * stride);
  float *const q = scratch(5, 2 * static_cast<size_t>(kRows) * width), *const out = q + kRows * width;
  gatherTransposed(x.k, s, heads, kvHead, transposedK);
  gatherKeys(x.v, s, heads, kvHead, v);
  const int all = s.length * heads.group;
  for (int first = 0; first < all; first += kRows) {
    const int rows = std::min(kRows, all - first), seen = visible(s, heads, first + rows - 1);
    gatherQueries(x.q, s, heads, kvHead, first, first + rows, q);
    multiplyHere({rows, seen, heads.headDim, q, width, 1, transposedK, stride, 1, scores, stride});
    float totals[kRows];
    for (int i = 0; i < rows; i++) {
      float *const row = scores + static_cast<int64_t>(i) * stride;
      const int own = visible(s, heads, first + i);
      const float most = largestPadded(row, own) * heads.scale;
      totals[i] = exponentiate(row, own, padded(seen), heads.scale, most);
      const int token = s.start + (first + i) / heads.group, head = kvHead * heads.group + (first + i) % heads.group;
      x.lse[static_cast<int64_t>(token) * heads.count + head] = most + std::log(totals[i]);
    }
    multiplyHere({rows, heads.headDim, seen, scores, stride, 1, v, width, 1, out, width});
    for (int i = 0; i < rows; i++) {
      float *const to = x.out + queryAt(s, heads, kvHead, first + i);
      const float factor = 1 / totals[i];
      eachVec(heads.headDim, [&](int at, int lanes) { storeUpTo(to + at, load(out + i * width + at) * factor, lanes); });
    }
  }
}

}  // namespace

// q [N, H*d], k, v [N, K*d], segments [S, 4] → out [N, H*d], lse [N, H].
void attention(const Call<args::attention> &call) {
  const Heads heads = headsOf(call);
  const int n = call.matrix(call.q).rows;
  const Forward x = {call.floats(call.q, {n, heads.queryWidth()}), call.floats(call.k, {n, heads.keyWidth()}),
                     call.floats(call.v, {n, heads.keyWidth()}), call.floats(call.out, {n, heads.queryWidth()}),
                     call.floats(call.lse, {n, heads.count})};
  const std::vector<Segment> segments = segmentsOf(call, n);
  Pool::get().run(static_cast<int>(segments.size()) * heads.kvHeads, [&](int tile) {
    attendSegment(x, heads, segments[tile / heads.kvHeads], tile % heads.kvHeads);
  });
}

namespace {

// Adds rows [keys, padded d] to the gradient of a segment's keys.
void scatterAdd(const float *from, const Segment &s, const Heads &heads, int kvHead, float *to) {
  const int stride = padded(heads.headDim);
  for (int i = 0; i < s.keys(); i++) {
    float *const row = to + static_cast<int64_t>(keyToken(s, i)) * heads.keyWidth() + kvHead * heads.headDim;
    eachVec(heads.headDim, [&](int at, int lanes) {
      storeUpTo(row + at, loadUpTo(row + at, lanes) + load(from + static_cast<int64_t>(i) * stride + at), lanes);
    });
  }
}

// dS = P ∘ (dO·Vᵀ − rowsum(dO ∘ O)) (as FlashAttention's backward pass, Dao et al. 2022); then dQ = dS·K·scale,
// dK = dSᵀ·Q·scale, dV = Pᵀ·dO.
struct Backward {
  const float *dy, *q, *k, *v, *out, *lse;
  float *dq, *dk, *dv;
};

void gradSegment(const Backward &x, const Heads &heads, const Segment &s, int kvHead) {
  const int keys = s.keys(), stride = padded(keys), width = padded(heads.headDim);
  const size_t transposed = static_cast<size_t>(heads.headDim) * stride, straight = static_cast<size_t>(keys) * width;
  float *const transposedK = scratch(2, 2 * transposed), *const transposedV = transposedK + transposed;
  float *const k = scratch(3, 3 * straight), *const dk = k + straight, *const dv = dk + straight;
  float *const p = scratch(4, 2 * static_cast<size_t>(kRows) * stride), *const dS = p + kRows * stride;
  float *const q = scratch(5, 3 * static_cast<size_t>(kRows) * width), *const dOut = q + kRows * width;
  float *const dq = dOut + kRows * width;
  gatherTransposed(x.k, s, heads, kvHead, transposedK);
  gatherTransposed(x.v, s, heads, kvHead, transposedV);
  gatherKeys(x.k, s, heads, kvHead, k);
  std::fill(dk, dk + 2 * straight, 0.0f);
  const int all = s.length * heads.group;
  for (int first = 0; first < all; first += kRows) {
    const int rows = std::min(kRows, all - first), seen = visible(s, heads, first + rows - 1), columns = padded(seen);
    gatherQueries(x.q, s, heads, kvHead, first, first + rows, q);
    gatherQueries(x.dy, s, heads, kvHead, first, first + rows, dOut);
    multiplyHere({rows, seen, heads.headDim, q, width, 1, transposedK, stride, 1, p, stride});
    multiplyHere({rows, seen, heads.headDim, dOut, width, 1, transposedV, stride, 1, dS, stride});
    for (int i = 0; i < rows; i++) {
      float *const row = p + static_cast<int64_t>(i) * stride, *const dScores = dS + static_cast<int64_t>(i) * stride;
      const int64_t at = queryAt(s, heads, kvHead, first + i);
      const int token = s.start + (first + i) / heads.group, head = kvHead * heads.group + (first + i) % heads.group;
      exponentiate(row, visible(s, heads, first + i), columns, heads.scale,
            x.lse[static_cast<int64_t>(token) * heads.count + head]);
      const float delta = dot(x.dy + at, x.out + at, heads.headDim);
      for (int column = 0; column < columns; column += kLanes)
        store(dScores + column, load(row + column) * (load(dScores + column) - delta));
    }
    multiplyHere({rows, heads.headDim, seen, dS, stride, 1, k, width, 1, dq, width, heads.scale});
    for (int i = 0; i < rows; i++)
      std::memcpy(x.dq + queryAt(s, heads, kvHead, first + i), dq + i * width, heads.headDim * sizeof(float));
    multiplyHere({seen, heads.headDim, rows, dS, 1, stride, q, width, 1, dk, width, heads.scale, true});
    multiplyHere({seen, heads.headDim, rows, p, 1, stride, dOut, width, 1, dv, width, 1, true});
  }
  scatterAdd(dk, s, heads, kvHead, x.dk);
  scatterAdd(dv, s, heads, kvHead, x.dv);
}

}  // namespace

// dy, q [N, H*d], k, v [N, K*d], out [N, H*d], lse [N, H], segments [S, 4] → dq, dk, dv. A tile takes all segments that
// share keys, one after the other.
void attentionGrad(const Call<args::attentionGrad> &call) {
  const Heads heads = headsOf(call);
  const int n = call.matrix(call.q).rows;
  const int64_t width = heads.queryWidth(), keyWidth = heads.keyWidth();
  const Backward x = {call.floats(call.dy, {n, width}),    call.floats(call.q, {n, width}),
                      call.floats(call.k, {n, keyWidth}),  call.floats(call.v, {n, keyWidth}),
                      call.floats(call.out, {n, width}),   call.floats(call.lse, {n, heads.count}),
                      call.floats(call.dq, {n, width}),    call.floats(call.dk, {n, keyWidth}),
                      call.floats(call.dv, {n, keyWidth})};
  const auto groups = connected(segmentsOf(call, n));
  std::fill_n(x.dk, n * keyWidth, 0.0f);
  std::fill_n(x.dv, n * keyWidth, 0.0f);
  Pool::get().run(static_cast<int>(groups.size()) * heads.kvHeads, [&](int tile) {
    for (const Segment &s : groups[tile / heads.kvHeads]) gradSegment(x, heads, s, tile % heads.kvHeads);
  });
}

}  // namespace braid
