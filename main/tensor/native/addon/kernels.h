// All kernels, and the one place that says what each takes: its tensors, inputs before outputs, then its numbers. Kernels
// find their arguments under these names (call.h); JavaScript gets the same list from the addon and passes them by name
// (../cpu/kernel.ts). What the arguments are stands with each kernel.
#pragma once

#include "call.h"

#define BRAID_KERNELS(KERNEL)                                                                                          \
  /* gemm.cc */                                                                                                        \
  KERNEL(product, (a, b, out, lowA, lowB), (transposeA, transposeB, alpha, bfloat16))                                  \
  /* rows.cc */                                                                                                        \
  KERNEL(add, (a, b, out), ())                                                                                         \
  KERNEL(copy, (from, to), ())                                                                                         \
  KERNEL(rmsNorm, (x, weight, out), (eps))                                                                             \
  KERNEL(rmsNormGradX, (dy, x, weight, dx), (eps))                                                                     \
  KERNEL(rmsNormGradWeight, (dy, x, dWeight), (eps))                                                                   \
  KERNEL(layerNorm, (x, weight, bias, out), (eps))                                                                     \
  KERNEL(gelu, (x, out), ())                                                                                           \
  KERNEL(rope, (x, positions, cos, sin, out), (headDim, inverse))                                                      \
  KERNEL(swiglu, (gate, up, out), ())                                                                                  \
  KERNEL(swigluGrad, (dy, gate, up, dGate, dUp), ())                                                                   \
  KERNEL(columns, (a, b, out), (width, aLine, aFirst, bLine, bFirst, gate))                                            \
  KERNEL(gatherRows, (x, indices, out), ())                                                                            \
  KERNEL(scatterAddRows, (dy, indices, out), ())                                                                       \
  /* attention.cc, decode.cc */                                                                                        \
  KERNEL(attention, (q, k, v, segments, out, lse), (numHeads, numKvHeads, headDim, scale))                             \
  KERNEL(attentionGrad, (dy, q, k, v, out, lse, segments, dq, dk, dv), (numHeads, numKvHeads, headDim, scale))         \
  KERNEL(packPrefix, (k, v, prompts, packedK, packedV), (numHeads, numKvHeads, headDim, scale))                        \
  KERNEL(decodeAttention, (q, k, v, prefixK, prefixV, ownK, ownV, rows, positions, out),                               \
         (numHeads, numKvHeads, headDim, scale))                                                                       \
  /* convolution.cc */                                                                                                 \
  KERNEL(convolution, (x, weight, bias, rows, before, out), (silu))                                                    \
  KERNEL(convolutionStep, (x, weight, bias, states, out), (silu))                                                      \
  KERNEL(convolutionGrad, (dy, x, weight, bias, rows, dx, dWeight, dBias), (silu))                                     \
  /* delta-rule.cc, delta-rule-grad.cc */                                                                              \
  KERNEL(gatedDelta, (mixed, a, b, timeBias, decay, sequences, trees, initial, out, last),                             \
         (keyHeads, valueHeads, keyDim, valueDim))                                                                     \
  KERNEL(gatedDeltaStep, (mixed, a, b, timeBias, decay, states, out), (keyHeads, valueHeads, keyDim, valueDim))        \
  KERNEL(gatedDeltaGrad, (dy, mixed, a, b, timeBias, decay, sequences, trees, dMixed, dA, dB, dDecay),                 \
         (keyHeads, valueHeads, keyDim, valueDim))                                                                     \
  /* state-space.cc */                                                                                                  \
  KERNEL(stateSpaceStep, (mixed, dt, timeBias, decay, skip, states, out), (groups, heads, stateDim, headDim))          \
  /* softmax.cc */                                                                                                     \
  KERNEL(logSoftmax, (hidden, weight, targets, logps, entropies, probs), (temperature, chunkRows, bfloat16))           \
  KERNEL(logSoftmaxGrad, (dlogp, dentropy, hidden, weight, targets, entropy, probs, dHidden, dWeight),                 \
         (temperature, chunkRows, bfloat16))                                                                           \
  KERNEL(sample, (logits, uniforms, ids, logps), (temperature))                                                        \
  /* adamw.cc */                                                                                                       \
  KERNEL(adamw, (param, m, v, grad), (lr, beta1, beta2, eps, weightDecay, step, gradScale))                            \
  KERNEL(addInPlace, (target, x), (scale))                                                                             \
  KERNEL(sumSquares, (x, out), ())

namespace braid {

#define BRAID_LIST(...) __VA_ARGS__

// The names of a kernel's arguments, each the argument's place in its list.
namespace args {
#define BRAID_ARGS(name, tensors, numbers) \
  struct name {                            \
    enum Tensor { BRAID_LIST tensors };    \
    enum Number { BRAID_LIST numbers };    \
  };
BRAID_KERNELS(BRAID_ARGS)
#undef BRAID_ARGS
}  // namespace args

#define BRAID_DECLARE(name, tensors, numbers) void name(const Call<args::name> &call);
BRAID_KERNELS(BRAID_DECLARE)
#undef BRAID_DECLARE

struct KernelEntry {
  Signature signature;
  void (*run)(const Arguments &arguments);
};

const std::vector<KernelEntry> &allKernels();

// Null where there is none of this name.
const KernelEntry *kernelNamed(const std::string &name);

}  // namespace braid
