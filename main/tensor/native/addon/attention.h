// What both attention kernels know of their heads.
#pragma once

#include <cstdint>

#include "kernels.h"

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

}  // namespace braid
