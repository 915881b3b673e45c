// Attention of one new token a row against the prompt that rows share and what each row wrote itself.
#include <vector>

#include "attention.h"
#include "gemm.h"
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

// The table of rows, each checked to have its slot and its prompt within the cache.
const Row *rowsOf(const Call<args::decodeAttention> &call, int batch, int64_t slots, int64_t promptTokens) {
  const int32_t *const table = call.ints(call.rows, {batch, 3});
  for (int i = 0; i < batch; i++) {
    const int64_t slot = table[3 * i], start = table[3 * i + 1], length = table[3 * i + 2];
    if (slot < 0 || slot >= slots)
      call.reject(call.rows, "to have a slot from 0 to " + std::to_string(slots - 1), std::to_string(slot));
    if (length < 0 || (length > 0 && (start < 0 || start + length > promptTokens)))
      call.reject(call.rows, "to have a prefix within 0.." + std::to_string(promptTokens),
                  std::to_string(start) + ".." + std::to_string(start + length));
  }
  return reinterpret_cast<const Row *>(table);
}

}  // namespace

// q [B, H*d], k, v [B, K*d], prefixK, prefixV [Np, K*d], ownK, ownV [slots, capacity, K*d] (k and v are written there, as
// token `step`), rows int32 [B, 3] → out [B, H*d].
void decodeAttention(const Call<args::decodeAttention> &call) {
  const Heads heads = headsOf(call);
  const int batch = call.matrix(call.q).rows, promptTokens = call.matrix(call.prefixK).rows;
  const int64_t slots = call.size(call.ownK, 0), capacity = call.size(call.ownK, 1);
  const int64_t keyWidth = heads.keyWidth(), queryWidth = heads.queryWidth();
  const float *const q = call.floats(call.q, {batch, queryWidth});
  const float *const k = call.floats(call.k, {batch, keyWidth}), *const v = call.floats(call.v, {batch, keyWidth});
  const float *const prefixK = call.floats(call.prefixK, {promptTokens, keyWidth});
  const float *const prefixV = call.floats(call.prefixV, {promptTokens, keyWidth});
  float *const ownK = call.floats(call.ownK, {slots, capacity, keyWidth});
  float *const ownV = call.floats(call.ownV, {slots, capacity, keyWidth});
  float *const out = call.floats(call.out, {batch, queryWidth});
  const int step = call.whole(call.step, 0, static_cast<double>(capacity) - 1);
  const Row *const rows = rowsOf(call, batch, slots, promptTokens);
  const std::vector<Run> runs = runsOf(rows, batch);
  const int d = heads.headDim, group = heads.group, width = padded(d);
  const auto work = [&](int tile) {
    const Run run = runs[tile / heads.kvHeads];
    const int kvHead = tile % heads.kvHeads, queries = run.count * group;
    const int prefix = rows[run.first].length, stride = padded(prefix), own = step + 1, all = stride + own;
    float *const transposedK = scratch(2, static_cast<size_t>(d) * stride);
    float *const values = scratch(3, static_cast<size_t>(prefix) * width);
    float *const scores = scratch(4, static_cast<size_t>(queries) * all);
    float *const scaledQ = scratch(5, 2 * static_cast<size_t>(queries) * width), *const sums = scaledQ + queries * width;
    std::fill(transposedK, transposedK + static_cast<int64_t>(d) * stride, 0.0f);
    for (int i = 0; i < prefix; i++) {
      const int64_t at = static_cast<int64_t>(rows[run.first].start + i) * keyWidth + kvHead * d;
      for (int j = 0; j < d; j++) transposedK[static_cast<int64_t>(j) * stride + i] = prefixK[at + j];
      std::memcpy(values + static_cast<int64_t>(i) * width, prefixV + at, d * sizeof(float));
      std::fill(values + static_cast<int64_t>(i) * width + d, values + static_cast<int64_t>(i + 1) * width, 0.0f);
    }
    for (int i = 0; i < queries; i++) {
      const float *const from = q + (run.first + i / group) * queryWidth;
      for (int j = 0; j < d; j++) scaledQ[i * width + j] = from[(kvHead * group + i % group) * d + j] * heads.scale;
    }
    multiplyHere({queries, prefix, d, scaledQ, width, 1, transposedK, stride, 1, scores, all});
    for (int r = 0; r < run.count; r++) {
      const int64_t now = (run.first + r) * keyWidth + kvHead * d;
      const int64_t slot = rows[run.first + r].slot * capacity * keyWidth + kvHead * d;
      std::memcpy(ownK + slot + step * keyWidth, k + now, d * sizeof(float));
      std::memcpy(ownV + slot + step * keyWidth, v + now, d * sizeof(float));
      for (int i = r * group; i < (r + 1) * group; i++) {
        // The scores on the prompt, then over their padding those on the row's own tokens.
        float *const row = scores + static_cast<int64_t>(i) * all;
        for (int t = 0; t < own; t++) row[prefix + t] = dot(scaledQ + i * width, ownK + slot + t * keyWidth, d);
        float most = row[0];
        for (int t = 1; t < prefix + own; t++) most = row[t] > most ? row[t] : most;
        Vec total{};
        eachVec(prefix + own, [&](int at, int lanes) {
          const Vec power = exp(loadUpTo(row + at, lanes, -INFINITY) - most);
          total += power;
          storeUpTo(row + at, power, lanes);
        });
        const float factor = 1 / sumLanes(total);
        for (int t = 0; t < prefix + own; t++) row[t] *= factor;
      }
    }
    multiplyHere({queries, d, prefix, scores, all, 1, values, width, 1, sums, width});
    for (int i = 0; i < queries; i++) {
      const int64_t slot = rows[run.first + i / group].slot * capacity * keyWidth + kvHead * d;
      const float *const probs = scores + static_cast<int64_t>(i) * all + prefix;
      float *const to = out + (run.first + i / group) * queryWidth + (kvHead * group + i % group) * d;
      eachVec(d, [&](int at, int lanes) {
        Vec sum = loadUpTo(sums + i * width + at, lanes);
        for (int t = 0; t < own; t++) sum += loadUpTo(ownV + slot + t * keyWidth + at, lanes) * probs[t];
        storeUpTo(to + at, sum, lanes);
      });
    }
  };
  const int tiles = static_cast<int>(runs.size()) * heads.kvHeads;
  const int64_t keys = step + 1 + (batch > 0 ? rows[0].length : 0);
  if (batch * queryWidth * keys > 1 << 16) return Pool::get().run(tiles, work);
  for (int tile = 0; tile < tiles; tile++) work(tile);
}

}  // namespace braid
