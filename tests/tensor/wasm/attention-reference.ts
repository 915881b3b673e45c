/** Attention over packed segments in float64, the plain way, forward and backward. */
import type { Floats } from './fused-harness.ts';

export interface AttentionCase {
  readonly tokens: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly d: number;
  readonly scale: number;
  /** (start, length, prefix start, prefix length) of each segment. */
  readonly segments: readonly (readonly [number, number, number, number])[];
  readonly q: Floats;
  readonly k: Floats;
  readonly v: Floats;
}

/** The tokens that each token sees. */
export function visibleKeys(segments: AttentionCase['segments'], tokens: number): number[][] {
  const visible: number[][] = Array.from({ length: tokens }, () => []);
  for (const [start, length, prefix, prefixLength] of segments) {
    for (let token = start; token < start + length; token++) {
      for (let key = prefix; key < prefix + prefixLength; key++) visible[token]?.push(key);
      for (let key = start; key <= token; key++) visible[token]?.push(key);
    }
  }
  return visible;
}

function dot(a: Floats, aAt: number, b: Floats, bAt: number, d: number): number {
  let sum = 0;
  for (let c = 0; c < d; c++) sum += (a[aAt + c] ?? 0) * (b[bAt + c] ?? 0);
  return sum;
}

/** Visits each query row with its keys' offsets in k and its weights. */
function eachRow(
  test: AttentionCase,
  visit: (row: number, at: number, keys: readonly number[], weights: readonly number[], lse: number) => void,
): void {
  const { heads, kvHeads, d, scale } = test;
  const group = heads / kvHeads;
  visibleKeys(test.segments, test.tokens).forEach((tokens, token) => {
    for (let head = 0; head < heads; head++) {
      const row = token * heads + head;
      const keys = tokens.map((key) => (key * kvHeads + Math.floor(head / group)) * d);
      const scores = keys.map((key) => dot(test.q, row * d, test.k, key, d) * scale);
      const largest = Math.max(...scores);
      const lse = largest + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - largest), 0));
      visit(
        row,
        row * d,
        keys,
        scores.map((score) => Math.exp(score - lse)),
        lse,
      );
    }
  });
}

/** The attention's output [N, H*d] and log-sum-exps [N, H]. */
export function attentionReference(test: AttentionCase): { out: Float64Array; lse: Float64Array } {
  const out = new Float64Array(test.q.length);
  const lse = new Float64Array(test.tokens * test.heads);
  eachRow(test, (row, at, keys, weights, sum) => {
    lse[row] = sum;
    keys.forEach((key, j) => {
      for (let c = 0; c < test.d; c++) out[at + c] = (out[at + c] ?? 0) + (weights[j] ?? 0) * (test.v[key + c] ?? 0);
    });
  });
  return { out, lse };
}

/** The gradients of Σ dy·out. */
export function attentionGradReference(
  test: AttentionCase,
  dy: Floats,
): { dq: Float64Array; dk: Float64Array; dv: Float64Array } {
  const { d, scale } = test;
  const dq = new Float64Array(test.q.length);
  const dk = new Float64Array(test.k.length);
  const dv = new Float64Array(test.v.length);
  eachRow(test, (_row, at, keys, weights) => {
    const dp = keys.map((key) => dot(dy, at, test.v, key, d));
    const mean = dp.reduce((sum, slope, j) => sum + slope * (weights[j] ?? 0), 0);
    keys.forEach((key, j) => {
      const weight = weights[j] ?? 0;
      const ds = weight * ((dp[j] ?? 0) - mean) * scale;
      for (let c = 0; c < d; c++) {
        dq[at + c] = (dq[at + c] ?? 0) + ds * (test.k[key + c] ?? 0);
        dk[key + c] = (dk[key + c] ?? 0) + ds * (test.q[at + c] ?? 0);
        dv[key + c] = (dv[key + c] ?? 0) + weight * (dy[at + c] ?? 0);
      }
    });
  });
  return { dq, dk, dv };
}
