/** How fast a GPU multiplies: how much it may be asked for at once follows from that (work.ts). */
import * as tf from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from './backend.ts';
import { endsGpu } from './faults.ts';
import { MOST_WORK } from './work.ts';

/** Edges of the products that are timed: each only where the one before took no longer than `BRIEF`. */
const EDGES = [256, 1024, 2048];
const BRIEF = 0.005;

/** Seconds that a dispatch may hold the GPU. A GPU that was idle is slower than it will be, so it will be less. */
const MOST_SECONDS = 0.25;
/** Operations of a dispatch at most, however fast the GPU is. */
const LIMIT = 2 ** 42;

/** Times some products on the current backend and lets dispatches have the work that such a GPU does in a quarter of a second. */
export function measureSpeed(
  { gpu }: WebGpuBackend,
  edges: readonly number[] = EDGES,
  now = () => performance.now(),
): void {
  try {
    let speed = 0;
    for (const edge of edges) {
      const seconds = tf.tidy(() => {
        const x = tf.fill([edge, edge], 0.5) as tf.Tensor2D;
        const multiply = (): void => {
          tf.matMul(x, x).dispose();
          gpu.finish();
        };
        // The first compiles the program.
        multiply();
        const began = now();
        multiply();
        return (now() - began) / 1000;
      });
      speed = Math.max(speed, (2 * edge ** 3) / seconds);
      if (seconds > BRIEF) break;
    }
    gpu.mostWork = Math.min(LIMIT, Math.max(MOST_WORK, MOST_SECONDS * speed));
    gpu.restartPeak();
  } catch (error) {
    if (endsGpu(error)) throw error;
    // What a slow GPU is given is right for this one, too.
  }
}
