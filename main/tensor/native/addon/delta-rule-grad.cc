// Backward pass of the gated delta rule, chunk by chunk from the last one, after a pass forward that stores each chunk's
// state S and rows U. With dO and the gradient dS' of the state after the chunk, in the terms of delta-chunk.h:
//
//   dU = Pᵀ dO + e^(s_C − s) K dS', (I + A)ᵀ dR = dU, dA = −dR Uᵀ, dP = dO Uᵀ, dV = β dR,
//   dQ = e^s dO Sᵀ + (dP ∘ D) K, dS = e^(s_C) dS' − (β e^s K)ᵀ dR + (e^s Q)ᵀ dO,
//   dK = −β e^s dR Sᵀ + e^(s_C − s) U dS'ᵀ + (M + Mᵀ) K + (dP ∘ D)ᵀ Q, M_ij = β_i dA_ij D_ij,
//
// and ds, dβ from the same products.
#include <algorithm>
#include <cmath>

#include "delta-chunk.h"
#include "gemm.h"
#include "memory.h"
#include "pool.h"
#include "simd.h"

namespace braid {
namespace {

struct Gradient {
  DeltaInputs inputs;
  const float *dy;
  float *dMixed, *dA, *dB, *dDecay;
};

// Sums of a ∘ b by column, lines of C numbers.
void dotColumns(const float *a, const float *b, int lines, float *sums) {
  for (int at = 0; at < kChunk; at += kLanes) {
    Vec sum{};
    for (int line = 0; line < lines * kChunk; line += kChunk) sum += load(a + line + at) * load(b + line + at);
    store(sums + at, sum);
  }
}

// A chunk on its way back.
class ChunkGradient {
 public:
  ChunkGradient(DeltaChunk &chunk, const Gradient &gradient, int head, bool more)
      : c(chunk), g(gradient), head(head), more(more), keyDim(chunk.shape.keyDim), valueDim(chunk.shape.valueDim),
        line(chunk.line), dSystem(chunk.squares), dProbs(dSystem + kChunk * kChunk), dProbsAcross(dProbs + kChunk * kChunk),
        dSums(chunk.numbers), dStrength(dSums + kChunk), dots(dStrength + kChunk), factors(dots + kChunk) {}

  // `dState`: of the state after the chunk, then of the one before it.
  void run(int token, int count, const float *state, const float *written, float *dState) {
    const int64_t stride = static_cast<int64_t>(c.shape.valueHeads) * valueDim;
    c.readTokens(g.inputs, head, token, count);
    c.relate(true);
    c.copyRows(g.dy + token * stride + head * valueDim, stride, c.out);
    solveBack(dState);
    gradSquares(written);
    gradThroughStates(state, dState);
    gradWithin();
    gradState(dState);
    storeGates(token);
    storeValues(token);
    storeHead(c.queries, c.dQueries, c.queryLengths, 1 / std::sqrt(static_cast<float>(keyDim)), token, c.shape.queriesAt(head));
    storeHead(c.keys, c.dKeys, c.keyLengths, 1, token, c.shape.keysAt(head));
  }

 private:
  // dR.
  void solveBack(const float *dState) {
    multiplyHere({kChunk, valueDim, keyDim, c.leftKeys, 1, kChunk, dState, line, 1, c.rows, line});
    multiplyHere({kChunk, valueDim, kChunk, c.probs, 1, kChunk, c.out, line, 1, c.rows, line, 1, true});
    constexpr int kBlock = 8;
    for (int first = kChunk - kBlock; first >= 0; first -= kBlock) {
      const int end = first + kBlock;
      float *const block = c.rows + static_cast<int64_t>(first) * line;
      if (end < kChunk)
        multiplyHere({kBlock, valueDim, kChunk - end, c.system + end * kChunk + first, 1, kChunk, c.rows + static_cast<int64_t>(end) * line,
                      line, 1, block, line, 1, true});
      for (int i = kBlock - 2; i >= 0; i--)
        for (int j = i + 1; j < kBlock; j++)
          addScaled(block + j * line, c.system[(first + j) * kChunk + first + i], padded(valueDim), block + i * line);
    }
  }

  // M + Mᵀ, dP ∘ D and its transpose, and what the squares say of decay and strength.
  void gradSquares(const float *written) {
    transposeInto(written, line, kChunk, valueDim, c.across, kChunk);
    multiplyHere({kChunk, kChunk, valueDim, c.rows, line, 1, c.across, kChunk, 1, dSystem, kChunk});
    multiplyHere({kChunk, kChunk, valueDim, c.out, line, 1, c.across, kChunk, 1, dProbs, kChunk});
    std::fill_n(dSums, kChunk, 0.0f);
    for (int i = 0; i < kChunk; i++) {
      double sum = 0, alike = 0;
      for (int j = 0; j < i; j++) {
        const int at = i * kChunk + j;
        const float through = dSystem[at] * c.system[at] + dProbs[at] * c.probs[at];
        sum += through;
        dSums[j] -= through;
        alike += dSystem[at] * c.alike[at];
      }
      dSums[i] += static_cast<float>(sum);
      dStrength[i] = static_cast<float>(-alike);
    }
    for (int i = 0; i < kChunk; i++) {
      for (int j = 0; j < i; j++) {
        const int at = i * kChunk + j;
        dSystem[at] *= -c.strength[i] * c.between[at];
        dSystem[j * kChunk + i] = dSystem[at];
      }
      dSystem[i * kChunk + i] = 0;
    }
    for (int at = 0; at < kChunk * kChunk; at++) dProbs[at] *= c.between[at];
    transposeInto(dProbs, kChunk, kChunk, kChunk, dProbsAcross, kChunk);
  }

  // The parts of dK and dQ by way of the states before and after the chunk, and what they say of decay and strength.
  void gradThroughStates(const float *state, const float *dState) {
    // U is still transposed.
    multiplyHere({keyDim, kChunk, valueDim, dState, line, 1, c.across, kChunk, 1, c.dKeys, kChunk});
    dotColumns(c.leftKeys, c.dKeys, keyDim, dots);
    double total = c.since[kChunk - 1] * dot(state, dState, static_cast<int>(c.shape.stateSize()));
    for (int i = 0; i < kChunk; i++) {
      total += dots[i];
      dSums[i] -= dots[i];
    }
    dSums[c.count - 1] += static_cast<float>(total);
    scaleColumns(c.dKeys, keyDim, c.left, c.dKeys);

    transposeInto(c.rows, line, kChunk, valueDim, c.across, kChunk);
    multiplyHere({keyDim, kChunk, valueDim, state, line, 1, c.across, kChunk, 1, c.other, kChunk});
    dotColumns(c.keys, c.other, keyDim, dots);
    for (int i = 0; i < kChunk; i++) {
      factors[i] = -c.strength[i] * c.since[i];
      dStrength[i] -= c.since[i] * dots[i];
      dSums[i] += factors[i] * dots[i];
    }
    scaleColumns(c.other, keyDim, factors, c.dKeys, true);

    transposeInto(c.out, line, kChunk, valueDim, c.across, kChunk);
    multiplyHere({keyDim, kChunk, valueDim, state, line, 1, c.across, kChunk, 1, c.dQueries, kChunk});
    scaleColumns(c.dQueries, keyDim, c.since, c.dQueries);
    dotColumns(c.queries, c.dQueries, keyDim, dots);
    for (int i = 0; i < kChunk; i++) dSums[i] += dots[i];
  }

  // The parts of dK and dQ within the chunk.
  void gradWithin() {
    multiplyHere({keyDim, kChunk, kChunk, c.keys, kChunk, 1, dSystem, kChunk, 1, c.dKeys, kChunk, 1, true});
    multiplyHere({keyDim, kChunk, kChunk, c.queries, kChunk, 1, dProbs, kChunk, 1, c.dKeys, kChunk, 1, true});
    multiplyHere({keyDim, kChunk, kChunk, c.keys, kChunk, 1, dProbsAcross, kChunk, 1, c.dQueries, kChunk, 1, true});
  }

  void gradState(float *dState) {
    const float decay = c.since[kChunk - 1];
    for (int64_t at = 0; at < c.shape.stateSize(); at += kLanes) store(dState + at, load(dState + at) * decay);
    scaleColumns(c.keys, keyDim, factors, c.other);
    multiplyHere({keyDim, valueDim, kChunk, c.other, kChunk, 1, c.rows, line, 1, dState, line, 1, true});
    scaleColumns(c.queries, keyDim, c.since, c.other);
    multiplyHere({keyDim, valueDim, kChunk, c.other, kChunk, 1, c.out, line, 1, dState, line, 1, true});
  }

  // A token's decay counts for all sums from it on.
  void storeGates(int token) {
    double dLog = 0;
    for (int i = c.count - 1; i >= 0; i--) {
      const int64_t cell = static_cast<int64_t>(token + i) * c.shape.valueHeads + head, row = static_cast<int64_t>(i) * line;
      dLog += dSums[i];
      g.dA[cell] = static_cast<float>(dLog * c.slopes[i]);
      g.dDecay[cell] = static_cast<float>(dLog * c.logs[i]);
      g.dB[cell] = (dStrength[i] + dot(c.rows + row, c.values + row, valueDim)) * c.strength[i] * (1 - c.strength[i]);
    }
  }

  void storeValues(int token) {
    for (int i = 0; i < c.count; i++) {
      const float *const row = c.rows + static_cast<int64_t>(i) * line;
      float *const to = g.dMixed + static_cast<int64_t>(token + i) * c.shape.mixedWidth() + c.shape.valuesAt(head);
      eachVec(valueDim, [&](int at, int lanes) { storeUpTo(to + at, loadUpTo(row + at, lanes) * c.strength[i], lanes); });
    }
  }

  // Before keys and queries were given their length: with y = scale · x / |x|, dx = (dy − y (y·dy) / scale²) · scale / |x|.
  void storeHead(const float *columns, float *gradient, const float *lengths, float scale, int token, int channel) {
    dotColumns(columns, gradient, keyDim, dots);
    for (int i = 0; i < kChunk; i++) dots[i] *= -1 / (scale * scale);
    scaleColumns(columns, keyDim, dots, gradient, true);
    for (int i = 0; i < c.count; i++) {
      float *const to = g.dMixed + static_cast<int64_t>(token + i) * c.shape.mixedWidth() + channel;
      const float factor = scale * lengths[i];
      for (int k = 0; k < keyDim; k++) to[k] = gradient[k * kChunk + i] * factor + (more ? to[k] : 0);
    }
  }

  DeltaChunk &c;
  const Gradient &g;
  // `more`: the key head's gradient has those of other value heads already.
  const int head;
  const bool more;
  const int keyDim, valueDim, line;
  float *const dSystem, *const dProbs, *const dProbsAcross;
  float *const dSums, *const dStrength, *const dots, *const factors;
};

int chunksOf(const DeltaSequence &sequence) { return (sequence.length + kChunk - 1) / kChunk; }

// A value head of a tree. What a chunk leaves for the way back is its state, and its rows U.
class TreeGradient {
 public:
  TreeGradient(const Gradient &gradient, const DeltaShape &shape, const DeltaTree &tree, int head, bool more)
      : g(gradient), tree(tree), head(head), chunk(shape), back(chunk, gradient, head, more), state(shape.stateSize()),
        each(state + kChunk * chunk.line) {
    int longest = 0;
    for (size_t i = 1; i < tree.size(); i++) longest = std::max(longest, chunksOf(tree[i]));
    const size_t rooms = chunksOf(tree[0]) + longest;
    running = scratch(3, 4 * state + rooms * each);
  }

  void run() {
    float *const end = running + state, *const dState = end + state, *const dRoot = dState + state;
    float *const room = dRoot + state, *const own = room + chunksOf(tree[0]) * each;
    std::fill_n(running, state, 0.0f);
    std::fill_n(dRoot, state, 0.0f);
    forward(tree[0], room);
    std::copy_n(running, state, end);
    for (size_t i = 1; i < tree.size(); i++) {
      std::copy_n(end, state, running);
      forward(tree[i], own);
      std::fill_n(dState, state, 0.0f);
      backward(tree[i], own, dState);
      for (int64_t at = 0; at < state; at += kLanes) store(dRoot + at, load(dRoot + at) + load(dState + at));
    }
    backward(tree[0], room, dRoot);
  }

 private:
  void forward(const DeltaSequence &sequence, float *room) {
    for (int first = 0; first < sequence.length; first += kChunk, room += each) {
      chunk.readTokens(g.inputs, head, sequence.start + first, std::min(kChunk, sequence.length - first));
      chunk.relate(false);
      std::copy_n(running, state, room);
      chunk.solve(running);
      std::copy_n(chunk.written, each - state, room + state);
      chunk.advance(running);
    }
  }

  void backward(const DeltaSequence &sequence, const float *room, float *dState) {
    for (int i = chunksOf(sequence) - 1; i >= 0; i--) {
      const float *const own = room + i * each;
      const int first = i * kChunk, count = std::min(kChunk, sequence.length - first);
      back.run(sequence.start + first, count, own, own + state, dState);
    }
  }

  const Gradient &g;
  const DeltaTree &tree;
  const int head;
  DeltaChunk chunk;
  ChunkGradient back;
  const int64_t state, each;
  float *running;
};

}  // namespace

// mixed, a, b, timeBias, decay, sequences, trees as in delta-rule.cc, dy [N, valueHeads·V] → dMixed like mixed, dA, dB and
// dDecay [N, valueHeads], of which the last is each token's part. A tile takes a key head of a tree, for all value heads that
// share it.
void gatedDeltaGrad(const Call<args::gatedDeltaGrad> &call) {
  const DeltaShape shape = deltaShapeOf(call);
  const int n = call.matrix(call.mixed).rows, heads = shape.valueHeads;
  const Gradient gradient = {deltaInputsOf(call, shape, n),
                             call.floats(call.dy, {n, static_cast<int64_t>(heads) * shape.valueDim}),
                             call.floatsLike(call.dMixed, call.mixed),
                             call.floats(call.dA, {n, heads}),
                             call.floats(call.dB, {n, heads}),
                             call.floats(call.dDecay, {n, heads})};
  const std::vector<DeltaTree> trees = deltaTreesOf(call, n);
  std::fill_n(gradient.dMixed, static_cast<int64_t>(n) * shape.mixedWidth(), 0.0f);
  for (float *const gates : {gradient.dA, gradient.dB, gradient.dDecay}) std::fill_n(gates, static_cast<int64_t>(n) * heads, 0.0f);
  const int times = heads / shape.keyHeads;
  Pool::get().run(static_cast<int>(trees.size()) * shape.keyHeads, [&](int tile) {
    for (int i = 0; i < times; i++)
      TreeGradient(gradient, shape, trees[tile / shape.keyHeads], tile % shape.keyHeads * times + i, i > 0).run();
  });
}

}  // namespace braid
