// The gated delta rule over packed sequences, and one token of it. The chunk's formulas are in delta-chunk.h.
#include <algorithm>

#include "delta-chunk.h"
#include "gemm.h"
#include "memory.h"
#include "pool.h"
#include "simd.h"

namespace braid {
namespace {

// Copies a state between lines of V numbers and lines of whole vectors.
void copyState(const float *from, int fromLine, float *to, int toLine, const DeltaShape &shape) {
  for (int k = 0; k < shape.keyDim; k++)
    std::copy_n(from + static_cast<int64_t>(k) * fromLine, shape.valueDim, to + static_cast<int64_t>(k) * toLine);
}

// O = e^s Q S + P U, of which the chunk's tokens go out.
void read(const DeltaChunk &chunk, const float *state, float *out, int64_t stride) {
  const int valueDim = chunk.shape.valueDim, line = chunk.line;
  multiplyHere({chunk.count, valueDim, chunk.shape.keyDim, chunk.queries, 1, kChunk, state, line, 1, chunk.out, line});
  for (int i = 0; i < chunk.count; i++) {
    float *const row = chunk.out + static_cast<int64_t>(i) * line;
    for (int at = 0; at < valueDim; at += kLanes) store(row + at, load(row + at) * chunk.since[i]);
  }
  multiplyHere({chunk.count, valueDim, chunk.count, chunk.probs, kChunk, 1, chunk.written, line, 1, chunk.out, line, 1, true});
  for (int i = 0; i < chunk.count; i++)
    std::copy_n(chunk.out + static_cast<int64_t>(i) * line, valueDim, out + i * stride);
}

// One token of a state's columns from `at` on: u = β (v − e^g kᵀS), S ← e^g S + k u, o = qᵀS.
template <int vectors>
void stepColumns(const float *q, const float *k, const Gates &gates, const DeltaShape &shape, const float *values, float *state,
                 float *out, int lanes) {
  Vec sums[vectors] = {};
  for (int i = 0; i < shape.keyDim; i++) {
    const float *const line = state + static_cast<int64_t>(i) * shape.valueDim;
    BRAID_UNROLL
    for (int v = 0; v < vectors; v++) sums[v] += loadUpTo(line + v * kLanes, lanes) * k[i];
  }
  Vec written[vectors], read[vectors] = {};
  BRAID_UNROLL
  for (int v = 0; v < vectors; v++)
    written[v] = (loadUpTo(values + v * kLanes, lanes) - sums[v] * gates.decay) * gates.strength;
  for (int i = 0; i < shape.keyDim; i++) {
    float *const line = state + static_cast<int64_t>(i) * shape.valueDim;
    BRAID_UNROLL
    for (int v = 0; v < vectors; v++) {
      const Vec next = loadUpTo(line + v * kLanes, lanes) * gates.decay + written[v] * k[i];
      storeUpTo(line + v * kLanes, next, lanes);
      read[v] += next * q[i];
    }
  }
  BRAID_UNROLL
  for (int v = 0; v < vectors; v++) storeUpTo(out + v * kLanes, read[v], lanes);
}

}  // namespace

// mixed, a, b, timeBias, decay (delta-chunk.h), sequences int32 [S, 3], trees int32 [trees, 2], initial [S, valueHeads·K·V] or
// none → out [N, valueHeads·V], last [S, valueHeads·K·V] or none. A tile takes a value head of a tree.
void gatedDelta(const Call<args::gatedDelta> &call) {
  const DeltaShape shape = deltaShapeOf(call);
  const int n = call.matrix(call.mixed).rows, heads = shape.valueHeads;
  const DeltaInputs inputs = deltaInputsOf(call, shape, n);
  const std::vector<DeltaTree> trees = deltaTreesOf(call, n);
  const int count = call.matrix(call.sequences).rows;
  const int64_t stride = static_cast<int64_t>(heads) * shape.valueDim, headState = static_cast<int64_t>(shape.keyDim) * shape.valueDim;
  const float *const initial = call.has(call.initial) ? call.floats(call.initial, {count, heads * headState}) : nullptr;
  float *const last = call.has(call.last) ? call.floats(call.last, {count, heads * headState}) : nullptr;
  float *const out = call.floats(call.out, {n, stride});
  std::fill_n(out, n * stride, 0.0f);
  Pool::get().run(static_cast<int>(trees.size()) * heads, [&](int tile) {
    const DeltaTree &tree = trees[tile / heads];
    const int head = tile % heads;
    DeltaChunk chunk(shape);
    const int64_t size = shape.stateSize();
    float *const state = scratch(3, 2 * size), *const root = state + size;
    std::fill_n(state, size, 0.0f);
    if (initial != nullptr)
      copyState(initial + (tree[0].state * heads + head) * headState, shape.valueDim, state, chunk.line, shape);
    for (size_t i = 0; i < tree.size(); i++) {
      const DeltaSequence &sequence = tree[i];
      if (i > 0) std::copy_n(root, size, state);
      for (int first = 0; first < sequence.length; first += kChunk) {
        const int token = sequence.start + first;
        chunk.readTokens(inputs, head, token, std::min(kChunk, sequence.length - first));
        chunk.relate(true);
        chunk.solve(state);
        read(chunk, state, out + token * stride + head * shape.valueDim, stride);
        chunk.advance(state);
      }
      if (last != nullptr)
        copyState(state, chunk.line, last + (sequence.state * heads + head) * headState, shape.valueDim, shape);
      if (i == 0) std::copy_n(state, size, root);
    }
  });
}

// mixed, a, b, timeBias, decay of B tokens, states [B, valueHeads·K·V], which change → out [B, valueHeads·V].
void gatedDeltaStep(const Call<args::gatedDeltaStep> &call) {
  const DeltaShape shape = deltaShapeOf(call);
  const int n = call.matrix(call.mixed).rows, heads = shape.valueHeads, keyDim = shape.keyDim, valueDim = shape.valueDim;
  const DeltaInputs inputs = deltaInputsOf(call, shape, n);
  const int64_t headState = static_cast<int64_t>(keyDim) * valueDim;
  float *const states = call.floats(call.states, {n, heads * headState});
  float *const outs = call.floats(call.out, {n, static_cast<int64_t>(heads) * valueDim});
  Pool::get().run(n * heads, [&](int tile) {
    const int row = tile / heads, head = tile % heads;
    const float *const mixed = inputs.mixed + static_cast<int64_t>(row) * shape.mixedWidth();
    float *const q = scratch(2, 2 * static_cast<size_t>(keyDim)), *const k = q + keyDim;
    const float *const queries = mixed + shape.queriesAt(head), *const keys = mixed + shape.keysAt(head);
    const float scale = inverseLength(queries, keyDim) / std::sqrt(static_cast<float>(keyDim));
    const float inverse = inverseLength(keys, keyDim);
    for (int i = 0; i < keyDim; i++) {
      q[i] = queries[i] * scale;
      k[i] = keys[i] * inverse;
    }
    const Gates gates = gatesOf(inputs, shape, row, head);
    const float *const values = mixed + shape.valuesAt(head);
    float *const state = states + tile * headState, *const out = outs + static_cast<int64_t>(tile) * valueDim;
    int at = 0;
    for (; at + 4 * kLanes <= valueDim; at += 4 * kLanes)
      stepColumns<4>(q, k, gates, shape, values + at, state + at, out + at, kLanes);
    for (; at < valueDim; at += kLanes)
      stepColumns<1>(q, k, gates, shape, values + at, state + at, out + at, std::min(kLanes, valueDim - at));
  });
}

}  // namespace braid
