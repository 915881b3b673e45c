/** Mask for training only on the tokens with the highest entropy (arXiv 2506.01939; TRL's `top_entropy_quantile`). */

/**
 * 1 where a masked-in token's entropy [B,T] reaches the given quantile of all masked-in entropies, otherwise 0.
 * Equals `GRPOTrainer.get_high_entropy_mask` on one process.
 */
export function entropyMask(entropies: ArrayLike<number>, mask: ArrayLike<number>, quantile: number): Uint8Array {
  const values = Float32Array.from(
    Array.from({ length: mask.length }, (_, i) => i).filter((i) => mask[i] !== 0),
    (i) => entropies[i] ?? Number.NaN,
  ).sort();
  const out = new Uint8Array(mask.length);
  if (values.length === 0) return out;
  const threshold = float32Quantile(values, quantile);
  for (let i = 0; i < out.length; i++) {
    if (mask[i] !== 0 && Math.fround(entropies[i] ?? Number.NaN) >= threshold) out[i] = 1;
  }
  return out;
}

/**
 * Linear interpolation between order statistics in float32, as torch.quantile does it: whether the token at the
 * threshold counts depends on the last bit.
 */
function float32Quantile(sorted: Float32Array, quantile: number): number {
  const f = Math.fround;
  const rank = f(f(quantile) * f(sorted.length - 1));
  const below = sorted[Math.floor(rank)] ?? Number.NaN;
  const above = sorted[Math.ceil(rank)] ?? Number.NaN;
  const weight = f(rank - Math.floor(rank));
  const span = f(above - below);
  // torch.lerp goes from the nearer end.
  return weight < 0.5 ? f(below + f(weight * span)) : f(above - f(span * f(1 - weight)));
}
