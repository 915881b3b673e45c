// Attention of one new token a row against the prompt that rows share and what each row wrote itself.
#include <vector>

#include "gemm.h"
#include "kernels.h"
#include "pool.h"
#include "simd.h"

namespace braid {
namespace {

// A row of the table: which place of the cache is its own, and where its prompt lies.
struct Row {
  int slot, start, length;
};

// Rows in a line that share a prompt, as many as a tile takes.
struct Run {
  int first, count;
};

constexpr int kRows = 24;

std::vector<Run> runsOf(const Row *rows, int count) {
  std::vector<Run> runs;
  for (int i = 0; i < count; i++) {
    const bool more = !runs.empty() && runs.back().count < kRows && rows[i].start == rows[i - 1].start &&
                      rows[i].length == rows[i - 1].length;
    if (more) runs.back().count++;
    else runs.push_back({i, 1});
  }
  return runs;
}

}  // namespace

// q [B, H*d], k, v [B, K*d], prefixK, prefixV [Np, K*d], ownK, ownV [slots, capacity, K*d] (k and v are written there),
// rows int32 [B, 3] → out [B, H*d]; B, capacity, step, H, K, d, scale.
void decodeAttention(const Call &call) {
  const int batch = call.integer(0), capacity = call.integer(1), step = call.integer(2);
  const int heads = call.integer(3), kvHeads = call.integer(4), d = call.integer(5), group = heads / kvHeads;
  const float scale = call.number(6);
  const int keyWidth = kvHeads * d, queryWidth = heads * d, width = padded(d);
  const Row *const rows = reinterpret_cast<const Row *>(call.ints(7));
  const std::vector<Run> runs = runsOf(rows, batch);
  const auto work = [&](int tile) {
    const Run run = runs[tile / kvHeads];
    const int kvHead = tile % kvHeads, queries = run.count * group;
    const int prefix = rows[run.first].length, stride = padded(prefix), own = step + 1, all = stride + own;
    float *const turned = scratch(2, static_cast<size_t>(d) * stride);
    float *const v = scratch(3, static_cast<size_t>(prefix) * width);
    float *const scores = scratch(4, static_cast<size_t>(queries) * all);
    float *const q = scratch(5, 2 * static_cast<size_t>(queries) * width), *const out = q + queries * width;
    std::fill(turned, turned + static_cast<int64_t>(d) * stride, 0.0f);
    for (int i = 0; i < prefix; i++) {
      const int64_t at = static_cast<int64_t>(rows[run.first].start + i) * keyWidth + kvHead * d;
      for (int j = 0; j < d; j++) turned[static_cast<int64_t>(j) * stride + i] = call.floats(3)[at + j];
      std::memcpy(v + static_cast<int64_t>(i) * width, call.floats(4) + at, d * sizeof(float));
      std::fill(v + static_cast<int64_t>(i) * width + d, v + static_cast<int64_t>(i + 1) * width, 0.0f);
    }
    for (int i = 0; i < queries; i++) {
      const float *const from = call.floats(0) + static_cast<int64_t>(run.first + i / group) * queryWidth;
      for (int j = 0; j < d; j++) q[i * width + j] = from[(kvHead * group + i % group) * d + j] * scale;
    }
    multiplyHere({queries, prefix, d, q, width, 1, turned, stride, 1, scores, all});
    for (int r = 0; r < run.count; r++) {
      const int64_t now = static_cast<int64_t>(run.first + r) * keyWidth + kvHead * d;
      const int64_t slot = static_cast<int64_t>(rows[run.first + r].slot) * capacity * keyWidth + kvHead * d;
      float *const ownK = call.floats(5) + slot, *const ownV = call.floats(6) + slot;
      std::memcpy(ownK + static_cast<int64_t>(step) * keyWidth, call.floats(1) + now, d * sizeof(float));
      std::memcpy(ownV + static_cast<int64_t>(step) * keyWidth, call.floats(2) + now, d * sizeof(float));
      for (int i = r * group; i < (r + 1) * group; i++) {
        // The scores on the prompt, then over their padding those on the row's own tokens.
        float *const row = scores + static_cast<int64_t>(i) * all;
        for (int t = 0; t < own; t++) row[prefix + t] = dot(q + i * width, ownK + static_cast<int64_t>(t) * keyWidth, d);
        float most = row[0];
        for (int t = 1; t < prefix + own; t++) most = row[t] > most ? row[t] : most;
        Vec sums{};
        eachVec(prefix + own, [&](int at, int lanes) {
          const Vec weight = exp(loadUpTo(row + at, lanes, -INFINITY) - most);
          sums += weight;
          storeUpTo(row + at, weight, lanes);
        });
        const float factor = 1 / sumLanes(sums);
        for (int t = 0; t < prefix + own; t++) row[t] *= factor;
      }
    }
    multiplyHere({queries, d, prefix, scores, all, 1, v, width, 1, out, width});
    for (int i = 0; i < queries; i++) {
      const int64_t slot = static_cast<int64_t>(rows[run.first + i / group].slot) * capacity * keyWidth + kvHead * d;
      const float *const weights = scores + static_cast<int64_t>(i) * all + prefix;
      float *const to = call.floats(8) + static_cast<int64_t>(run.first + i / group) * queryWidth +
                        (kvHead * group + i % group) * d;
      eachVec(d, [&](int at, int lanes) {
        Vec sum = loadUpTo(out + i * width + at, lanes);
        for (int t = 0; t < own; t++)
          sum += loadUpTo(call.floats(6) + slot + static_cast<int64_t>(t) * keyWidth + at, lanes) * weights[t];
        storeUpTo(to + at, sum, lanes);
      });
    }
  };
  const int tiles = static_cast<int>(runs.size()) * kvHeads;
  const int64_t multiplications = static_cast<int64_t>(batch) * heads * d * (step + 1 + rows[0].length);
  if (multiplications > 1 << 16) return Pool::get().run(tiles, work);
  for (int tile = 0; tile < tiles; tile++) work(tile);
}

}  // namespace braid
