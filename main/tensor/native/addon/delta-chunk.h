// A chunk of the gated delta rule (Yang et al. 2024, arXiv 2412.06464) in matrix form. A head's state S [K, V] decays with
// each token and is corrected by what it says of the token's key: S ← e^g S, S ← S + k β (v − kᵀS), o = qᵀS. With s, the sum
// of g since the chunk's beginning, and D_ij = e^(s_i − s_j) for j ≤ i, the rows u of all corrections are
//
//   (I + A) U = β (V − e^s K S), A_ij = β_i D_ij k_i·k_j for j < i;
//   O = e^s Q S + P U, P_ij = D_ij q_i·k_j for j ≤ i; S' = e^(s_C) S + (e^(s_C − s) K)ᵀ U.
//
// C tokens of a chunk; K and V are widths of a head's keys and values. Keys and queries lie transposed, [K, C], since every
// product takes its left factor in any layout, but the right one by lines. A short chunk ends in tokens that are zeros.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels.h"

namespace braid {

constexpr int kChunk = 32;

struct DeltaShape {
  int keyHeads, valueHeads, keyDim, valueDim;

  int mixedWidth() const { return 2 * keyHeads * keyDim + valueHeads * valueDim; }
  int keyHeadOf(int head) const { return head / (valueHeads / keyHeads); }
  // Where a head's channels begin in a token's.
  int queriesAt(int head) const { return keyHeadOf(head) * keyDim; }
  int keysAt(int head) const { return (keyHeads + keyHeadOf(head)) * keyDim; }
  int valuesAt(int head) const { return 2 * keyHeads * keyDim + head * valueDim; }
  // Numbers from one line of V to the next: whole vectors, and not a power of two, whose lines would share cache sets.
  int line() const;
  int64_t stateSize() const { return static_cast<int64_t>(keyDim) * line(); }
};

// What the rule reads: mixed [N, 2·keyHeads·K + valueHeads·V] of queries, keys and values, a and b [N, valueHeads], timeBias
// and decay [valueHeads].
struct DeltaInputs {
  const float *mixed, *a, *b, *timeBias, *decay;
};

// A sequence: its tokens, and which of the states is its own.
struct DeltaSequence {
  int start, length, state;
};

// Sequences of which all but the first continue the first.
using DeltaTree = std::vector<DeltaSequence>;

// The arguments that the kernels share.
template <class Args>
DeltaShape deltaShapeOf(const Call<Args> &call) {
  // Sizes whose products stay small.
  constexpr int kMost = 1 << 14;
  const DeltaShape shape = {call.whole(call.keyHeads, 1, kMost), call.whole(call.valueHeads, 1, kMost),
                            call.whole(call.keyDim, 1, kMost), call.whole(call.valueDim, 1, kMost)};
  const int64_t width = 2ll * shape.keyHeads * shape.keyDim + static_cast<int64_t>(shape.valueHeads) * shape.valueDim;
  if (width != call.matrix(call.mixed).columns)
    call.reject(call.mixed, "to have " + std::to_string(width) + " columns", std::to_string(call.matrix(call.mixed).columns));
  if (shape.valueHeads % shape.keyHeads != 0)
    call.reject(call.valueHeads, "to be a multiple of " + std::to_string(shape.keyHeads), std::to_string(shape.valueHeads));
  return shape;
}

template <class Args>
DeltaInputs deltaInputsOf(const Call<Args> &call, const DeltaShape &shape, int n) {
  const int heads = shape.valueHeads;
  return {call.floats(call.mixed, {n, shape.mixedWidth()}), call.floats(call.a, {n, heads}), call.floats(call.b, {n, heads}),
          call.floats(call.timeBias, {heads}), call.floats(call.decay, {heads})};
}

// sequences int32 [S, 3] of (first token, tokens, state), trees int32 [trees, 2] of (first sequence, sequences), within n
// tokens.
template <class Args>
std::vector<DeltaTree> deltaTreesOf(const Call<Args> &call, int n) {
  const int count = call.matrix(call.sequences).rows, trees = call.matrix(call.trees).rows;
  const int32_t *const rows = call.ints(call.sequences, {count, 3}), *const table = call.ints(call.trees, {trees, 2});
  std::vector<DeltaTree> all(trees);
  for (int tree = 0; tree < trees; tree++) {
    const int64_t first = table[2 * tree], members = table[2 * tree + 1];
    if (first < 0 || members < 1 || first + members > count)
      call.reject(call.trees, "to have sequences within " + std::to_string(count), std::to_string(first + members));
    for (int64_t i = first; i < first + members; i++) {
      const int64_t start = rows[3 * i], length = rows[3 * i + 1], state = rows[3 * i + 2];
      if (start < 0 || length < 0 || start + length > n || state < 0 || state >= count)
        call.reject(call.sequences, "to lie within " + std::to_string(n) + " tokens", std::to_string(start + length));
      all[tree].push_back({static_cast<int>(start), static_cast<int>(length), static_cast<int>(state)});
    }
  }
  return all;
}

// 1 / |x| of a head, and g, e^g and β of a token.
float inverseLength(const float *x, int width);

struct Gates {
  // `slope`: of g with respect to a.
  float logarithm, slope, decay, strength;
};

Gates gatesOf(const DeltaInputs &inputs, const DeltaShape &shape, int token, int head);

// A chunk of one value head in the calling thread's memory.
struct DeltaChunk {
  DeltaShape shape;
  int line, count = 0;
  float *keys, *queries, *leftKeys;           // normalised (and scaled), e^(s_C − s) K, [K, C]
  float *values, *written, *out;              // V, U, O or its gradient, [C, V]
  float *system, *alike, *probs, *between;    // −A, A without β, P, D, [C, C]
  float *since, *left, *strength;             // e^s, e^(s_C − s), β
  float *logs, *slopes, *keyLengths, *queryLengths;
  // For the gradient: [C, V], [V, C], 3 of [K, C], 3 squares, 4 of [C].
  float *rows, *across, *dKeys, *dQueries, *other, *squares, *numbers;

  explicit DeltaChunk(const DeltaShape &shape);
  // Reads tokens of a head.
  void readTokens(const DeltaInputs &inputs, int head, int token, int count);
  // The squares; those of queries only where they are asked for.
  void relate(bool withQueries);
  // U from the state before the chunk.
  void solve(const float *state);
  // The state after the chunk, in place.
  void advance(float *state) const;
  // Copies lines of a head's numbers, and zeros after them.
  void copyRows(const float *from, int64_t stride, float *to) const;
};

// to [columns, rows] = from [rows, columns]ᵀ.
void transposeInto(const float *from, int fromLine, int rows, int columns, float *to, int toLine);

// to = from · diag(factors), lines of C numbers; or added to it.
void scaleColumns(const float *from, int lines, const float *factors, float *to, bool add = false);

// to += factor · from.
void addScaled(const float *from, float factor, int count, float *to);

}  // namespace braid
