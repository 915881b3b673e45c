/**
 * Where a GPU's time goes: the longest programs of a decoding step and of a training pass, by the GPU's own clock.
 * `node scripts/bench/webgpu-programs.ts [--shape "3.2 B"] [--precision stored] [--compute-dtype float32] [--tokens 64]
 * [--by-clock]`; random weights, LoRA r 16 on all linear layers, one prompt of 64 tokens with sixteen completions of so
 * many tokens. To time each dispatch is to run them one by one: --by-clock doesn't, and gives whole times alone.
 */
import { parseArgs } from 'node:util';
import '../../main/tensor/gradients.ts';
import { createAdapter } from '../../main/model/lora.ts';
import { type ComputeDtype, setComputeDtype } from '../../main/tensor/compute-dtype.ts';
import { closeWebGpuBackend, openWebGpuBackend } from '../../main/tensor/webgpu/open.ts';
import type { WeightPrecision } from '../../main/tensor/weights.ts';
import { disposeBatch, uploadGroups } from '../../main/trainer/batching/packed-batch.ts';
import { LARGEST, makeModel, SHAPES } from '../../main/trainer/jobs/gpu-report/shapes.ts';
import { LORA, promptOf, sampleRows, trainingPass } from '../../main/trainer/jobs/gpu-report/timed-work.ts';

const { values: options } = parseArgs({
  options: {
    shape: { type: 'string', default: '3.2 B' },
    precision: { type: 'string', default: 'stored' },
    'compute-dtype': { type: 'string', default: 'float32' },
    tokens: { type: 'string', default: '64' },
    'by-clock': { type: 'boolean', default: false },
  },
});
const ROWS = 16;
const PROMPT = 64;
const LONGEST = 40;

const shapes = [...SHAPES, LARGEST];
const shape = shapes.find(({ name }) => name === options.shape);
if (shape === undefined) throw new Error(`Expected --shape of ${shapes.map(({ name }) => name).join(', ')}`);
const tokens = Number(options.tokens);
const backend = await openWebGpuBackend({ timed: !options['by-clock'] });
const { gpu } = backend;
setComputeDtype(options['compute-dtype'] as ComputeDtype);
const model = makeModel(shape, PROMPT + tokens + 8, options.precision as WeightPrecision);
const adapter = createAdapter(model, LORA, 1);
const token = (i: number): number => (7 * i) % shape.config.vocabSize;
const prompt = promptOf(PROMPT, shape.config.vocabSize);

const seconds = (work: () => void): number => {
  gpu.finish();
  const began = performance.now();
  work();
  gpu.finish();
  return (performance.now() - began) / 1000;
};

/** Prints the programs since the last call, each a `pieces`-th of what it took. */
function show(what: string, took: number, pieces: number): void {
  const times = gpu.times();
  const milliseconds = (value: number): string => ((1000 * value) / pieces).toFixed(3);
  const all = times.reduce((sum, time) => sum + time.seconds, 0);
  const dispatches = times.reduce((sum, time) => sum + time.dispatches, 0);
  console.log(`${what}: ${milliseconds(took)} ms by the clock`);
  if (times.length === 0) return;
  console.log(`  ${milliseconds(all)} ms in ${(dispatches / pieces).toFixed(0)} dispatches`);
  for (const { name, groups, dispatches: count, seconds: sum } of times.slice(0, LONGEST)) {
    const each = ((1e6 * sum) / count).toFixed(1);
    console.log(`  ${milliseconds(sum)} ms, ${(count / pieces).toFixed(1)} x ${each} µs, ${name} [${groups}]`);
  }
}

const sample = (count: number): void => sampleRows(model, adapter, prompt, { rows: ROWS, tokens: count });
sample(4);
gpu.times();
const few = seconds(() => sample(2));
show('reading the prompt, and two tokens', few, 1);
const many = seconds(() => sample(2 + tokens));
show(`a further token of ${ROWS} rows`, many - few, tokens);

const completions = Array.from({ length: ROWS }, (_, row) => Array.from({ length: tokens }, (_, i) => token(i + row)));
const batch = uploadGroups([{ promptIds: prompt, completions }]);
const pass = (): void => trainingPass(model, adapter, batch);
seconds(pass);
gpu.times();
show(`a training pass over ${PROMPT + ROWS * tokens} tokens, layers computed twice`, seconds(pass), 1);
console.log(`peak ${(gpu.counts.peakBytes / 2 ** 30).toFixed(2)} GiB`);
disposeBatch(batch);
await closeWebGpuBackend(backend);
