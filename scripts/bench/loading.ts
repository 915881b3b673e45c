/**
 * How much memory is needed to load a model: `node scripts/bench/loading.ts MODEL_DIR [native|wasm] [float32|bfloat16]`.
 * Prints the size of the weights and the peak growth of the process, in MiB.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readModelConfig } from '../../main/model/config.ts';
import { loadModel } from '../../main/model/load.ts';
import { openBackend } from '../../main/trainer/backend/open-backend.ts';
import { weightCount } from '../../main/trainer/memory/budget.ts';

const [folder = '', backend = 'native', precision = 'float32'] = process.argv.slice(2);
if (backend !== 'native' && backend !== 'wasm') throw new Error(`Expected native or wasm, got ${backend}`);
if (precision !== 'float32' && precision !== 'bfloat16')
  throw new Error(`Expected float32 or bfloat16, got ${precision}`);

/** The peak resident size of the process so far, in MiB. */
function peak(): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}

const kernelsFile = join(import.meta.dirname, '../../out/kernels/kernels.wasm');
const open = await openBackend({ backend, threads: 0, kernelsFile });
const before = peak();
const began = performance.now();
loadModel(folder, 256, precision);
const seconds = (performance.now() - began) / 1000;
const weights = (4 * weightCount(readModelConfig(folder))) / 2 ** 20;
console.log(
  `${open.name}, ${precision}: ${weights.toFixed(0)} MiB of float32 weights, ${(peak() - before).toFixed(0)} MiB at the peak, ${seconds.toFixed(1)} s`,
);
process.exit();
