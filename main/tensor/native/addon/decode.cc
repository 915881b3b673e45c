// Attention of one new token a row against the prompt that rows share and what each row wrote itself. Rows may have written
// different numbers of tokens, and several tokens of one slot may stand in a line: each then sees those before it.
#include <algorithm>
#include <vector>

#include "attention.h"
#include "gemm.h"
#include "memory.h"
#include "pool.h"
#include "simd.h"

namespace braid {
namespace {

// A row of the table: which place of the cache is its own, and where its prompt lies.
struct Row {
  int slot, start, length;
};

// Places that a packed prompt takes: its keys lie transposed, [d, padded tokens].
int64_t packedTokens(int64_t tokens) {
  const int64_t panel = padded(1);
  return tokens <= 0 ? tokens : (tokens + panel - 1) / panel * panel;
}

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

// Rows of d numbers, each padded to whole panels: the same memory where d needs none.
const float *paddedRows(const float *rows, int count, int d) {
  const int width = padded(d);
  if (width == d) return rows;
  float *const to = scratch(3, static_cast<size_t>(count) * width);
  for (int i = 0; i < count; i++) {
    std::memcpy(to + static_cast<int64_t>(i) * width, rows + static_cast<int64_t>(i) * d, d * sizeof(float));
    std::fill(to + static_cast<int64_t>(i) * width + d, to + static_cast<int64_t>(i + 1) * width, 0.0f);
  }
  return to;
}

// Throws unless `length` tokens from `start` on lie within `most`.
template <class Args>
void checkWithin(const Call<Args> &call, typename Args::Tensor table, int64_t start, int64_t length, int64_t most) {
  if (length < 0 || (length > 0 && (start < 0 || start + length > most)))
    call.reject(table, "to have a prefix within 0.." + std::to_string(most),
                std::to_string(start) + ".." + std::to_string(start + length));
}

// The table of rows, each checked to have its slot and its packed prompt within the cache.
const Row *rowsOf(const Call<args::decodeAttention> &call, int batch, int64_t slots, int64_t places) {
  const int32_t *const table = call.ints(call.rows, {batch, 3});
  for (int i = 0; i < batch; i++) {
    const int64_t slot = table[3 * i], start = table[3 * i + 1], length = table[3 * i + 2];
    if (slot < 0 || slot >= slots)
      call.reject(call.rows, "to have a slot from 0 to " + std::to_string(slots - 1), std::to_string(slot));
    checkWithin(call, call.rows, start, packedTokens(length), places);
  }
  return reinterpret_cast<const Row *>(table);
}

// How many tokens each row's slot holds with the new one.
std::vector<int> ownTokens(const Call<args::decodeAttention> &call, const Row *rows, int batch, int64_t capacity) {
  const int32_t *const positions = call.ints(call.positions, {batch});
  std::vector<int> own(batch);
  for (int i = 0; i < batch; i++) {
    const int64_t place = static_cast<int64_t>(positions[i]) - rows[i].length;
    if (place < 0 || place >= capacity)
      call.reject(call.positions, "to be within the row's own cache, 0 to " + std::to_string(capacity - 1),
                  std::to_string(place));
    own[i] = static_cast<int>(place) + 1;
  }
  return own;
}

}  // namespace

// k, v [Np, K*d], prompts int32 [prompts, 3] of (start, tokens, packed start) → packedK, packedV [K, P, d]: each prompt's
// keys of a head transposed, its values as they are, once for all decoding steps.
void packPrefix(const Call<args::packPrefix> &call) {
  const Heads heads = headsOf(call);
  const int tokens = call.matrix(call.k).rows, count = call.matrix(call.prompts).rows, d = heads.headDim;
  const int64_t places = call.size(call.packedK, 1), keyWidth = heads.keyWidth();
  const float *const k = call.floats(call.k, {tokens, keyWidth}), *const v = call.floats(call.v, {tokens, keyWidth});
  const int32_t *const prompts = call.ints(call.prompts, {count, 3});
  float *const packedK = call.floats(call.packedK, {heads.kvHeads, places, d});
  float *const packedV = call.floats(call.packedV, {heads.kvHeads, places, d});
  for (int i = 0; i < count; i++) {
    checkWithin(call, call.prompts, prompts[3 * i], prompts[3 * i + 1], tokens);
    checkWithin(call, call.prompts, prompts[3 * i + 2], packedTokens(prompts[3 * i + 1]), places);
  }
  Pool::get().run(count * heads.kvHeads, [&](int tile) {
    const int32_t *const prompt = prompts + 3 * (tile / heads.kvHeads);
    const int kvHead = tile % heads.kvHeads, length = prompt[1];
    const int64_t stride = packedTokens(length);
    const int64_t from = prompt[0] * keyWidth + kvHead * d;
    const float *const keys = k + from, *const values = v + from;
    const int64_t to = (kvHead * places + prompt[2]) * d;
    for (int j = 0; j < d; j++) {
      float *const line = packedK + to + j * stride;
      for (int i = 0; i < length; i++) line[i] = keys[i * keyWidth + j];
      std::fill(line + length, line + stride, 0.0f);
    }
    for (int i = 0; i < length; i++)
      std::memcpy(packedV + to + static_cast<int64_t>(i) * d, values + i * keyWidth, d * sizeof(float));
  });
}

// q [B, H*d], k, v [B, K*d], prefixK, prefixV [K, P, d] as packPrefix leaves them, ownK, ownV [slots, K, capacity, d] (k
// and v are written there; a head's numbers lie next to each other, as each step reads them all), rows int32 [B, 3],
// positions int32 [B] within the whole text → out [B, H*d].
void decodeAttention(const Call<args::decodeAttention> &call) {
  const Heads heads = headsOf(call);
  const int batch = call.matrix(call.q).rows;
  const int64_t places = call.size(call.prefixK, 1);
  const int64_t slots = call.size(call.ownK, 0), capacity = call.size(call.ownK, 2);
  const int64_t keyWidth = heads.keyWidth(), queryWidth = heads.queryWidth();
  const float *const q = call.floats(call.q, {batch, queryWidth});
  const float *const k = call.floats(call.k, {batch, keyWidth}), *const v = call.floats(call.v, {batch, keyWidth});
  const float *const prefixK = call.floats(call.prefixK, {heads.kvHeads, places, heads.headDim});
  const float *const prefixV = call.floats(call.prefixV, {heads.kvHeads, places, heads.headDim});
  float *const ownK = call.floats(call.ownK, {slots, heads.kvHeads, capacity, heads.headDim});
  float *const ownV = call.floats(call.ownV, {slots, heads.kvHeads, capacity, heads.headDim});
  float *const out = call.floats(call.out, {batch, queryWidth});
  const Row *const rows = rowsOf(call, batch, slots, places);
  const std::vector<int> ownOfRow = ownTokens(call, rows, batch, capacity);
  const std::vector<Run> runs = runsOf(rows, batch);
  const int d = heads.headDim, group = heads.group, width = padded(d);
  const auto work = [&](int tile) {
    const Run run = runs[tile / heads.kvHeads];
    const int kvHead = tile % heads.kvHeads, queries = run.count * group;
    // Where a row's own keys and values of this head begin.
    const auto ownOf = [&](int row) {
      return (static_cast<int64_t>(rows[row].slot) * heads.kvHeads + kvHead) * capacity * d;
    };
    const int prefix = rows[run.first].length, stride = static_cast<int>(packedTokens(prefix));
    const int all = stride + padded(*std::max_element(&ownOfRow[run.first], &ownOfRow[run.first] + run.count));
    const int64_t packed = (kvHead * places + rows[run.first].start) * d;
    const float *const values = paddedRows(prefixV + packed, prefix, d);
    float *const scores = scratch(4, static_cast<size_t>(queries) * all);
    float *const scaledQ = scratch(5, 2 * static_cast<size_t>(queries) * width), *const sums = scaledQ + queries * width;
    for (int i = 0; i < queries; i++) {
      const float *const from = q + (run.first + i / group) * queryWidth;
      for (int j = 0; j < d; j++) scaledQ[i * width + j] = from[(kvHead * group + i % group) * d + j] * heads.scale;
    }
    multiplyHere({queries, prefix, d, scaledQ, width, 1, prefixK + packed, stride, 1, scores, all});
    for (int r = 0; r < run.count; r++) {
      const int64_t slot = ownOf(run.first + r);
      const int own = ownOfRow[run.first + r];
      // The slot's tokens before it too, as other tiles may be late: the same numbers.
      for (int of = run.first + r; of >= 0 && rows[of].slot == rows[run.first + r].slot; of--) {
        const int64_t now = of * keyWidth + kvHead * d, place = slot + static_cast<int64_t>(ownOfRow[of] - 1) * d;
        std::memcpy(ownK + place, k + now, d * sizeof(float));
        std::memcpy(ownV + place, v + now, d * sizeof(float));
      }
      for (int i = r * group; i < (r + 1) * group; i++) {
        // The scores on the prompt, then over their padding those on the row's own tokens.
        float *const row = scores + static_cast<int64_t>(i) * all;
        for (int t = 0; t < own; t++) row[prefix + t] = dot(scaledQ + i * width, ownK + slot + t * d, d);
        const float most = largestPadded(row, prefix + own);
        const float factor = 1 / exponentiate(row, prefix + own, prefix + own, 1, most);
        for (int at = 0; at < prefix + own; at += kLanes) store(row + at, load(row + at) * factor);
      }
    }
    multiplyHere({queries, d, prefix, scores, all, 1, values, width, 1, sums, width});
    for (int i = 0; i < queries; i++) {
      const int64_t slot = ownOf(run.first + i / group);
      const int own = ownOfRow[run.first + i / group];
      const float *const probs = scores + static_cast<int64_t>(i) * all + prefix;
      float *const to = out + (run.first + i / group) * queryWidth + (kvHead * group + i % group) * d;
      eachVec(d, [&](int at, int lanes) {
        Vec sum = loadUpTo(sums + i * width + at, lanes);
        for (int t = 0; t < own; t++) sum += loadUpTo(ownV + slot + t * d + at, lanes) * probs[t];
        storeUpTo(to + at, sum, lanes);
      });
    }
  };
  const int tiles = static_cast<int>(runs.size()) * heads.kvHeads;
  const int64_t keys = batch > 0 ? ownOfRow[0] + rows[0].length : 0;
  if (batch * queryWidth * keys > 1 << 16) return Pool::get().run(tiles, work);
  for (int tile = 0; tile < tiles; tile++) work(tile);
}

}  // namespace braid
