// One token of Mamba-2's state space (Dao and Gu 2024, arXiv 2405.21060): S ← e^(δa) S + B (δ x)ᵀ, o = Cᵀ S + D x, with
// δ = log(1 + e^(dt + timeBias)) and a = −e^decay. G groups of H heads share B and C; K and V are widths of B and of a head.
#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "pool.h"
#include "simd.h"

namespace braid {
namespace {

// A token's B and C, and what a head makes of them.
struct Token {
  const float *keys, *queries;
  float step, kept, skip;
};

// Columns of a head's state, whose lines are `stride` numbers apart.
template <int vectors>
void stepColumns(const Token &token, int stateDim, const float *x, float *state, int64_t stride, float *out, int lanes) {
  Vec written[vectors], read[vectors];
  BRAID_UNROLL
  for (int v = 0; v < vectors; v++) {
    const Vec value = loadUpTo(x + v * kLanes, lanes);
    written[v] = value * token.step;
    read[v] = value * token.skip;
  }
  for (int k = 0; k < stateDim; k++, state += stride) {
    BRAID_UNROLL
    for (int v = 0; v < vectors; v++) {
      const Vec next = loadUpTo(state + v * kLanes, lanes) * token.kept + written[v] * token.keys[k];
      storeUpTo(state + v * kLanes, next, lanes);
      read[v] += next * token.queries[k];
    }
  }
  BRAID_UNROLL
  for (int v = 0; v < vectors; v++) storeUpTo(out + v * kLanes, read[v], lanes);
}

}  // namespace

// mixed [B, H·V + 2·G·K] of x, B and C, dt [B, H], timeBias, decay and skip [H], states [B, G·K·(H/G)·V], which change → out
// [B, H·V]. A tile takes a head of a row.
void stateSpaceStep(const Call<args::stateSpaceStep> &call) {
  // Sizes whose products stay small.
  constexpr int kMost = 1 << 14;
  const int groups = call.whole(call.groups, 1, kMost), heads = call.whole(call.heads, 1, kMost);
  const int stateDim = call.whole(call.stateDim, 1, kMost), headDim = call.whole(call.headDim, 1, kMost);
  if (heads % groups != 0) call.reject(call.heads, "to be a multiple of " + std::to_string(groups), std::to_string(heads));
  const int n = call.matrix(call.mixed).rows, share = heads / groups;
  const int64_t inner = static_cast<int64_t>(heads) * headDim, shared = static_cast<int64_t>(groups) * stateDim;
  const int64_t stride = static_cast<int64_t>(share) * headDim;
  const float *const mixed = call.floats(call.mixed, {n, inner + 2 * shared}), *const dt = call.floats(call.dt, {n, heads});
  const float *const timeBias = call.floats(call.timeBias, {heads}), *const decay = call.floats(call.decay, {heads});
  const float *const skip = call.floats(call.skip, {heads});
  float *const states = call.floats(call.states, {n, inner * stateDim}), *const outs = call.floats(call.out, {n, inner});
  Pool::get().run(n * heads, [&](int tile) {
    const int row = tile / heads, head = tile % heads, group = head / share;
    const float *const line = mixed + row * (inner + 2 * shared), *const keys = line + inner + static_cast<int64_t>(group) * stateDim;
    const float raw = dt[tile] + timeBias[head];
    const float step = std::max(raw, 0.0f) + std::log1p(std::exp(-std::abs(raw)));
    const Token token = {keys, keys + shared, step, std::exp(-step * std::exp(decay[head])), skip[head]};
    const int64_t first = static_cast<int64_t>(head) * headDim;
    const float *const x = line + first;
    float *const state = states + row * inner * stateDim + group * stateDim * stride + head % share * headDim;
    float *const out = outs + row * inner + first;
    int at = 0;
    for (; at + 4 * kLanes <= headDim; at += 4 * kLanes)
      stepColumns<4>(token, stateDim, x + at, state + at, stride, out + at, kLanes);
    for (; at < headDim; at += kLanes)
      stepColumns<1>(token, stateDim, x + at, state + at, stride, out + at, std::min(kLanes, headDim - at));
  });
}

}  // namespace braid
