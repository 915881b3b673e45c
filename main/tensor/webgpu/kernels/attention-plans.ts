/** The tables of a batch's segments on the GPU: made once, used by all layers, forward and backward. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from '../backend.ts';
import { KEY_BLOCK, keyPlan, rowPlan } from './attention-plan.ts';
import type { Tile } from './attention-tile.ts';

/** The tables of a batch's segments on the GPU; all layers use the same. */
interface Plans {
  readonly rows: TensorInfo;
  readonly rowCosts: readonly number[];
  /** Blocks, then pairs. */
  keys: { readonly plan: TensorInfo; readonly blocks: number; readonly costs: readonly number[] } | null;
}

/** Plans by the segments' data; they go when the segments do, which `sweep` notices. */
export class PlanCache {
  readonly #plans = new Map<object, { readonly key: string; readonly plans: Plans }>();

  get(backend: WebGpuBackend, segments: TensorInfo, tokens: number, group: number, tile: Tile): Plans {
    const key = `${tokens},${group},${tile.rows},${tile.keys}`;
    const known = this.#plans.get(segments.dataId);
    if (known?.key === key) return known.plans;
    this.#sweep(backend);
    if (known !== undefined) this.#drop(backend, segments.dataId);
    const { blocks, costs } = rowPlan(backend.values(segments), tokens, group, tile.rows);
    const plans: Plans = { rows: backend.integers(blocks), rowCosts: costs, keys: null };
    this.#plans.set(segments.dataId, { key, plans });
    return plans;
  }

  keys(backend: WebGpuBackend, segments: TensorInfo, tokens: number, group: number, tile: Tile) {
    const plans = this.get(backend, segments, tokens, group, tile);
    if (plans.keys === null) {
      const { blocks, pairs, costs } = keyPlan(backend.values(segments), tokens, group, tile.rows);
      const plan = backend.integers(Int32Array.from([...blocks, ...pairs]));
      plans.keys = { plan, blocks: blocks.length / KEY_BLOCK, costs };
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
