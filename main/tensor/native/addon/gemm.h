// Matrix products: C = alpha·A·B, or C += alpha·A·B, with element strides for both operands, so that one kernel serves
// all four transpositions. B may be bfloat16.
#pragma once

#include <cstdint>

namespace braid {

// Steps of K that are summed at a time, for which a panel of A and one of B stay in the nearest cache.
constexpr int kDepth = 384;

struct Product {
  int m, n, k;
  const float *a;
  int64_t aRow, aCol;
  const void *b;
  int64_t bRow, bCol;
  float *c;
  int64_t cRow;
  float alpha = 1;
  bool accumulate = false;
  // Whether B's numbers are bfloat16.
  bool bHalf = false;
  // Whether those of both are rounded to bfloat16 before they are multiplied; the second pair's aren't.
  bool rounds = false;
  // A second pair of factors, whose product is added before alpha: [m, moreK], contiguous, and [moreK, n] with strides.
  int moreK = 0;
  const float *moreA = nullptr, *moreB = nullptr;
  int64_t moreBRow = 0, moreBCol = 0;
};

// On all threads.
void multiply(const Product &product);

// The same for one that rounds, and whether the processor that this was compiled for can do it.
void multiplyBfloat16(const Product &product);
bool hasBfloat16();

// On the calling thread, from small operands as they lie: B's rows are contiguous and, like C's, padded to whole
// vectors (`padded`), and what C has in its padding is overwritten.
void multiplyHere(const Product &product);

}  // namespace braid
