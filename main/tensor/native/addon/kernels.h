// All kernels. What each takes stands with it: its tensors, then its numbers.
#pragma once

#include "call.h"

namespace braid {

// gemm.cc
void product(const Call &call);
// rows.cc
void add(const Call &call);
void copy(const Call &call);
void rmsNorm(const Call &call);
void rmsNormGradX(const Call &call);
void rmsNormGradWeight(const Call &call);
void rope(const Call &call);
void swiglu(const Call &call);
void swigluGrad(const Call &call);
void gatherRows(const Call &call);
void scatterAddRows(const Call &call);
// attention.cc, decode.cc
void attention(const Call &call);
void attentionGrad(const Call &call);
void decodeAttention(const Call &call);
// softmax.cc
void logSoftmax(const Call &call);
void logSoftmaxGrad(const Call &call);
void sample(const Call &call);
// adamw.cc
void adamw(const Call &call);
void addInPlace(const Call &call);
void sumSquares(const Call &call);

}  // namespace braid
