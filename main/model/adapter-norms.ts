/** How far an adapter moves each module: the Frobenius norm of scaling · B·A. */
import type { LoraWeights } from './linear.ts';
import type { Adapter } from './lora.ts';

export interface ModuleNorm {
  /** Layer number, from 0. */
  readonly layer: number;
  /** q_proj, gate_proj … */
  readonly module: string;
  readonly norm: number;
}

/** The norms of all adapted modules. */
export function adapterNorms(adapter: Adapter): ModuleNorm[] {
  return [...adapter.modules].map(([name, weights]) => ({
    layer: Number(/\.layers\.(\d+)\./.exec(name)?.[1] ?? 0),
    module: name.slice(name.lastIndexOf('.') + 1),
    norm: weights.scaling * productNorm(weights),
  }));
}

/** ‖BA‖² = Σ (BᵀB ∘ AAᵀ): products of r × r, never the whole out × in. */
function productNorm({ a, b }: LoraWeights): number {
  const [r, inputs] = a.value.shape;
  const outputs = b.value.shape[0];
  const [av, bv] = [a.value.dataSync<'float32'>(), b.value.dataSync<'float32'>()];
  let squares = 0;
  for (let i = 0; i < r; i++) {
    for (let j = 0; j < r; j++) {
      let aa = 0;
      for (let k = 0; k < inputs; k++) aa += (av[i * inputs + k] ?? 0) * (av[j * inputs + k] ?? 0);
      let bb = 0;
      for (let k = 0; k < outputs; k++) bb += (bv[k * r + i] ?? 0) * (bv[k * r + j] ?? 0);
      squares += aa * bb;
    }
  }
  // Rounding can put a product that should be 0 slightly below it.
  return Math.sqrt(Math.max(squares, 0));
}
