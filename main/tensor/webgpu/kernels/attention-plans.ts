/** The tables of a batch's segments on the GPU: made once, used by all layers, forward and backward. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from '../backend.ts';
import { type KeyPlan, keyPlan, rowPlan, SPLIT } from './attention-plan.ts';
import { BLOCK } from './attention-tile.ts';

/** The tables of a batch's segments on the GPU; all layers use the same. */
interface Plans {
  readonly rows: TensorInfo;
  readonly rowCosts: readonly number[];
  keys: KeyTables | null;
}

/** A plan of keys: whole blocks, parts, splits, then pairs. */
interface KeyTables extends Pick<KeyPlan, 'lines'> {
  readonly plan: TensorInfo;
  readonly wholeCosts: readonly number[];
  readonly partCosts: readonly number[];
  readonly splits: number;
  /** Where splits and pairs begin in the plan. */
  readonly splitsAt: number;
  readonly pairsAt: number;
}

/** Plans by the segments' data; they go when the segments do, which `sweep` notices. */
export class PlanCache {
  readonly #plans = new Map<object, { readonly key: string; readonly plans: Plans }>();

  get(backend: WebGpuBackend, segments: TensorInfo, tokens: number, group: number): Plans {
    const key = `${tokens},${group}`;
    const known = this.#plans.get(segments.dataId);
    if (known?.key === key) return known.plans;
    this.#sweep(backend);
    if (known !== undefined) this.#drop(backend, segments.dataId);
    const { blocks, costs } = rowPlan(backend.values(segments), tokens, group, BLOCK);
    const plans: Plans = { rows: backend.integers(blocks), rowCosts: costs, keys: null };
    this.#plans.set(segments.dataId, { key, plans });
    return plans;
  }

  keys(backend: WebGpuBackend, segments: TensorInfo, tokens: number, group: number): KeyTables {
    const plans = this.get(backend, segments, tokens, group);
    if (plans.keys === null) {
      const { whole, parts, splits, lines, pairs } = keyPlan(backend.values(segments), tokens, group, BLOCK);
      const splitsAt = whole.entries.length + parts.entries.length;
      plans.keys = {
        plan: backend.integers(Int32Array.from([...whole.entries, ...parts.entries, ...splits, ...pairs])),
        wholeCosts: whole.costs,
        partCosts: parts.costs,
        splits: splits.length / SPLIT,
        lines,
        splitsAt,
        pairsAt: splitsAt + splits.length,
      };
    }
    return plans.keys;
  }

  #sweep(backend: WebGpuBackend): void {
    for (const segments of this.#plans.keys()) if (backend.refCount(segments) === 0) this.#drop(backend, segments);
  }

  #drop(backend: WebGpuBackend, segments: object): void {
    const plans = this.#plans.get(segments)?.plans;
    this.#plans.delete(segments);
    if (plans === undefined) return;
    backend.release(plans.rows);
    if (plans.keys !== null) backend.release(plans.keys.plan);
  }
}
