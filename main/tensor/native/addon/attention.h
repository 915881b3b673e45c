// What both attention kernels know of their heads.
#pragma once

#include <cstdint>

#include "kernels.h"
#include "simd.h"

namespace braid {

struct Heads {
  // Query heads, key/value heads, and query heads that share one of these.
  int count, kvHeads, headDim, group;
  float scale;
  int queryWidth() const { return count * headDim; }
  int keyWidth() const { return kvHeads * headDim; }
};

constexpr int kMaxHeads = 1 << 12, kMaxHeadDim = 1 << 12;

template <class Args>
Heads headsOf(const Call<Args> &call) {
  const int count = call.whole(call.numHeads, 1, kMaxHeads), kvHeads = call.whole(call.numKvHeads, 1, kMaxHeads);
  if (count % kvHeads != 0)
    call.reject(call.numHeads, "to be a multiple of " + std::to_string(kvHeads), std::to_string(count));
  return {count, kvHeads, call.whole(call.headDim, 1, kMaxHeadDim), count / kvHeads, call.number(call.scale)};
}

// Overwrites a row of scores, of whole vectors, by exp(score·scale − shift); what the row doesn't see becomes 0. Returns
// the sum.
inline float exponentiate(float *row, int seen, int stride, float scale, float shift) {
  Vec sums{};
  for (int at = 0; at < stride; at += kLanes) {
    const Vec power = at < seen ? exp(onlyFirst(load(row + at), seen - at, -INFINITY) * scale - shift) : Vec{};
    sums += power;
    store(row + at, power);
  }
  return sumLanes(sums);
}

}  // namespace braid
